"""Customers in the bodies of requests."""

from collections.abc import Collection
from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Final, Self

from pydantic import (
    BeforeValidator,
    ConfigDict,
    Field,
    StringConstraints,
    create_model,
    model_validator,
)
from pydantic_core import PydanticCustomError, PydanticKnownError

from chalicelib.domain.customers.customer import (
    Customer,
    check_size,
    identifier_fields,
    joined_name,
)
from chalicelib.domain.customers.platforms import IMPORT_METADATA_KEY
from chalicelib.domain.language import Language
from chalicelib.domain.schema import MAX_TEXT, WHITE_SPACE, Email, Input, Text

MAX_DESCRIPTION: Final = 2_000
MAX_METADATA_KEYS: Final = 50
MAX_METADATA_VALUE: Final = 500


def _description_of(field: str) -> str | None:
    return Customer.model_fields[field].description


def _trimmed(value: Any) -> Any:
    return value.strip(WHITE_SPACE) if isinstance(value, str) else value


def _set_metadata(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    metadata: dict[Any, Any] = {}
    for name, item in value.items():
        if _trimmed(item) in CustomerBody.unset:
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


if TYPE_CHECKING:

    class _IdentifierInput(Input):
        pass

else:
    _IdentifierInput = create_model(
        "_IdentifierInput", __base__=Input, **identifier_fields(Text | None)
    )


class CustomerBody(_IdentifierInput):
    """A customer in a partner's request body.

    Every field is optional, but at least one must have a value. An empty string is not a value.
    """

    model_config = ConfigDict(json_schema_extra={"minProperties": 1})
    unset: ClassVar[Collection[str | None]] = (None, "")

    description: Annotated[str, StringConstraints(max_length=MAX_DESCRIPTION)] | None = Field(
        default=None, description=_description_of("description")
    )
    company: Text | None = Field(default=None, description=_description_of("company"))
    first_name: Text | None = Field(default=None, description=_description_of("first_name"))
    last_name: Text | None = Field(default=None, description=_description_of("last_name"))
    display_name: Text | None = Field(
        default=None,
        description="Display name. The default is the first and last name.",
    )
    phone_number: Text | None = Field(default=None, description=_description_of("phone_number"))
    civility: Text | None = Field(default=None, description=_description_of("civility"))
    email: Email | None = Field(default=None, description=_description_of("email"))
    language: Annotated[Language, Field(strict=False), BeforeValidator(_trimmed)] | None = Field(
        default=None, description="The customer's language."
    )
    metadata: ImportMetadata = Field(
        default=None,
        description="Your own data. Responses contain this data as `metadata.import`. Empty values"
        " count as absent. Names that are equal after trimming are errors.",
    )
    sms_optin: bool | None = Field(default=None, description=_description_of("sms_optin"))
    email_optin: bool | None = Field(default=None, description=_description_of("email_optin"))

    @property
    def values(self) -> dict[str, Any]:
        """The fields of `CustomerBody` that are set, with their values, without the metadata.

        The display name is by default the first and last name.
        """
        values = {name: getattr(self, name) for name in CustomerBody.model_fields}
        values["display_name"] = self.display_name or joined_name(self.first_name, self.last_name)
        return {n: value for n, value in values.items() if n != "metadata" and value is not None}

    @model_validator(mode="after")
    def _require_value(self) -> Self:
        if all(getattr(self, name) is None for name in self.model_fields_set):
            raise PydanticCustomError("empty", "Provide at least one field.")
        return self


def customer_from_body(
    body: CustomerBody, customer_id: str, now: datetime, **overrides: Any
) -> Customer:
    """Build a new customer from the body of a partner's request.

    ``overrides`` are customer fields. They take precedence over the fields of the body.

    Raises:
        RecordTooLarge: the customer exceeds a size limit; see `check_size`.
    """
    metadata = {IMPORT_METADATA_KEY: body.metadata} if body.metadata else {}
    customer = Customer(
        **{"metadata": metadata, **body.values, **overrides},
        id=customer_id,
        created_at=now,
        updated_at=now,
    )
    check_size(customer)
    return customer
