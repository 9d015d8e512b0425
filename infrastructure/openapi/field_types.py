"""Describe the field types in the OpenAPI document, from the table of field types."""

from chalicelib.domain.forms.field_types import AnswerRules, FieldType


def describe_field_types() -> str:
    """Return one paragraph per field type: its valid values and their ratings."""
    introduction = "Type of a field, which determines its valid answers. Every value is text."
    types = [
        f"`{field_type.value}`: {_valid_values(field_type.rules)}." for field_type in FieldType
    ]
    return "\n\n".join([introduction, *types])


def _valid_values(rules: AnswerRules) -> str:
    if rules.options_from_field:
        options = "of the field's `values`, or other text if `allowCustomValue` is true"
        return f"one or several {options}" if rules.accepts_several_values else f"one {options}"
    if rules.options:
        return "one of " + ", ".join(
            f"`{option}`" if rating is None else f"`{option}` (rating {rating})"
            for option, rating in rules.options.items()
        )
    return rules.format.description if rules.format else "any text"
