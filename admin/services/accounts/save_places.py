"""Create or replace an account's brands and stores from definitions."""

from collections.abc import Callable
from typing import Any

from admin.domain.places import BrandDefinition, parse_store_definition
from admin.storage import places
from chalicelib.domain import clock
from chalicelib.domain.accounts.changes import AccountChange
from chalicelib.domain.accounts.places import Place, PlaceKind
from chalicelib.domain.definitions import parse_definition
from chalicelib.domain.errors import InvalidInput
from chalicelib.domain.input_errors import InputError
from chalicelib.services.accounts.directory import current_directory
from chalicelib.storage.dynamodb.transactions import retry_on_contention

Check = Callable[[Place | None], object]


def save_brand(
    account_id: str, definition: Any, operator: str | None = None, check: Check = lambda _: None
) -> Place:
    """Create the brand, or replace the existing brand with the same id; see `_save`."""
    brand = parse_definition(definition, BrandDefinition)
    return _save(account_id, PlaceKind.BRAND, brand, operator, check)


def save_store(
    account_id: str, definition: Any, operator: str | None = None, check: Check = lambda _: None
) -> Place:
    """Create the store, or replace the existing store with the same id; see `_save`."""
    store = parse_store_definition(definition, current_directory(account_id))
    return _save(account_id, PlaceKind.STORE, store, operator, check)


def _save(
    account_id: str,
    kind: PlaceKind,
    definition: BrandDefinition,
    operator: str | None,
    check: Check,
) -> Place:
    """Save a brand or a store and add the change to the account's history.

    Args:
        operator: the identity of the operator, for the history. None for data of the
            service itself, such as demo data.
        check: called with the stored place before it is replaced, or with None. If it raises an
            exception, nothing is saved.

    Raises:
        InvalidInput: a place of the other kind has the same id.
    """
    place = Place(kind=kind, **definition.model_dump(by_alias=False))

    def attempt() -> Place:
        earlier = places.find(account_id, place.id)
        if earlier and earlier.kind is not place.kind:
            detail = "A brand and a store cannot have the same id."
            raise InvalidInput([InputError("/id", "duplicate", detail)])
        if place == earlier:
            return place
        check(earlier)
        changes = []
        if operator:
            subject = f"{place.kind.lower()} {place.id}"
            old = earlier.model_dump(mode="json") if earlier else None
            changes = [AccountChange(clock.now(), subject, operator, old, {"name": place.name})]
        places.save(account_id, place, earlier, changes)
        return place

    return retry_on_contention(attempt)
