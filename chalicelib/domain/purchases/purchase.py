"""Purchases of customers. A booking is a purchase too."""

from datetime import datetime
from typing import Annotated, Any

from pydantic import Field, WithJsonSchema

from chalicelib.domain.customers.custom_attribute import CustomAttributeValue
from chalicelib.domain.customers.customer import Customer
from chalicelib.domain.customers.platforms import DataSource
from chalicelib.domain.ids import derived_id
from chalicelib.domain.schema import Resource, Timestamp, UuidText


class Purchase(Resource):
    """A purchase as returned by the API. `customer_id` and `send_at` are stored but not returned.

    ``send_at`` is the earliest time of the survey that the partner chose; None without a choice.
    """

    id: UuidText
    created_at: Timestamp
    updated_at: Timestamp
    store_id: UuidText = Field(description="Identifier of the store where the purchase was made.")
    store_name: str = Field(
        default="", description="The current name of the store.", examples=["Lyon Bellecour"]
    )
    customer: Customer | None = Field(
        default=None,
        description="The customer's current data, not a snapshot from the time of the purchase.",
    )
    date: Timestamp = Field(description="Time of the purchase.")
    start_date: Timestamp = Field(description="Start of the validity of the purchase.")
    end_date: Timestamp = Field(description="End of the validity of the purchase.")
    external_id: str = Field(
        description="Identifier of the purchase in the external system.", examples=["ORDER-20418"]
    )
    source: DataSource = Field(description="The source of the purchase.", examples=["Site"])
    metadata: Annotated[dict[Any, Any], WithJsonSchema({"type": "object"})] = Field(
        default_factory=dict,
        description="Data about the purchase, as received from the source.",
        examples=[{"room": "12"}],
    )
    attributes: tuple[CustomAttributeValue, ...] = Field(
        default=(), description="Values of custom attributes."
    )

    customer_id: str | None = Field(default=None, exclude=True)
    send_at: datetime | None = Field(default=None, exclude=True)


def purchase_id(account_id: str, source: DataSource, external_id: str) -> str:
    """Return the id of a purchase, derived from its source and external id.

    Loading the same definition again therefore replaces the purchase.
    """
    return derived_id(account_id, "purchase", source, external_id)
