"""Build the data with which the page's script evaluates conditions and answers.

The script and the server must evaluate conditions and answers in the same way. Tests run the cases
in `tests/web/pages/cases.json` through the script and through the server.
"""

from collections.abc import Mapping
from typing import Any

from chalicelib.domain.comparison import Comparator, parse_list
from chalicelib.domain.feedback.answers import MAX_VALUE, Questionnaire
from chalicelib.domain.forms.field_types import Control
from chalicelib.domain.forms.fields import ExpectedValue, FieldTraits, SavedField
from chalicelib.domain.forms.visibility import Conditions
from chalicelib.domain.language import uses_decimal_comma
from chalicelib.web.pages.fields import control_of, error_text, yes_or_no_fields
from chalicelib.web.pages.words import PageWords

_MAX_ANNOUNCED = 20


def script_data(
    questionnaire: Questionnaire,
    numbers: Mapping[str, int],
    words: PageWords,
    *,
    saves_taps: bool = False,
) -> dict[str, Any]:
    """Return the data as JSON values. Fields are identified by their numbers."""
    fields = questionnaire.fields
    conditions = [(field, items) for field, items in questionnaire.conditions if items]
    conditional = len(conditions)
    yes_or_no = yes_or_no_fields(item for _, items in conditions for item in items)
    data = {
        "fields": {
            str(number): _field(
                fields[field_id], control_of(fields[field_id], yes_or_no), questionnaire, words
            )
            for field_id, number in numbers.items()
        },
        "conditions": _conditions(conditions, numbers),
        "maxLength": MAX_VALUE,
        "revealed": [words.revealed(n + 1) for n in range(min(conditional, _MAX_ANNOUNCED))],
        "progress": words.progress(is_conditional=bool(conditions)),
        "offline": words.offline,
        "busy": words.busy,
        "notSent": words.not_sent,
        "notSentTitle": words.not_sent_title,
        "sending": words.sending,
        "errorsTitle": words.errors_title,
    }
    saved = {"savesTaps": words.saves_taps, "saved": words.saved, "savedRating": words.saved_rating}
    return data | (saved if saves_taps else {})


def _field(
    field: SavedField, control: Control, questionnaire: Questionnaire, words: PageWords
) -> dict[str, Any]:
    rules = field.type.rules
    several = rules.accepts_several_values
    canonical = questionnaire.canonical_values.get(field.id, {})
    translated = {text: value for text, value in canonical.items() if text != value}
    limits = {
        "several": several,
        "consent": field.is_consent,
        "required": field.required,
        "min": field.min_replies if field.allow_min_replies else 0,
        "max": field.max_replies if field.allow_max_replies else 0,
        "pattern": rules.format.pattern if rules.format else "",
        "invalid": rules.format.error_code if rules.format else "",
        "canonical": translated if field.allow_custom_value else {},
        "comma": bool(rules.format and rules.format.is_decimal)
        and uses_decimal_comma(words.language),
    }
    return {name: value for name, value in limits.items() if value} | {
        "errors": {code: error_text(field, control, code, words) for code in _codes(field)}
    }


def _codes(field: FieldTraits) -> list[str]:
    """Return the codes of the errors that the script can find in an answer to this field."""
    rules = field.type.rules
    codes = ["required"] if field.required else []
    codes += ["too_few"] if field.allow_min_replies and rules.accepts_several_values else []
    codes += ["too_many"] if field.allow_max_replies or field.allow_custom_value else []
    codes += ["duplicate"] if rules.accepts_several_values and field.allow_custom_value else []
    codes += [rules.format.error_code] if rules.format else []
    return codes if rules.options else [*codes, "too_long"]


def _conditions(conditions: Conditions, numbers: Mapping[str, int]) -> list[Any]:
    """Return the conditions in the order in which the script evaluates them.

    Args:
        numbers: the number by which the script identifies each field, by field id.
    """
    return [
        [
            numbers[field.id],
            field.operator,
            [
                [
                    numbers[dependency.depends_on_field],
                    dependency.operator,
                    [_comparison(expected) for expected in dependency.depends_on_field_values],
                ]
                for dependency in dependencies
            ],
        ]
        for field, dependencies in conditions
    ]


def _comparison(expected: ExpectedValue) -> list[Any]:
    """Return the comparator and the expected value; a list for `$in` and `$nin`."""
    if expected.operator in (Comparator.IN, Comparator.NIN):
        return [expected.operator, parse_list(expected.value)]
    return [expected.operator, expected.value]
