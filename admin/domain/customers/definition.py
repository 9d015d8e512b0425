"""Definitions of customers."""

from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field, create_model

from admin.domain.tags import TagDefinition
from chalicelib.domain.accounts.tags import Tag
from chalicelib.domain.customers.body import CustomerBody, ImportMetadata, customer_from_body
from chalicelib.domain.customers.custom_attribute import CustomAttributeDefinition
from chalicelib.domain.customers.customer import Customer
from chalicelib.domain.customers.platforms import IMPORT_METADATA_KEY, METADATA_KEYS, DataSource
from chalicelib.domain.schema import Identifier, Input, JsonObject

if TYPE_CHECKING:

    class MetadataDefinition(Input):
        """The metadata of a customer definition, by source."""

else:
    MetadataDefinition = create_model(
        "MetadataDefinition",
        __base__=Input,
        **{
            key: (
                (ImportMetadata, Field(None, description="Your own data: a map of strings."))
                if key == IMPORT_METADATA_KEY
                else (JsonObject | None, Field(None, description=f"The record in `{key}`."))
            )
            for key in METADATA_KEYS
        },
    )


class CustomerDefinition(CustomerBody):
    """The definition of a customer: the fields of the API, and fields that only operators set."""

    id: Identifier = Field(description="The id of the customer.")
    metadata: MetadataDefinition | None = Field(  # type: ignore[assignment]
        default=None, description="Data by source. Each source is a field of its own."
    )
    tags: list[TagDefinition] = Field(default_factory=list, max_length=100)
    attributes: list[CustomAttributeDefinition] = Field(default_factory=list, max_length=100)
    data_sources: list[Annotated[DataSource, Field(strict=False)]] | None = None
    email_bounced: bool = False
    type: Literal["Unknown"] | None = Field(
        default=None, description="`Unknown`; the service computes all other types."
    )


def build_customer(
    definition: CustomerDefinition, tags: tuple[Tag, ...], now: datetime
) -> Customer:
    """Build the customer to save from a definition.

    Args:
        tags: the tags of the definition; see `merge_tags`.

    Raises:
        RecordTooLarge: the customer exceeds a size limit; see `check_size`.
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
