"""The request to find customers by address, and its response."""

from typing import Annotated, Final, Self

from pydantic import ConfigDict, Field, WithJsonSchema, model_validator
from pydantic_core import PydanticCustomError

from chalicelib.domain.customers.customer import Customer
from chalicelib.domain.paging import MAX_LIMIT
from chalicelib.domain.schema import MAX_TEXT, Email, Input, Resource, Text, must

MAX_FOUND: Final = MAX_LIMIT
"""Maximum number of customers in a response."""


PhoneNumber = Annotated[
    Text,
    must(lambda text: any(map(str.isdigit, text)), "invalid", "Must be a phone number."),
    WithJsonSchema({"type": "string", "maxLength": MAX_TEXT, "pattern": "[0-9]"}),
]
"""A phone number in any notation: a text with at least one digit."""


class CustomerAddress(Input):
    """An e-mail address, a phone number, or both."""

    model_config = ConfigDict(json_schema_extra={"minProperties": 1})

    email: Email | None = Field(
        default=None, description="E-mail address. Upper and lower case are equal."
    )
    phone_number: PhoneNumber | None = Field(
        default=None,
        description="Phone number, in national or international notation. Separators are ignored.",
    )

    @model_validator(mode="after")
    def _require_address(self) -> Self:
        if not (self.email or self.phone_number):
            raise PydanticCustomError("empty", "Provide email or phoneNumber.")
        return self


class FoundCustomers(Resource):
    """The customers with an address."""

    items: tuple[Customer, ...] = Field(
        description=f"The customers, oldest first, at most {MAX_FOUND}."
    )
    has_more: bool = Field(description="Whether further customers have the address.")
