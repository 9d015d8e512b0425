"""Customers: who purchased, reviewed, or both (interface, sections 2.3 and 4.1)."""

from decimal import ROUND_HALF_UP, Decimal
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any, Final

from pydantic import Field, StringConstraints, WithJsonSchema, computed_field, create_model

from chalicelib.domain.custom_attribute import CustomAttributeDocument, CustomAttributeValue
from chalicelib.domain.language import Language
from chalicelib.domain.platforms import (
    IDENTIFIERS,
    IMPORT_METADATA_KEY,
    METADATA_KEYS,
    DataSource,
)
from chalicelib.domain.schema import (
    Email,
    Identifier,
    Input,
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
ImportMetadata = Annotated[
    dict[
        Annotated[str, StringConstraints(min_length=1, max_length=MAX_TEXT)],
        Annotated[str, StringConstraints(max_length=MAX_METADATA_VALUE)],
    ],
    Field(max_length=MAX_METADATA_KEYS),
]

if TYPE_CHECKING:

    class _AnsweredIdentifiers(Resource):
        pass

    class _GivenIdentifiers(Input):
        pass

else:
    # The 13 identifiers follow from the table of platforms, so they are no hand-written fields.
    _AnsweredIdentifiers = create_model(
        "_AnsweredIdentifiers",
        __base__=Resource,
        **{name: (str | None, None) for name in IDENTIFIERS},
    )
    _GivenIdentifiers = create_model(
        "_GivenIdentifiers",
        __base__=Input,
        **{name: (Text | None, None) for name in IDENTIFIERS},
    )


class CustomerType(StrEnum):
    """What a customer has done so far."""

    UNKNOWN = "Unknown"
    PURCHASER = "Purchaser"
    REVIEWER = "Reviewer"
    BOTH = "Both"


class Tag(Resource):
    """A label on a customer."""

    id: Identifier
    created_at: Timestamp
    updated_at: Timestamp
    tag: str = Field(description="The tag's name.", examples=["VIP"])
    color: str | None = Field(description="A hexadecimal colour.", examples=["#C0392B"])


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


class Customer(_AnsweredIdentifiers):
    """A customer as the interface answers it.

    The type and the mean rating are worked out from counts that are kept but never answered.
    """

    id: Identifier
    created_at: Timestamp
    updated_at: Timestamp
    description: str | None = None
    company: str | None = None
    first_name: str | None = None
    last_name: str | None = None
    display_name: str | None = Field(
        default=None, description="Usually the first and the last name, joined."
    )
    language: Annotated[Language | None, LeftOutWhenNone] = Field(
        default=None, exclude_if=lambda value: value is None
    )
    phone_number: str | None = None
    email: str | None = None
    email_bounced: bool = Field(default=False, description="Whether the e-mail bounced.")
    civility: str | None = Field(default=None, description="A title, for example.")
    tags: tuple[Tag, ...] = ()
    email_optin: bool = Field(default=False, description="Agreed to be written to by e-mail.")
    sms_optin: bool = Field(default=False, description="Agreed to be written to by SMS.")
    feedback_count: int = Field(default=0, description="Feedbacks given.")
    purchase_count: int = Field(default=0, description="Purchases made.")
    data_sources: tuple[DataSource, ...] = (DataSource("Import"),)
    metadata: Annotated[dict[str, Any], WithJsonSchema(_METADATA_SCHEMA)] = Field(
        default_factory=dict
    )
    attributes: tuple[CustomAttributeValue, ...] = ()

    rating_sum: int = Field(default=0, exclude=True)
    rating_count: int = Field(default=0, exclude=True)
    declared_type: CustomerType | None = Field(default=None, exclude=True)

    @computed_field(description="What the customer has done so far.")  # type: ignore[prop-decorator]
    @property
    def type(self) -> CustomerType | None:
        """Worked out from the counts; without any, what a loaded document declared."""
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
        """The mean of the customer's ratings as a decimal string, None before the first."""
        if not self.rating_count:
            return None
        mean = Decimal(self.rating_sum) / self.rating_count
        return f"{mean.quantize(Decimal('0.01'), ROUND_HALF_UP).normalize():f}"


class CustomerBody(_GivenIdentifiers):
    """A customer as a partner sends it (interface, section 4.1). No field is required."""

    description: Annotated[str, StringConstraints(max_length=MAX_DESCRIPTION)] | None = None
    company: Text | None = None
    first_name: Text | None = None
    last_name: Text | None = None
    display_name: Text | None = None
    phone_number: Text | None = None
    civility: Text | None = None
    email: Email | None = None
    language: Annotated[Language, Field(strict=False)] | None = None
    metadata: ImportMetadata | None = None
    sms_optin: bool | None = None
    email_optin: bool | None = None


class TagDocument(Input):
    """A tag as an operator loads it."""

    tag: str = Field(min_length=1, max_length=MAX_TEXT)
    color: str | None = Field(default=None, pattern=r"^#([0-9A-Fa-f]{3,4}|[0-9A-Fa-f]{6}|[0-9A-Fa-f]{8})$")
    id: Identifier | None = None


class CustomerDocument(CustomerBody):
    """A customer as an operator loads it: what a partner may send, and what only the account knows.

    Attributes:
        metadata: records by source, each key one of the 24 of the interface.
        type: only ``Unknown`` may be declared; everything else follows from what happens.
    """

    id: Identifier
    metadata: dict[str, Any] | None = None  # type: ignore[assignment]
    tags: list[TagDocument] = Field(default_factory=list, max_length=100)
    attributes: list[CustomAttributeDocument] = Field(default_factory=list, max_length=100)
    data_sources: list[Annotated[DataSource, Field(strict=False)]] | None = None
    email_bounced: bool = False
    type: Annotated[CustomerType, Field(strict=False)] | None = None


def joined_name(first_name: str | None, last_name: str | None) -> str | None:
    """First and last name joined by a space, one alone if there is one, else None."""
    return " ".join(name for name in (first_name, last_name) if name) or None
