"""The fields of a form, their groups and their dependencies (interface, section 2.7)."""

from enum import StrEnum
from typing import Annotated, Final

from pydantic import Field

from chalicelib.domain.comparison import Combination, Comparator
from chalicelib.domain.forms.part import DatedPart, Part, UuidText


class FieldType(StrEnum):
    """What a field asks for. Every answer is text, whatever the type."""

    TEXT = "TEXT"
    LONG_TEXT = "LONG_TEXT"
    EMAIL = "EMAIL"
    PHONE = "PHONE"
    NUMBER = "NUMBER"
    DATE = "DATE"
    SINGLE_SELECT = "SINGLE_SELECT"
    MULTI_SELECT = "MULTI_SELECT"
    CHECKBOX = "CHECKBOX"
    NPS = "NPS"
    CSAT_STAR = "CSAT_STAR"
    CSAT_SMILEY = "CSAT_SMILEY"
    BINARY = "BINARY"
    RATING = "RATING"


SELECT_TYPES: Final = frozenset({FieldType.SINGLE_SELECT, FieldType.MULTI_SELECT})
"""The types whose answers are chosen from the field's own values."""

_ZERO_TO_TEN: Final = tuple(str(n) for n in range(11))
_ONE_TO_FIVE: Final = tuple(str(n) for n in range(1, 6))

FIXED_ANSWERS: Final = {
    FieldType.CHECKBOX: ("true", "false"),
    FieldType.NPS: _ZERO_TO_TEN,
    FieldType.CSAT_STAR: _ONE_TO_FIVE,
    FieldType.CSAT_SMILEY: _ONE_TO_FIVE,
    FieldType.BINARY: ("satisfied", "unsatisfied"),
    FieldType.RATING: _ZERO_TO_TEN,
}
"""The only answers of the types that say themselves what may be answered."""

# An operator's document is read strictly, where an enum would not be taken from its text.
CombinationName = Annotated[Combination, Field(strict=False)]
ComparatorName = Annotated[Comparator, Field(strict=False)]
FieldTypeName = Annotated[FieldType, Field(strict=False)]

MAX_INDEX: Final = 2**31 - 1


class FieldTraits(Part):
    """What a field asks for and how, without its place among the other parts."""

    type: FieldTypeName = Field(description="Type of the field.", examples=["TEXT"])
    label: str = Field(
        default="", description="Text shown with the field.", examples=["Tell us more"]
    )
    placeholder: str = Field(
        default="",
        description="Text shown while the field is empty.",
        examples=["What should we change?"],
    )
    required: bool = Field(default=False, description="Whether the field must be answered.")
    vertical_index: int = Field(
        default=0, ge=0, le=MAX_INDEX, description="Row of the field.", examples=[1]
    )
    horizontal_index: int = Field(
        default=0, ge=0, le=MAX_INDEX, description="Position in the row.", examples=[0]
    )
    values: list[str] = Field(
        default=[], description="Options to select from.", examples=[["Service", "Food", "Price"]]
    )
    allow_custom_value: bool = Field(
        default=False, description="Whether values outside the list are accepted."
    )
    allow_min_replies: bool = Field(default=False, description="Whether `minReplies` applies.")
    min_replies: int = Field(
        default=0,
        ge=0,
        le=MAX_INDEX,
        description="Minimum number of selected values.",
        examples=[1],
    )
    allow_max_replies: bool = Field(default=False, description="Whether `maxReplies` applies.")
    max_replies: int = Field(
        default=0,
        ge=0,
        le=MAX_INDEX,
        description="Maximum number of selected values.",
        examples=[3],
    )
    operator: CombinationName = Field(
        default=Combination.AND,
        description="How the field's dependencies are combined.",
        examples=["$and"],
    )

    @property
    def answers_from_list(self) -> list[str] | None:
        """The only answers that the field takes, or None where any text of its type will do."""
        if self.type in SELECT_TYPES:
            return None if self.allow_custom_value else self.values
        fixed = FIXED_ANSWERS.get(self.type)
        return list(fixed) if fixed else None


class PartnerField(FieldTraits, DatedPart):
    """A field as partners get it."""

    group: str = Field(
        default="",
        description="Identifier of the field's group; empty if it has none.",
        examples=["0d7c2c4e-5d3f-4f0e-8f0a-3b1f5a2f7c10"],
    )
    dependencies: list[UuidText] = Field(
        default=[], description="Dependencies that decide whether this field is shown."
    )
    dependency_of: list[UuidText] = Field(
        default=[], description="Dependencies that evaluate this field's answer."
    )


class SavedField(PartnerField):
    """A field as it is saved."""

    key: str


class PartnerFieldGroup(DatedPart):
    """A group of fields as partners get it."""

    name: str = Field(default="", description="Name of the group.", examples=["Your visit"])
    vertical_index: int = Field(
        default=0, ge=0, le=MAX_INDEX, description="Position among the groups.", examples=[0]
    )


class SavedFieldGroup(PartnerFieldGroup):
    """A group of fields as it is saved."""

    key: str


class ExpectedValue(Part):
    """One comparison of a dependency."""

    operator: ComparatorName = Field(
        default=Comparator.EQ, description="Comparison operator.", examples=["$eq"]
    )
    value: str = Field(description="Value that the answer is compared with.", examples=["Service"])


class FieldDependency(DatedPart):
    """A condition on one field's answer that decides whether another field is shown."""

    field: UuidText = Field(description="The field that is shown or hidden.")
    depends_on_field: UuidText = Field(description="The field whose answer is evaluated.")
    operator: CombinationName = Field(
        default=Combination.AND, description="How the comparisons are combined.", examples=["$and"]
    )
    depends_on_field_values: list[ExpectedValue] = Field(
        description="Comparisons with the evaluated answer."
    )
