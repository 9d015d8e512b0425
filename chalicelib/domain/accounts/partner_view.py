"""The partner view of an account, and of its brands and stores."""

from pydantic import Field

from chalicelib.domain.accounts.account import Permission
from chalicelib.domain.accounts.places import PlaceKind
from chalicelib.domain.paging import MAX_LIMIT, PageMeta
from chalicelib.domain.parsing import (
    MAX_BODY_BYTES,
    MAX_CUSTOMER_BYTES,
    MAX_PURCHASE_BYTES,
    MAX_ROWS,
)
from chalicelib.domain.schema import Resource, Timestamp, UuidText


class PartnerLimits(Resource):
    """Limits of requests. They are the same for all accounts."""

    request_bytes: int = Field(
        default=MAX_BODY_BYTES, description="Maximum size of a request body, in bytes."
    )
    list_items: int = Field(
        default=MAX_LIMIT, description="Maximum number of records on a page of a list."
    )
    customer_bytes: int = Field(
        default=MAX_CUSTOMER_BYTES, description="Maximum size of a customer's JSON, in bytes."
    )
    customer_batch_rows: int = Field(
        default=MAX_ROWS, description="Maximum number of rows in a batch of customers."
    )
    purchase_bytes: int = Field(
        default=MAX_PURCHASE_BYTES, description="Maximum size of a purchase's JSON, in bytes."
    )


class PartnerAccount(Resource):
    """The account of the request's API key, and what the key may do."""

    id: UuidText = Field(description="Unique identifier.")
    name: str = Field(description="Name of the account.", examples=["Groupe Lumen"])
    time_zone: str = Field(
        description="Time zone of the account and of stores without a time zone, as IANA name.",
        examples=["Europe/Paris"],
    )
    permissions: tuple[Permission, ...] = Field(
        description="What this API key may do: `read`, `write` (create, change, cancel), `erase`"
        " (erase customers).",
        examples=[["read", "write", "erase"]],
    )
    expires_at: Timestamp | None = Field(
        description="The time from which this API key is rejected; `null` if it does not expire."
    )
    last_used_at: Timestamp | None = Field(
        description="Start of the day (UTC) of the last use of this API key, with this request."
    )
    limits: PartnerLimits


class PartnerPlace(Resource):
    """A brand, or a store of a brand."""

    id: UuidText
    kind: PlaceKind = Field(
        description="Whether the place is a brand or a store.", examples=["STORE"]
    )
    name: str = Field(description="Name of the brand or store.", examples=["Lyon Bellecour"])
    color: str = Field(description="Hexadecimal colour; empty if unset.", examples=["#0b7285"])
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
