"""Custom attribute values of customers and purchases."""

from datetime import datetime

from pydantic import Field

from chalicelib.domain.ids import derived_id
from chalicelib.domain.schema import Choice, Identifier, Input, Resource, Timestamp, UuidText


class AttributeType(Choice):
    """Type of a custom attribute."""

    SINGLE_SELECT = "SINGLE_SELECT"
    MULTI_SELECT = "MULTI_SELECT"
    TEXT = "TEXT"
    NUMBER = "NUMBER"
    RATING = "RATING"
    DATE = "DATE"
    BOOLEAN = "BOOLEAN"


class CustomAttributeValue(Resource):
    """The value of one custom attribute."""

    id: UuidText
    created_at: Timestamp
    updated_at: Timestamp
    attribute: str = Field(description="The attribute's name.", examples=["Favourite dish"])
    type: AttributeType = Field(description="Type of the attribute's values.", examples=["TEXT"])
    auto_detected: bool = Field(description="Whether the value was detected automatically.")
    from_possible_value: str = Field(
        description="The selected option; empty if no option is selected.", examples=[""]
    )
    text: str = Field(
        description="Text of the value; empty if the value has no text.", examples=["Bouillabaisse"]
    )
    rating: str = Field(
        description="Rating of the value; empty if the value has no rating.", examples=[""]
    )
    value: str = Field(description="The value as a string.", examples=["Bouillabaisse"])


class CustomAttributeDefinition(Input):
    """The value of a custom attribute in a definition."""

    attribute: str = Field(min_length=1, max_length=255, description="The attribute's name.")
    type: AttributeType = Field(description="Type of the attribute's values.")
    auto_detected: bool = Field(
        default=False, description="Whether the value was detected automatically."
    )
    from_possible_value: str = Field(default="", max_length=255, description="The selected option.")
    text: str = Field(default="", max_length=2000, description="Text of the value.")
    rating: str = Field(default="", max_length=32, description="Rating of the value.")
    value: str = Field(default="", max_length=2000, description="The value as a string.")
    id: Identifier | None = Field(
        default=None,
        description="Identifier of the value. The default is derived from the attribute's name.",
    )

    def value_of(self, owner_id: str, now: datetime) -> CustomAttributeValue:
        """Build an attribute value of a customer or a purchase from its definition.

        An omitted id is derived from the id of the customer or purchase and the attribute's name.
        """
        return CustomAttributeValue(
            **self.model_dump(by_alias=False, exclude={"id"}),
            id=self.id or derived_id(owner_id, "attribute", self.attribute),
            created_at=now,
            updated_at=now,
        )
