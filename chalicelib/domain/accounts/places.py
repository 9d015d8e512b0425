"""Brands and stores. Purchases are made in stores; forms and surveys target brands and stores."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from chalicelib.domain.accounts.tags import Tag
from chalicelib.domain.schema import Choice, Resource


class PlaceKind(Choice):
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
