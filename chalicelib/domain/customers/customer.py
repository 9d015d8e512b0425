"""Customers: persons who purchased, gave feedback, or both."""

from datetime import datetime
from decimal import ROUND_HALF_UP, Decimal
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, Self

from pydantic import (
    BeforeValidator,
    ConfigDict,
    Field,
    StringConstraints,
    WithJsonSchema,
    computed_field,
    create_model,
    model_validator,
)
from pydantic_core import PydanticCustomError, PydanticKnownError

from chalicelib.domain.accounts.tags import Tag, TagDefinition
from chalicelib.domain.customers.custom_attribute import (
    CustomAttributeDefinition,
    CustomAttributeValue,
)
from chalicelib.domain.customers.platforms import (
    IMPORT_METADATA_KEY,
    METADATA_KEYS,
    PLATFORMS,
    DataSource,
)
from chalicelib.domain.errors import InputTooLarge
from chalicelib.domain.language import Language
from chalicelib.domain.paging import PageMeta, check_listable
from chalicelib.domain.schema import (
    WHITE_SPACE,
    Email,
    Identifier,
    Input,
    JsonObject,
    OmittedWhenNone,
    Resource,
    Timestamp,
)

MAX_TEXT: Final = 255
MAX_DESCRIPTION: Final = 2_000
MAX_METADATA_KEYS: Final = 50
MAX_METADATA_VALUE: Final = 500
MAX_CUSTOMER_BYTES: Final = 32 * 1024

Text = Annotated[str, StringConstraints(max_length=MAX_TEXT)]

# Descriptions shared by the request body and the response.
_DESCRIPTION: Final = "The account's notes about the customer."
_COMPANY: Final = "The company that the customer belongs to."
_FIRST_NAME: Final = "First name."
_LAST_NAME: Final = "Last name."
_PHONE_NUMBER: Final = "Phone number, stored as sent."
_EMAIL: Final = "E-mail address, stored as sent."
_CIVILITY: Final = "Title in front of the name, such as Ms or Dr."
_EMAIL_OPTIN: Final = "Whether the customer accepts e-mails."
_SMS_OPTIN: Final = "Whether the customer accepts SMS messages."


def _trimmed(value: Any) -> Any:
    return value.strip(WHITE_SPACE) if isinstance(value, str) else value


def _is_set(value: Any) -> bool:
    return value is not None and _trimmed(value) != ""


