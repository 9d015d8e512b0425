"""Definitions of brands and stores."""

from collections.abc import Iterator
from typing import Any

from pydantic import Field

from admin.domain.definitions import ID, KEY, Colour, Key
from chalicelib.domain.accounts.places import Directory
from chalicelib.domain.accounts.settings import TimeZoneName
from chalicelib.domain.definitions import parse_and_validate
from chalicelib.domain.input_errors import InputError, unknown_reference
from chalicelib.domain.schema import Identifier, Input


class BrandDefinition(Input):
    """The definition of a brand."""

    id: Identifier = Field(description=ID)
    key: Key = Field(default="", description=KEY)
    name: str = Field(min_length=1, max_length=255)
    color: Colour = ""


class StoreDefinition(BrandDefinition):
    """The definition of a store. The store's brand must belong to the account."""

    brand_id: Identifier
    time_zone: TimeZoneName | None = Field(
        default=None, description="An IANA name. Default: the time zone of the account."
    )
    address: str = Field(
        default="",
        max_length=500,
        description="The postal address, in the footer of pages and e-mails.",
    )
    legal_text: str = Field(
        default="",
        max_length=1000,
        description="A text that the law requires, below the address.",
    )


def parse_store_definition(definition: Any, directory: Directory) -> StoreDefinition:
    """Parse and validate the definition of a store.

    Args:
        directory: the account's brands and stores.

    Raises:
        InvalidInput: the definition does not match the model, or the brand does not belong to the
            account.
    """

    def rule_errors(store: StoreDefinition) -> Iterator[InputError]:
        if directory.brand(store.brand_id) is None:
            yield unknown_reference("brand", "brandId")

    return parse_and_validate(definition, StoreDefinition, rule_errors)
