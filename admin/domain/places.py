"""Definitions of brands and stores."""

from collections.abc import Callable, Iterator
from typing import Any

from pydantic import Field

from admin.domain.definitions import ID, KEY, Colour, Key, parse_and_validate
from chalicelib.domain.accounts.places import Directory, Place, PlaceKind
from chalicelib.domain.accounts.settings import TimeZoneName
from chalicelib.domain.input_errors import InputError, unknown_reference
from chalicelib.domain.schema import Identifier, Input


class BrandDefinition(Input):
    """The definition of a brand."""

    id: Identifier = Field(description=ID)
    key: Key = Field(default="", description=KEY)
    name: str = Field(min_length=1, max_length=255)
    color: Colour = ""


class StoreDefinition(BrandDefinition):
    """The definition of a store. The store's brand must belong to the account."""

    brand_id: Identifier
    time_zone: TimeZoneName | None = Field(
        default=None, description="An IANA name. Default: the time zone of the account."
    )
    address: str = Field(
        default="",
        max_length=500,
        description="The postal address, in the footer of pages and e-mails.",
    )
    legal_text: str = Field(
        default="",
        max_length=1000,
        description="A text that the law requires, below the address.",
    )


def define_place(
    definition: Any,
    model: type[BrandDefinition],
    directory: Callable[[], Directory],
    earlier: Place | None,
) -> Place:
    """Parse the definition of a brand or a store, and build the place that replaces ``earlier``.

    Args:
        directory: returns the account's brands and stores. Only a store with a new brand needs it,
            because brands are never deleted.

    Raises:
        InvalidInput: the definition does not match the model, the brand of a store does not belong
            to the account, or a place of the other kind has the same id.
    """
    kind = PlaceKind.STORE if model is StoreDefinition else PlaceKind.BRAND

    def rule_errors(place: BrandDefinition) -> Iterator[InputError]:
        brand_id = place.brand_id if isinstance(place, StoreDefinition) else None
        is_new = brand_id != (earlier.brand_id if earlier else None)
        if brand_id and is_new and directory().brand(brand_id) is None:
            yield unknown_reference("brand", "brandId")
        if earlier and earlier.kind is not kind:
            yield InputError("/id", "duplicate", "A brand and a store cannot have the same id.")

    parsed = parse_and_validate(definition, model, rule_errors)
    return Place(kind=kind, **parsed.model_dump(by_alias=False))
