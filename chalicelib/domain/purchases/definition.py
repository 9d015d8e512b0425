"""Definitions of purchases, which operators, partners and the queue of purchases send."""

from collections.abc import Callable, Iterator
from datetime import datetime, timedelta, tzinfo
from typing import Annotated, Any, Final

from pydantic import Field

from chalicelib.domain import clock
from chalicelib.domain.accounts.places import Directory
from chalicelib.domain.customers.body import CustomerBody
from chalicelib.domain.customers.custom_attribute import CustomAttributeDefinition
from chalicelib.domain.customers.platforms import DataSource
from chalicelib.domain.errors import InvalidInput
from chalicelib.domain.input_errors import (
    InputError,
    invalid_combination,
    out_of_range,
    unknown_reference,
)
from chalicelib.domain.purchases.purchase import Purchase
from chalicelib.domain.schema import Identifier, Input, InputTimestamp, JsonObject, with_offset

MAX_DELAY: Final = timedelta(days=90)
"""The maximum time between the arrival of a purchase and the earliest time of its survey."""


class PurchaseKey(Input):
    """The key of a purchase in the system that it comes from."""

    source: Annotated[DataSource, Field(strict=False)] = Field(
        description="The system from which the purchase comes."
    )
    external_id: str = Field(
        min_length=1, max_length=255, description="Identifier of the purchase in this system."
    )


class PurchaseDefinition(PurchaseKey):
    """The definition of a purchase. Its source and external id identify it within the account.

    Attributes:
        customer_id: the id of an existing customer.
        customer: the customer's data, instead of an id. The customer is found by e-mail and phone
            number, or created.
    """

    store_id: Identifier = Field(description="Identifier of the store of the purchase.")
    date: InputTimestamp = Field(
        description="Time of the purchase. A survey about a future purchase waits until then."
    )
    start_date: InputTimestamp | None = Field(
        default=None, description="Start of the validity. The default is `date`."
    )
    end_date: InputTimestamp | None = Field(
        default=None,
        description="End of the validity, not before `startDate`. The default is `date`.",
    )
    customer_id: Identifier | None = Field(
        default=None, description="Identifier of the customer. Not together with `customer`."
    )
    customer: CustomerBody | None = Field(
        default=None,
        description="The customer's data. The purchase belongs to the oldest customer with this"
        " e-mail and phone number, or to a new customer. An opt-in that is `true` is turned on,"
        " unless the address is suppressed.",
    )
    metadata: JsonObject = Field(default_factory=dict, description="Data about the purchase.")
    attributes: list[CustomAttributeDefinition] = Field(
        default_factory=list, max_length=100, description="Values of custom attributes."
    )
    send_at: InputTimestamp | None = Field(
        default=None,
        description=f"Earliest time of the survey, at most {MAX_DELAY.days} days ahead. By default,"
        " the survey is sent as soon as the rules of the account allow it. An update without this"
        " field keeps the time, `null` clears it.",
    )

    clearable = ("sendAt",)

    @property
    def has_send_at(self) -> bool:
        """Whether the definition sets or clears the earliest time of the survey."""
        return "send_at" in self.model_fields_set


TIMES: Final = ("date", "startDate", "endDate", "sendAt")
"""The fields of a definition that are times."""


def with_offsets(definition: Any, zone: tzinfo) -> Any:
    """Return the definition of a purchase with offsets in its times.

    In files and messages of the queue, a time without offset is in the time zone of the account.
    """
    if not isinstance(definition, dict):
        return definition
    return {
        name: with_offset(value, zone) if name in TIMES else value
        for name, value in definition.items()
    }


def check_rules(
    purchase: PurchaseDefinition,
    directory: Directory,
    has_customer: Callable[[str], bool] = lambda _: True,
) -> None:
    """Check the rules that the definition of a purchase must follow.

    Args:
        directory: the account's brands and stores.
        has_customer: returns whether the account has a customer with this id.

    Raises:
        InvalidInput: the definition violates a rule. Lists every error.
    """
    if errors := list(_rule_errors(purchase, directory, has_customer)):
        raise InvalidInput(errors)


def _rule_errors(
    purchase: PurchaseDefinition, directory: Directory, has_customer: Callable[[str], bool]
) -> Iterator[InputError]:
    if purchase.customer_id and purchase.customer:
        yield invalid_combination("Set either customerId or customer, not both.")
    start, end = purchase.start_date, purchase.end_date
    if start and end and end < start:
        yield out_of_range("Must not be before startDate.", "endDate")
    if purchase.send_at and purchase.send_at > clock.now() + MAX_DELAY:
        yield out_of_range(f"Must be at most {MAX_DELAY.days} days ahead.", "sendAt")
    if directory.store(purchase.store_id) is None:
        yield unknown_reference("store", "storeId")
    if purchase.customer_id and not has_customer(purchase.customer_id):
        yield unknown_reference("customer", "customerId")


def build_purchase(
    definition: PurchaseDefinition,
    record_id: str,
    customer_id: str | None,
    earlier: Purchase | None,
    now: datetime,
) -> Purchase:
    """Build the purchase to save. Start and end date default to the purchase date.

    Args:
        record_id: the id of the purchase.
        earlier: the stored version of the purchase.
    """
    send_at = definition.send_at
    if earlier and not definition.has_send_at:
        send_at = earlier.send_at
    return Purchase(
        id=record_id,
        created_at=earlier.created_at if earlier else now,
        updated_at=now,
        store_id=definition.store_id,
        date=definition.date,
        start_date=definition.start_date or definition.date,
        end_date=definition.end_date or definition.date,
        external_id=definition.external_id,
        source=definition.source,
        metadata=definition.metadata,
        attributes=tuple(a.value_of(record_id, now) for a in definition.attributes),
        customer_id=customer_id,
        send_at=send_at,
    )
