"""Brands and stores. Purchases are made in stores; forms and surveys target brands and stores."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from typing import Any

from pydantic import Field

from chalicelib.domain.accounts.regions import TimeZoneName
from chalicelib.domain.accounts.tags import Tag
from chalicelib.domain.definitions import Key, parse_and_validate
from chalicelib.domain.input_errors import InputError, json_pointer, unknown_reference
from chalicelib.domain.schema import Colour, Identifier, Input, Resource


class PlaceKind(StrEnum):
    """Kind of a place or of a survey target: brand or store."""

    BRAND = "BRAND"
    STORE = "STORE"


class Place(Resource):
    """A brand, or a store of a brand.

    Attributes:
        key: the name by which definitions refer to the place; ``""`` if unset.
        brand_id: the brand of a store; None for a brand.
        color: a hexadecimal colour, ``""`` if unset.
        time_zone: the time zone of a store. None means the time zone of the account.
        address: the postal address of a store, in the footer of pages and e-mails.
        legal_text: a text below the address that the law requires, such as a registration number.
    """

    id: str
    kind: PlaceKind
    name: str
    key: str = ""
    color: str = ""
    brand_id: str | None = None
    time_zone: str | None = None
    address: str = ""
    legal_text: str = ""


class BrandDefinition(Input):
    """The definition of a brand."""

    id: Identifier
    key: Key = ""
    name: str = Field(min_length=1, max_length=255)
    color: Colour = ""


class StoreDefinition(BrandDefinition):
    """The definition of a store. The store's brand must belong to the account."""

    brand_id: Identifier
    time_zone: TimeZoneName | None = None
    address: str = Field(default="", max_length=500)
    legal_text: str = Field(default="", max_length=1000)


def place_id_conflict() -> InputError:
    """Return the input error for an id that is used by both a brand and a store."""
    detail = "A brand and a store cannot have the same id."
    return InputError(json_pointer("id"), "duplicate", detail)


@dataclass(frozen=True, eq=False)
class Directory:
    """All brands, stores and tags of one account, with their current names.

    Attributes:
        tags: the tags by id.
    """

    places: tuple[Place, ...]
    tags: Mapping[str, Tag] = field(default_factory=dict)

    @classmethod
    def of(cls, places: Iterable[Place], tags: Iterable[Tag] = ()) -> "Directory":
        """Create a directory of brands, stores and tags. The brands and stores keep their order."""
        return cls(tuple(places), {tag.id: tag for tag in tags})

    @cached_property
    def by_id(self) -> dict[str, Place]:
        """The brands and stores by id."""
        return {place.id: place for place in self.places}

    def name_of(self, place_id: str) -> str:
        """Return the current name of the brand or store, or ``""`` if it does not exist."""
        place = self.by_id.get(place_id)
        return place.name if place else ""

    def brand(self, place_id: str) -> Place | None:
        """Return the brand with this id, or None."""
        return self._of_kind(place_id, PlaceKind.BRAND)

    def store(self, place_id: str) -> Place | None:
        """Return the store with this id, or None."""
        return self._of_kind(place_id, PlaceKind.STORE)

    def stores_of(self, brand_id: str) -> list[Place]:
        """Return the stores of a brand."""
        return [place for place in self.places if place.brand_id == brand_id]

    def _of_kind(self, place_id: str, kind: PlaceKind) -> Place | None:
        place = self.by_id.get(place_id)
        return place if place and place.kind is kind else None


def parse_store_definition(definition: Any, directory: Directory) -> StoreDefinition:
    """Parse and validate the definition of a store.

    Args:
        directory: the account's brands and stores.

    Raises:
        InvalidInput: the definition does not match the model, or the brand does not belong to the
            account.
    """

    def rule_errors(store: StoreDefinition) -> Iterator[InputError]:
        if directory.brand(store.brand_id) is None:
            yield unknown_reference("brand", "brandId")

    return parse_and_validate(definition, StoreDefinition, rule_errors)
