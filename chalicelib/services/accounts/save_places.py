"""Creating and replacing an account's brands and stores."""

from typing import Any

from chalicelib.domain.accounts.places import BrandDefinition, Place, PlaceKind, StoreDefinition
from chalicelib.domain.errors import InvalidInput
from chalicelib.domain.input_errors import InputError
from chalicelib.domain.parsing import parse
from chalicelib.storage import places


def save_brand(account_id: str, document: Any) -> Place:
    """Creates the brand that the document describes, or replaces the one with its id.

    Raises:
        InvalidInput: the document breaks a rule, or its id is a store's.
    """
    brand = parse(document, BrandDefinition)
    return _save(
        account_id, Place(id=brand.id, kind=PlaceKind.BRAND, name=brand.name, color=brand.color)
    )


def save_store(account_id: str, document: Any) -> Place:
    """Creates the store that the document describes, or replaces the one with its id.

    Raises:
        InvalidInput: the document breaks a rule, its id is a brand's, or its brand is not there.
    """
    store = parse(document, StoreDefinition)
    if places.load_directory(account_id, consistent=True).brand(store.brand_id) is None:
        raise InvalidInput(
            [InputError("/brandId", "unknown_reference", "The account has no such brand.")]
        )
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
    if not places.save(account_id, place):
        raise InvalidInput(
            [
                InputError(
                    "/id", "duplicate", "This id is already used by a place of the other kind."
                )
            ]
        )
    return place
