"""Create and replace an account's brands and stores."""

from typing import Any

from chalicelib.domain.accounts.places import (
    BrandDefinition,
    Place,
    PlaceKind,
    StoreDefinition,
    place_id_conflict,
)
from chalicelib.domain.errors import InvalidInput
from chalicelib.domain.input_errors import unknown_reference
from chalicelib.domain.parsing import parse
from chalicelib.storage import places


def save_brand(account_id: str, definition: Any) -> Place:
    """Create the brand that the definition describes, or replace the brand with its id.

    Raises:
        InvalidInput: the definition is invalid, or a store has its id.
    """
    brand = parse(definition, BrandDefinition)
    return _save(
        account_id, Place(id=brand.id, kind=PlaceKind.BRAND, name=brand.name, color=brand.color)
    )


def save_store(account_id: str, definition: Any) -> Place:
    """Create the store that the definition describes, or replace the store with its id.

    Raises:
        InvalidInput: the definition is invalid, a brand has its id, or its brand does not exist.
    """
    store = parse(definition, StoreDefinition)
    if places.directory(account_id, consistent=True).brand(store.brand_id) is None:
        raise InvalidInput([unknown_reference("brand", "brandId")])
    return _save(
        account_id,
        Place(
            id=store.id,
            kind=PlaceKind.STORE,
            name=store.name,
            color=store.color,
            brand_id=store.brand_id,
        ),
    )


def _save(account_id: str, place: Place) -> Place:
    if not places.put(account_id, place):
        raise InvalidInput([place_id_conflict()])
    return place
