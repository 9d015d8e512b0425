"""Purchases: what a customer bought or booked, where and when (interface, section 2.2)."""

from collections.abc import Iterator
from datetime import datetime
from typing import Annotated, Final

from pydantic import Field

from chalicelib.domain.customers.custom_attribute import (
    CustomAttributeDefinition,
    CustomAttributeValue,
)
from chalicelib.domain.customers.customer import Customer, CustomerBody
from chalicelib.domain.customers.platforms import DataSource
from chalicelib.domain.forms.definitions.rule import rule
from chalicelib.domain.ids import derived_id
from chalicelib.domain.input_errors import InputError
from chalicelib.domain.schema import Identifier, Input, JsonObject, Resource, Timestamp

MAX_PURCHASE_BYTES: Final = 32 * 1024


class Purchase(Resource):
    """A purchase as the interface answers it, and the id of the customer who made it."""

    id: Identifier
    created_at: Timestamp
    updated_at: Timestamp
    store_id: Identifier = Field(description="The store where the purchase was made.")
    store_name: str = Field(default="", description="Current name of the store.")
    customer: Customer | None = Field(
        default=None, description="The customer in its current state."
    )
    date: Timestamp = Field(description="Time of the purchase.")
    start_date: Timestamp = Field(
        description="Start of the validity period, for example of a hotel stay."
    )
    end_date: Timestamp = Field(description="End of the validity period.")
    external_id: str = Field(description="Identifier in the external system.")
    source: DataSource = Field(description="Source of the purchase.")
    metadata: JsonObject = Field(
        default_factory=dict,
        description="Data from the source, stored unchanged.",
    )
    attributes: tuple[CustomAttributeValue, ...] = Field(
        default=(), description="Values of custom attributes."
    )

    customer_id: str | None = Field(default=None, exclude=True)


class PurchaseDefinition(Input):
    """A purchase as it arrives. Source and external id together name it within the account.

    Attributes:
        customer_id: the customer, when the account's own id for them is known.
        customer: who the customer is, otherwise; found by e-mail and phone, made when new.
    """

    source: Annotated[DataSource, Field(strict=False)]
    external_id: str = Field(min_length=1, max_length=255)
    store_id: Identifier
    date: Timestamp
    start_date: Timestamp | None = None
    end_date: Timestamp | None = None
    customer_id: Identifier | None = None
    customer: CustomerBody | None = None
    metadata: JsonObject = Field(default_factory=dict)
    attributes: list[CustomAttributeDefinition] = Field(default_factory=list, max_length=100)


@rule
def purchase_errors(document: PurchaseDefinition) -> Iterator[InputError]:
    """What is wrong with a purchase beyond the shape of its parts."""
    if document.customer_id and document.customer:
        detail = "The customer is named by customerId or by customer, not by both."
        yield InputError("", "not_allowed", detail)


def purchase_id(account_id: str, source: DataSource, external_id: str) -> str:
    """The id of the account's purchase that an external system calls ``external_id``.

    It follows from what names the purchase, so a second arrival meets the first.
    """
    return derived_id(account_id, "purchase", source, external_id)


def purchase_from(
    document: PurchaseDefinition,
    account_id: str,
    customer_id: str | None,
    created_at: datetime,
    now: datetime,
) -> Purchase:
    """The purchase that a document describes; start and end fall back to its date."""
    own_id = purchase_id(account_id, document.source, document.external_id)
    return Purchase(
        id=own_id,
        created_at=created_at,
        updated_at=now,
        store_id=document.store_id,
        date=document.date,
        start_date=document.start_date or document.date,
        end_date=document.end_date or document.date,
        external_id=document.external_id,
        source=document.source,
        metadata=document.metadata,
        attributes=tuple(a.value_of(own_id, now) for a in document.attributes),
        customer_id=customer_id,
    )
