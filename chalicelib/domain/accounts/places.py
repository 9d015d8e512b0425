"""Brands and stores: where purchases are made, and what forms and surveys are aimed at."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property

from pydantic import Field

from chalicelib.domain.input_errors import InputError, json_pointer
from chalicelib.domain.schema import Identifier, Input, Resource


class PlaceKind(StrEnum):
    """What a place is; the same words name what a survey's target is."""

    BRAND = "BRAND"
    STORE = "STORE"


class Place(Resource):
    """A brand, or a store of a brand.

    Attributes:
        brand_id: the brand that a store belongs to; a brand has none.
        color: a hexadecimal colour, ``""`` when none was chosen.
    """

    id: str
    kind: PlaceKind
    name: str
    color: str = ""
    brand_id: str | None = None


class BrandDefinition(Input):
    """A brand as an operator loads it."""

    id: Identifier
    name: str = Field(min_length=1, max_length=255)
    color: str = Field(
        default="", pattern=r"^(#([0-9A-Fa-f]{3,4}|[0-9A-Fa-f]{6}|[0-9A-Fa-f]{8}))?$"
    )


class StoreDefinition(BrandDefinition):
    """A store as an operator loads it; its brand must be the account's."""

    brand_id: Identifier


def place_id_conflict() -> InputError:
    """Build the error for a brand that has the id of a store, or a store that has a brand's id."""
    detail = "A brand and a store cannot have the same id."
    return InputError(json_pointer("id"), "duplicate", detail)


@dataclass(frozen=True)
class Directory:
    """All brands and stores of one account, as they are called now."""

    places: tuple[Place, ...]

    @classmethod
    def of(cls, places: Iterable[Place]) -> "Directory":
        """The directory of these places, in the order given."""
        return cls(tuple(places))

    @cached_property
    def by_id(self) -> dict[str, Place]:
        """Every place by its id."""
        return {place.id: place for place in self.places}

    def name_of(self, place_id: str) -> str:
        """The place's present name, ``""`` when there is no such place."""
        place = self.by_id.get(place_id)
        return place.name if place else ""

    def brand(self, place_id: str) -> Place | None:
        """The brand with this id, or None."""
        return self._of_kind(place_id, PlaceKind.BRAND)

    def store(self, place_id: str) -> Place | None:
        """The store with this id, or None."""
        return self._of_kind(place_id, PlaceKind.STORE)

    def stores_of(self, brand_id: str) -> list[Place]:
        """The stores of a brand."""
        return [place for place in self.places if place.brand_id == brand_id]

    def _of_kind(self, place_id: str, kind: PlaceKind) -> Place | None:
        place = self.by_id.get(place_id)
        return place if place and place.kind is kind else None
