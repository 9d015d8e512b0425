"""The partner view of brands and stores."""

from pydantic import Field

from chalicelib.domain.accounts.places import PlaceKind
from chalicelib.domain.paging import PageMeta
from chalicelib.domain.schema import Resource, UuidText


class PartnerPlace(Resource):
    """A brand, or a store of a brand."""

    id: UuidText
    kind: PlaceKind = Field(description="Whether the place is a brand or a store.")
    name: str = Field(description="Name of the brand or store.")
    color: str = Field(description="Hexadecimal colour; empty if unset.")
    brand_id: UuidText | None = Field(description="The brand of a store; `null` for a brand.")
    time_zone: str | None = Field(
        description="Time zone of a store as IANA name; `null` for a brand, and for a store that"
        " uses the time zone of the account."
    )


class PlacePage(Resource):
    """One page of an account's brands and stores."""

    items: tuple[PartnerPlace, ...] = Field(
        description="The brands and stores of this page, by name."
    )
    meta: PageMeta