def _set_metadata(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    metadata: dict[Any, Any] = {}
    for name, item in value.items():
        if not _is_set(item):
            continue
        if (trimmed := _trimmed(name)) in metadata:
            raise PydanticCustomError("duplicate", "Two names are equal after trimming.")
        metadata[trimmed] = item
    return metadata or None


def _check_count(value: Any) -> Any:
    # Pydantic checks the length of an object only after it has validated every property.
    if isinstance(value, dict) and len(value) > MAX_METADATA_KEYS:
        context = {"max_length": MAX_METADATA_KEYS, "actual_length": len(value)}
        raise PydanticKnownError("too_long", {"field_type": "Dictionary"} | context)
    return value


ImportMetadata = Annotated[
    Annotated[
        dict[
            Annotated[str, StringConstraints(min_length=1, max_length=MAX_TEXT)],
            Annotated[str, StringConstraints(max_length=MAX_METADATA_VALUE)],
        ],
        Field(max_length=MAX_METADATA_KEYS),
        BeforeValidator(_check_count),
    ]
    | None,
    BeforeValidator(_set_metadata),
]
"""A map of strings. Validation removes null and empty values and replaces an empty map with None.
"""


def _identifier_fields(kind: Any) -> dict[str, Any]:
    return {
        platform.identifier: (
            kind,
            Field(default=None, description=f"Customer id in {platform.source} ({platform.kind})."),
        )
        for platform in PLATFORMS
        if platform.identifies_customers
    }


class _Person(Resource):
    """The fields that customers and customer definitions share, except external identifiers."""

    id: Identifier
    created_at: Timestamp
    updated_at: Timestamp
    description: str | None = Field(default=None, description=_DESCRIPTION)
    company: str | None = Field(default=None, description=_COMPANY)
    first_name: str | None = Field(default=None, description=_FIRST_NAME)
    last_name: str | None = Field(default=None, description=_LAST_NAME)
    display_name: str | None = Field(
        default=None, description="Display name; by default, the first and last name."
    )
    language: Annotated[Language | None, OmittedWhenNone] = Field(
        default=None,
        exclude_if=lambda value: value is None,
        description="The customer's language. Absent if it is unknown.",
    )
    phone_number: str | None = Field(default=None, description=_PHONE_NUMBER)
    email: str | None = Field(default=None, description=_EMAIL)
    email_bounced: bool = Field(
        default=False, description="Whether an e-mail to the customer bounced."
    )
    civility: str | None = Field(default=None, description=_CIVILITY)
    tags: tuple[Tag, ...] = Field(default=(), description="Tags of the customer.")
    email_optin: bool = Field(default=False, description=_EMAIL_OPTIN)
    sms_optin: bool = Field(default=False, description=_SMS_OPTIN)


if TYPE_CHECKING:

    class _IdentifiedPerson(_Person):
        pass

    class _IdentifierInput(Input):
        pass

    class MetadataDefinition(Input):
        """The metadata of a customer definition, by source."""

else:
    # The fields for the 13 external identifiers are generated from the platform table.
    _IdentifiedPerson = create_model(
        "_IdentifiedPerson", __base__=_Person, **_identifier_fields(str | None)
    )
    _IdentifierInput = create_model(
        "_IdentifierInput", __base__=Input, **_identifier_fields(Text | None)
    )
    MetadataDefinition = create_model(
        "MetadataDefinition",
        __base__=Input,
        **{
            key: (ImportMetadata if key == IMPORT_METADATA_KEY else JsonObject | None, None)
            for key in METADATA_KEYS
        },
    )


class CustomerType(StrEnum):
    """Type of a customer, derived from the customer's purchases and feedback."""

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
        default=0, description="Number of feedback records of the customer."
    )
    purchase_count: int = Field(default=0, description="Number of purchases of the customer.")
    data_sources: tuple[DataSource, ...] = Field(
        default=(DataSource("Import"),), description="Sources of the customer's data."
    )
    metadata: Annotated[dict[str, Any], WithJsonSchema(_METADATA_SCHEMA)] = Field(
        default_factory=dict
    )
    attributes: tuple[CustomAttributeValue, ...] = Field(
        default=(), description="Values of custom attributes."
    )

    tag_ids: tuple[str, ...] = Field(default=(), exclude=True)
    rating_sum: int = Field(default=0, exclude=True)
    rating_count: int = Field(default=0, exclude=True)
    declared_type: CustomerType | None = Field(default=None, exclude=True)

    @computed_field(description="Whether the customer made purchases, gave feedback, or both.")  # type: ignore[prop-decorator]
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


class CustomerBody(_IdentifierInput):
    """A customer in a partner's request body.

    Every field is optional, but at least one must have a value. An empty string is not a value.
    """

    model_config = ConfigDict(json_schema_extra={"minProperties": 1})

    description: Annotated[str, StringConstraints(max_length=MAX_DESCRIPTION)] | None = Field(
        default=None, description=_DESCRIPTION
    )
    company: Text | None = Field(default=None, description=_COMPANY)
    first_name: Text | None = Field(default=None, description=_FIRST_NAME)
    last_name: Text | None = Field(default=None, description=_LAST_NAME)
    display_name: Text | None = Field(
        default=None,
        description="Display name. The default is the first and last name.",
    )
    phone_number: Text | None = Field(default=None, description=_PHONE_NUMBER)
    civility: Text | None = Field(default=None, description=_CIVILITY)
    email: Email | None = Field(default=None, description=_EMAIL)
    language: Annotated[Language, Field(strict=False), BeforeValidator(_trimmed)] | None = Field(
        default=None, description="The customer's language."
    )
    metadata: ImportMetadata = Field(
        default=None,
        description="Your own data. Responses contain this data as `metadata.import`. Empty values"
        " count as absent. Names that are equal after trimming are errors.",
    )
    sms_optin: bool | None = Field(default=None, description=_SMS_OPTIN)
    email_optin: bool | None = Field(default=None, description=_EMAIL_OPTIN)

    @classmethod
    def _is_set(cls, value: Any) -> bool:
        return _is_set(value)

    @model_validator(mode="after")
    def _require_value(self) -> Self:
        if not any(value or value is False for _, value in self):
            raise PydanticCustomError("empty", "Provide at least one field.")
        return self


