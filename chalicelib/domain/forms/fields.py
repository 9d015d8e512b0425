"""Fields, field groups and field dependencies of a form."""

from collections.abc import Collection
from typing import Final

from pydantic import Field

from chalicelib.domain.comparison import Combination, Comparator
from chalicelib.domain.forms.field_types import Control, FieldType
from chalicelib.domain.forms.part import DatedPart, IdentifiedPart, Part, text_field
from chalicelib.domain.schema import UuidText

MAX_INDEX: Final = 2**31 - 1


class FieldTraits(Part):
    """The properties of a field that do not refer to other fields, groups or dependencies."""

    type: FieldType = Field(
        description="Type of the field, which determines its valid answers.",
        examples=["MULTI_SELECT"],
    )
    label: str = text_field("Label of the field.", "What should we change?")
    placeholder: str = text_field("Text displayed while the field is empty.", "Up to three")
    required: bool = Field(default=False, description="Whether an answer is required.")
    vertical_index: int = Field(
        default=0,
        ge=0,
        le=MAX_INDEX,
        description="Row of the field, within its group if it has one.",
        examples=[1],
    )
    horizontal_index: int = Field(
        default=0, ge=0, le=MAX_INDEX, description="Position of the field in its row.", examples=[0]
    )
    values: list[str] = Field(
        default=[],
        description="Options of a select field. Other fields can contain labels: a `BINARY` field"
        " two (positive, negative), a `CSAT_SMILEY` field five, and a scale one for each end.",
        examples=[["Service", "Food", "Price"]],
    )
    allow_custom_value: bool = Field(
        default=False, description="Whether a respondent may enter a value that is not in `values`."
    )
    allow_min_replies: bool = Field(
        default=False, description="Whether `minReplies` applies.", examples=[True]
    )
    min_replies: int = Field(
        default=0,
        ge=0,
        le=MAX_INDEX,
        description="Minimum number of values in an answer.",
        examples=[1],
    )
    allow_max_replies: bool = Field(
        default=False, description="Whether `maxReplies` applies.", examples=[True]
    )
    max_replies: int = Field(
        default=0,
        ge=0,
        le=MAX_INDEX,
        description="Maximum number of values in an answer.",
        examples=[3],
    )
    operator: Combination = Field(
        default=Combination.AND,
        description="Operator that combines the results of the field's dependencies.",
        examples=["$and"],
    )

    @property
    def has_options(self) -> bool:
        """Whether answers are ratings or choices."""
        return self.type.rules.options_from_field or bool(self.type.rules.options)

    @property
    def is_consent(self) -> bool:
        """Whether the field is a box that a respondent must tick."""
        return self.required and self.type.rules.display.control is Control.CHECKBOX

    @property
    def options(self) -> Collection[str] | None:
        """Return the list of all valid values, or None if the field also accepts other values."""
        if self.type.rules.options_from_field:
            return None if self.allow_custom_value else self.values
        return self.type.rules.options or None


class PartnerField(FieldTraits, DatedPart):
    """A field in the partner view of a form."""

    group: str = text_field(
        "Identifier of the field's group; empty if the field belongs to no group.",
        "521617b6-5b5f-5311-bb5b-bcd1c1ae24d2",
    )
    dependencies: list[UuidText] = Field(
        default=[], description="Identifiers of the dependencies that show or hide this field."
    )
    dependency_of: list[UuidText] = Field(
        default=[], description="Identifiers of the dependencies that evaluate this field's answer."
    )


class SavedField(PartnerField):
    """A field in a saved form."""

    key: str


class PartnerFieldGroup(DatedPart):
    """A field group in the partner view of a form."""

    name: str = text_field("Name of the group.", "Your visit")
    vertical_index: int = Field(
        default=0,
        ge=0,
        le=MAX_INDEX,
        description="Position of the group in the form.",
        examples=[0],
    )


class SavedFieldGroup(PartnerFieldGroup):
    """A field group in a saved form."""

    key: str


class ExpectedValue(Part):
    """A comparison of the answer to a field with an expected value."""

    operator: Comparator = Field(
        default=Comparator.EQ,
        description="Operator that compares the answer with the value.",
        examples=["$eq"],
    )
    value: str = Field(description="Value to compare the answer with.", examples=["Service"])


class PublicFieldDependency(IdentifiedPart):
    """A condition that shows or hides a field, depending on the answer to another field."""

    field: UuidText = Field(description="Identifier of the field to show or hide.")
    depends_on_field: UuidText = Field(
        description="Identifier of the field whose answer is evaluated."
    )
    operator: Combination = Field(
        default=Combination.AND,
        description="Operator that combines the results of the comparisons.",
        examples=["$and"],
    )
    depends_on_field_values: list[ExpectedValue] = Field(
        description="Comparisons of the answer to `dependsOnField` with expected values."
    )


class FieldDependency(PublicFieldDependency, DatedPart):
    """A condition that shows or hides a field, depending on the answer to another field."""
