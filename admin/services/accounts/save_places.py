"""Create or replace an account's brands and stores from definitions."""

from typing import Any

from chalicelib.domain.accounts.places import (
    BrandDefinition,
    Place,
    PlaceKind,
    parse_store_definition,
    place_id_conflict,
)
from chalicelib.domain.definitions import parse_definition
from chalicelib.domain.errors import InvalidInput
from chalicelib.storage import places


def save_brand(account_id: str, definition: Any) -> Place:
    """Create the brand, or replace the existing brand with the same id.

    Raises:
        InvalidInput: the definition is invalid, or a store has the same id.
    """
    brand = parse_definition(definition, BrandDefinition)
    return _save(
        account_id, Place(id=brand.id, kind=PlaceKind.BRAND, name=brand.name, color=brand.color)
    )


def save_store(account_id: str, definition: Any) -> Place:
    """Create the store, or replace the existing store with the same id.

    Raises:
        InvalidInput: the definition is invalid, or a brand has the same id.
    """
    store = parse_store_definition(definition, places.load_directory(account_id))
    return _save(
        account_id,
        Place(
            id=store.id,
            kind=PlaceKind.STORE,
            name=store.name,
            color=store.color,
            brand_id=store.brand_id,
            time_zone=store.time_zone,
        ),
    )


def _save(account_id: str, place: Place) -> Place:
    if not places.save(account_id, place):
        raise InvalidInput([place_id_conflict()])
    return place
