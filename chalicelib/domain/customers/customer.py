"""Customers: persons who purchased, gave feedback, or both."""

from decimal import ROUND_HALF_UP, Decimal
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any, Final

from pydantic import Field, WithJsonSchema, computed_field, create_model

from chalicelib.domain.accounts.tags import Tag
from chalicelib.domain.customers.custom_attribute import CustomAttributeValue
from chalicelib.domain.customers.platforms import (
    IMPORT_METADATA_KEY,
    METADATA_KEYS,
    PLATFORMS,
    DataSource,
)
from chalicelib.domain.errors import RecordTooLarge
from chalicelib.domain.language import Language
from chalicelib.domain.paging import PageMeta, check_listable
from chalicelib.domain.parsing import MAX_CUSTOMER_BYTES
from chalicelib.domain.schema import OmittedWhenNone, Resource, Timestamp, UuidText


def identifier_fields(kind: Any) -> dict[str, Any]:
    """Return a field for each of the 13 external identifiers, from the platform table."""
    return {
        platform.identifier: (
            kind,
            Field(default=None, description=f"Customer id in {platform.source} ({platform.kind})."),
        )
        for platform in PLATFORMS
        if platform.identifies_customers
    }


class _Person(Resource):
    """The fields of a customer, except external identifiers and what the service computes."""

    id: UuidText
    created_at: Timestamp
    updated_at: Timestamp
    description: str | None = Field(
        default=None, description="The account's notes about the customer."
    )
    company: str | None = Field(
        default=None, description="The company that the customer belongs to."
    )
    first_name: str | None = Field(default=None, description="First name.", examples=["Anaïs"])
    last_name: str | None = Field(default=None, description="Last name.", examples=["Benjelloun"])
    display_name: str | None = Field(
        default=None,
        description="Display name; by default, the first and last name.",
        examples=["Anaïs Benjelloun"],
    )
    language: Annotated[Language | None, OmittedWhenNone] = Field(
        default=None,
        exclude_if=lambda value: value is None,
        description="The customer's language. Absent if it is unknown.",
        examples=["fr"],
    )
    phone_number: str | None = Field(
        default=None, description="Phone number, stored as sent.", examples=["+33 6 98 76 54 32"]
    )
    email: str | None = Field(
        default=None,
        description="E-mail address, stored as sent.",
        examples=["anais.benjelloun@example.com"],
    )
    email_bounced: bool = Field(
        default=False, description="Whether an e-mail to the customer bounced."
    )
    civility: str | None = Field(
        default=None, description="Title in front of the name, such as Ms or Dr."
    )
    tags: tuple[Tag, ...] = Field(default=(), description="Tags of the customer.")
    email_optin: bool = Field(
        default=False, description="Whether the customer accepts e-mails.", examples=[True]
    )
    sms_optin: bool = Field(default=False, description="Whether the customer accepts SMS messages.")


if TYPE_CHECKING:

    class _IdentifiedPerson(_Person):
        pass

else:
    _IdentifiedPerson = create_model(
        "_IdentifiedPerson", __base__=_Person, **identifier_fields(str | None)
    )


class CustomerType(StrEnum):
    """Type of a customer: declared, or derived from the customer's purchases and feedback."""

    UNKNOWN = "Unknown"
    PURCHASER = "Purchaser"
    REVIEWER = "Reviewer"
    BOTH = "Both"


_METADATA_SCHEMA: Final = {
    "type": "object",
    "description": (
        "Customer data by source. `import` is a map of strings. Every other field contains the "
        "customer's record in that external system, unchanged."
    ),
    "properties": {
        key: {
            "type": ["object", "null"],
            "additionalProperties": {"type": "string"} if key == IMPORT_METADATA_KEY else True,
        }
        for key in METADATA_KEYS
    },
    "additionalProperties": False,
}


class Customer(_IdentifiedPerson):
    """A customer.

    `type` is computed from the numbers of purchases and feedback records. `averageFeedbackRating`
    is computed from `rating_sum` and `rating_count`; responses omit these two. A customer is stored
    with `tag_ids`; a response contains the `tags` with these ids instead.
    """

    feedback_count: int = Field(
        default=0, description="Number of feedback records of the customer.", examples=[1]
    )
    purchase_count: int = Field(
        default=0, description="Number of purchases of the customer.", examples=[2]
    )
    data_sources: tuple[DataSource, ...] = Field(
        default=(DataSource("Import"),),
        description="Sources of the customer's data.",
        examples=[["Site"]],
    )
    metadata: Annotated[dict[str, Any], WithJsonSchema(_METADATA_SCHEMA)] = Field(
        default_factory=dict, examples=[{"import": {"segment": "regulars"}}]
    )
    attributes: tuple[CustomAttributeValue, ...] = Field(
        default=(), description="Values of custom attributes."
    )

    tag_ids: tuple[str, ...] = Field(default=(), exclude=True)
    rating_sum: int = Field(default=0, exclude=True)
    rating_count: int = Field(default=0, exclude=True)
    declared_type: CustomerType | None = Field(default=None, exclude=True)

    @computed_field(  # type: ignore[prop-decorator]
        description="Whether the customer made purchases, gave feedback, or both.",
        examples=["Both"],
    )
    @property
    def type(self) -> CustomerType | None:
        """The type, computed from the numbers of purchases and feedback records.

        If both numbers are 0, this is the type from the customer's definition.
        """
        if self.purchase_count and self.feedback_count:
            return CustomerType.BOTH
        if self.purchase_count:
            return CustomerType.PURCHASER
        if self.feedback_count:
            return CustomerType.REVIEWER
        return self.declared_type

    @computed_field(  # type: ignore[prop-decorator]
        description="Mean rating from 0 to 10, with at most two decimals.", examples=["8.5"]
    )
    @property
    def average_feedback_rating(self) -> str | None:
        """The mean of the customer's ratings as a decimal string; None if there are no ratings."""
        if not self.rating_count:
            return None
        mean = Decimal(self.rating_sum) / self.rating_count
        return f"{mean.quantize(Decimal('0.01'), ROUND_HALF_UP).normalize():f}"


class CustomerPage(Resource):
    """One page of an account's customers."""

    items: tuple[Customer, ...]
    meta: PageMeta


def joined_name(first_name: str | None, last_name: str | None) -> str | None:
    """Return the first and the last name, joined with a space, or None if both are missing."""
    return " ".join(name for name in (first_name, last_name) if name) or None


def check_size(customer: Customer) -> None:
    """Check the size of a customer, including its tags.

    Raises:
        RecordTooLarge: the customer's JSON exceeds `MAX_CUSTOMER_BYTES`, or it exceeds
            `MAX_LISTED_BYTES` when its non-ASCII characters are escaped.
    """
    body = customer.model_dump_json()
    if len(body.encode()) > MAX_CUSTOMER_BYTES:
        raise RecordTooLarge("customer", MAX_CUSTOMER_BYTES)
    check_listable("customer", body)
