"""Customers: people who purchased, gave feedback, or both."""

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
from pydantic_core import PydanticCustomError

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
from chalicelib.domain.ids import derived_id
from chalicelib.domain.language import Language
from chalicelib.domain.paging import PageMeta
from chalicelib.domain.schema import (
    WHITE_SPACE,
    Email,
    Identifier,
    Input,
    JsonObject,
    LeftOutWhenNone,
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
_DESCRIPTION: Final = "What the account notes about the customer."
_COMPANY: Final = "The company that the customer belongs to."
_FIRST_NAME: Final = "First name."
_LAST_NAME: Final = "Last name."
_PHONE_NUMBER: Final = "Phone number, as it was given."
_EMAIL: Final = "E-mail address, as it was given."
_CIVILITY: Final = "A title, for example."
_EMAIL_OPTIN: Final = "Agreed to be written to by e-mail."
_SMS_OPTIN: Final = "Agreed to be written to by SMS."


def _trimmed(value: Any) -> Any:
    return value.strip(WHITE_SPACE) if isinstance(value, str) else value


def _without_nulls(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    return {key: member for key, member in value.items() if member is not None}


ImportMetadata = Annotated[
    dict[
        Annotated[str, StringConstraints(min_length=1, max_length=MAX_TEXT)],
        Annotated[str, StringConstraints(max_length=MAX_METADATA_VALUE)],
    ],
    Field(max_length=MAX_METADATA_KEYS),
    BeforeValidator(_without_nulls),
]


def _identifier_fields(kind: Any) -> dict[str, Any]:
    return {
        platform.identifier: (
            kind,
            Field(default=None, description=f"Identifier in {platform.source} ({platform.kind})."),
        )
        for platform in PLATFORMS
        if platform.identifies_customers
    }


class Tag(Resource):
    """A label on a customer."""

    id: Identifier
    created_at: Timestamp
    updated_at: Timestamp
    tag: str = Field(description="The tag's name.", examples=["VIP"])
    color: str | None = Field(description="A hexadecimal colour.", examples=["#C0392B"])


class _Person(Resource):
    """The fields of a customer without external identifiers."""

    id: Identifier
    created_at: Timestamp
    updated_at: Timestamp
    description: str | None = Field(default=None, description=_DESCRIPTION)
    company: str | None = Field(default=None, description=_COMPANY)
    first_name: str | None = Field(default=None, description=_FIRST_NAME)
    last_name: str | None = Field(default=None, description=_LAST_NAME)
    display_name: str | None = Field(
        default=None, description="Usually the first and the last name, joined."
    )
    language: Annotated[Language | None, LeftOutWhenNone] = Field(
        default=None,
        exclude_if=lambda value: value is None,
        description="The customer's language. The key is left out when it is not known.",
    )
    phone_number: str | None = Field(default=None, description=_PHONE_NUMBER)
    email: str | None = Field(default=None, description=_EMAIL)
    email_bounced: bool = Field(default=False, description="Whether the e-mail bounced.")
    civility: str | None = Field(default=None, description=_CIVILITY)
    tags: tuple[Tag, ...] = Field(
        default=(), description="Labels that the account has put on the customer."
    )
    email_optin: bool = Field(default=False, description=_EMAIL_OPTIN)
    sms_optin: bool = Field(default=False, description=_SMS_OPTIN)


if TYPE_CHECKING:

    class _IdentifiedPerson(_Person):
        pass

    class _GivenIdentifiers(Input):
        pass

    class MetadataDocument(Input):
        """Customer metadata by source in a definition."""

else:
    # The 13 external identifiers are generated from the platform table.
    _IdentifiedPerson = create_model(
        "_IdentifiedPerson", __base__=_Person, **_identifier_fields(str | None)
    )
    _GivenIdentifiers = create_model(
        "_GivenIdentifiers", __base__=Input, **_identifier_fields(Text | None)
    )
    MetadataDocument = create_model(
        "MetadataDocument",
        __base__=Input,
        **{
            key: ((ImportMetadata if key == IMPORT_METADATA_KEY else JsonObject) | None, None)
            for key in METADATA_KEYS
        },
    )


class CustomerType(StrEnum):
    """Derived from the customer's purchases and feedback."""

    UNKNOWN = "Unknown"
    PURCHASER = "Purchaser"
    REVIEWER = "Reviewer"
    BOTH = "Both"


_METADATA_SCHEMA: Final = {
    "type": "object",
    "description": (
        "Data by source. The import source's is a map of strings; every other record mirrors the "
        "external system's own and is passed through as it is."
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

    `type` and `averageFeedbackRating` are computed from counts that are stored but not returned.
    """

    feedback_count: int = Field(default=0, description="Feedbacks given.")
    purchase_count: int = Field(default=0, description="Purchases made.")
    data_sources: tuple[DataSource, ...] = Field(
        default=(DataSource("Import"),), description="Where the customer is known from."
    )
    metadata: Annotated[dict[str, Any], WithJsonSchema(_METADATA_SCHEMA)] = Field(
        default_factory=dict
    )
    attributes: tuple[CustomAttributeValue, ...] = Field(
        default=(), description="Values of the account's custom attributes."
    )

    rating_sum: int = Field(default=0, exclude=True)
    rating_count: int = Field(default=0, exclude=True)
    declared_type: CustomerType | None = Field(default=None, exclude=True)

    @computed_field(description="What the customer has done so far.")  # type: ignore[prop-decorator]
    @property
    def type(self) -> CustomerType | None:
        """Computed from the counts; without any, the type declared by a definition."""
        if self.purchase_count and self.feedback_count:
            return CustomerType.BOTH
        if self.purchase_count:
            return CustomerType.PURCHASER
        if self.feedback_count:
            return CustomerType.REVIEWER
        return self.declared_type

    @computed_field(  # type: ignore[prop-decorator]
        description="The mean rating, 0 to 10, with at most two decimals.", examples=["8.5"]
    )
    @property
    def average_feedback_rating(self) -> str | None:
        """The mean of the customer's ratings as a decimal string, or None without ratings."""
        if not self.rating_count:
            return None
        mean = Decimal(self.rating_sum) / self.rating_count
        return f"{mean.quantize(Decimal('0.01'), ROUND_HALF_UP).normalize():f}"


class CustomerPage(Resource):
    """One page of an account's customers."""

    items: tuple[Customer, ...]
    meta: PageMeta


class CustomerBody(_GivenIdentifiers):
    """A customer as sent by a partner.

    No field is required on its own, but at least one must be given. An empty string means absent.
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
        description="What to call the customer. When not given: first and last name, joined.",
    )
    phone_number: Text | None = Field(default=None, description=_PHONE_NUMBER)
    civility: Text | None = Field(default=None, description=_CIVILITY)
    email: Email | None = Field(default=None, description=_EMAIL)
    language: Annotated[Language, Field(strict=False), BeforeValidator(_trimmed)] | None = Field(
        default=None, description="The customer's language."
    )
    metadata: ImportMetadata | None = Field(
        default=None,
        description="Data of your own. Answered as the customer's `metadata.import`.",
    )
    sms_optin: bool | None = Field(default=None, description=_SMS_OPTIN)
    email_optin: bool | None = Field(default=None, description=_EMAIL_OPTIN)

    @classmethod
    def _is_given(cls, value: Any) -> bool:
        return value is not None and _trimmed(value) != ""

    @model_validator(mode="after")
    def _hold_something(self) -> Self:
        if not any(value or value is False for _, value in self):
            raise PydanticCustomError("empty", "There is nothing in it.")
        return self


class TagDefinition(Input):
    """A tag in a definition."""

    tag: str = Field(min_length=1, max_length=MAX_TEXT)
    color: str | None = Field(default=None, pattern=r"^#([0-9A-Fa-f]{3}){1,2}$")
    id: Identifier | None = None


class CustomerDefinition(CustomerBody):
    """A customer definition: the fields of the partner's body and fields that only operators set.

    Attributes:
        metadata: records by source, under the 24 metadata keys.
        type: only ``Unknown`` can be declared; every other type is computed.
    """

    id: Identifier
    metadata: MetadataDocument | None = None  # type: ignore[assignment]
    tags: list[TagDefinition] = Field(default_factory=list, max_length=100)
    attributes: list[CustomAttributeDefinition] = Field(default_factory=list, max_length=100)
    data_sources: list[Annotated[DataSource, Field(strict=False)]] | None = None
    email_bounced: bool = False
    type: Literal["Unknown"] | None = None


def joined_name(first_name: str | None, last_name: str | None) -> str | None:
    """Join first and last name with a space. Return None if both are missing."""
    return " ".join(name for name in (first_name, last_name) if name) or None


def customer_from_body(
    body: CustomerBody, customer_id: str, now: datetime, **known: Any
) -> Customer:
    """Build a new customer from a partner's body.

    ``known`` contains fields that replace or complete those of the body.

    Raises:
        InputTooLarge: the customer's JSON would exceed `MAX_CUSTOMER_BYTES`.
    """
    given = {
        name: value
        for name in CustomerBody.model_fields
        if name != "metadata" and (value := getattr(body, name)) is not None
    }
    given.setdefault("display_name", joined_name(body.first_name, body.last_name))
    metadata = {IMPORT_METADATA_KEY: body.metadata} if body.metadata else {}
    customer = Customer(
        **{"metadata": metadata, **given, **known},
        id=customer_id,
        created_at=now,
        updated_at=now,
    )
    if len(customer.model_dump_json().encode()) > MAX_CUSTOMER_BYTES:
        raise InputTooLarge("customer", MAX_CUSTOMER_BYTES)
    return customer


def _records_of(metadata: MetadataDocument | None) -> dict[str, Any]:
    records = metadata.model_dump(exclude_none=True) if metadata else {}
    if not records.get(IMPORT_METADATA_KEY, True):
        del records[
            IMPORT_METADATA_KEY
        ]  # an empty map counts as absent, so that an import can fill it
    return records


def build_customer(definition: CustomerDefinition, now: datetime) -> Customer:
    """Return the customer to save.

    Raises:
        InputTooLarge: the customer is larger than `MAX_CUSTOMER_BYTES`.
    """
    tags = tuple(
        Tag(
            id=tag.id or derived_id(definition.id, "tag", tag.tag),
            created_at=now,
            updated_at=now,
            tag=tag.tag,
            color=tag.color,
        )
        for tag in definition.tags
    )
    known: dict[str, Any] = {
        "metadata": _records_of(definition.metadata),
        "tags": tags,
        "attributes": tuple(a.value_of(definition.id, now) for a in definition.attributes),
        "email_bounced": definition.email_bounced,
        "declared_type": definition.type,
    }
    if definition.data_sources is not None:
        known["data_sources"] = tuple(definition.data_sources)
    return customer_from_body(definition, definition.id, now, **known)