class CustomerDefinition(CustomerBody):
    """The definition of a customer: the fields of the API, and fields that only operators set.

    Attributes:
        metadata: metadata by source, with one optional property for each of the 24 sources.
        type: only ``Unknown`` can be set; the service computes every other type.
    """

    id: Identifier
    metadata: MetadataDefinition | None = None  # type: ignore[assignment]
    tags: list[TagDefinition] = Field(default_factory=list, max_length=100)
    attributes: list[CustomAttributeDefinition] = Field(default_factory=list, max_length=100)
    data_sources: list[Annotated[DataSource, Field(strict=False)]] | None = None
    email_bounced: bool = False
    type: Literal["Unknown"] | None = None


def joined_name(first_name: str | None, last_name: str | None) -> str | None:
    """Return the first and the last name, joined with a space, or None if both are missing."""
    return " ".join(name for name in (first_name, last_name) if name) or None


def customer_from_body(
    body: CustomerBody, customer_id: str, now: datetime, **overrides: Any
) -> Customer:
    """Build a new customer from the body of a partner's request.

    ``overrides`` are customer fields. They take precedence over the fields of the body.

    Raises:
        InputTooLarge: the customer exceeds a size limit; see `check_size`.
    """
    fields = {
        name: value
        for name in CustomerBody.model_fields
        if name != "metadata" and (value := getattr(body, name)) is not None
    }
    fields.setdefault("display_name", joined_name(body.first_name, body.last_name))
    metadata = {IMPORT_METADATA_KEY: body.metadata} if body.metadata else {}
    customer = Customer(
        **{"metadata": metadata, **fields, **overrides},
        id=customer_id,
        created_at=now,
        updated_at=now,
    )
    check_size(customer)
    return customer


def check_size(customer: Customer) -> None:
    """Check the size of a customer, including its tags.

    Raises:
        InputTooLarge: the customer's JSON exceeds `MAX_CUSTOMER_BYTES`, or it exceeds
            `MAX_LISTED_BYTES` when its non-ASCII characters are escaped.
    """
    if len(customer.model_dump_json().encode()) > MAX_CUSTOMER_BYTES:
        raise InputTooLarge("customer", MAX_CUSTOMER_BYTES)
    check_listable("customer", customer)


def build_customer(
    definition: CustomerDefinition, tags: tuple[Tag, ...], now: datetime
) -> Customer:
    """Build the customer to save from a definition.

    Args:
        tags: the tags of the definition; see `merge_tags`.

    Raises:
        InputTooLarge: the customer exceeds a size limit; see `check_size`.
    """
    overrides: dict[str, Any] = {
        "metadata": definition.metadata.model_dump(exclude_none=True)
        if definition.metadata
        else {},
        "tags": tags,
        "tag_ids": tuple(tag.id for tag in tags),
        "attributes": tuple(a.value_of(definition.id, now) for a in definition.attributes),
        "email_bounced": definition.email_bounced,
        "declared_type": definition.type,
    }
    if definition.data_sources is not None:
        overrides["data_sources"] = tuple(definition.data_sources)
    return customer_from_body(definition, definition.id, now, **overrides)
