"""Table of field types. Each row defines the valid answers of a type and the use of these answers.

To add a type, add a row. Validation, pages and the OpenAPI description use the properties of the
row. No other deployed module branches on a type.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from enum import StrEnum
from typing import Final, Literal, Self

from chalicelib.domain.comparison import as_number
from chalicelib.domain.schema import Choice, is_email

RespondentIdentifier = Literal["email", "phone_number"]
"""The customer attributes that identify a respondent."""


@dataclass(frozen=True)
class AnswerError:
    """The code and detail of the error for an invalid answer. The caller adds the pointer."""

    code: str
    detail: str


@dataclass(frozen=True)
class AnswerFormat:
    """The required format of an answer's value.

    Attributes:
        description: description of the format for the API reference and the error message, such as
            "a date".
        is_valid: returns whether a text has the format.
        error_code: code of the input error for a text without this format.
        pattern: a regular expression, in the syntax of Python and JavaScript, that matches every
            valid text completely. Pages use it to find most invalid texts before submission.
        is_decimal: whether valid texts are numbers, which some languages write with a comma.
    """

    description: str
    is_valid: Callable[[str], bool]
    error_code: str
    pattern: str
    is_decimal: bool = False


class Control(StrEnum):
    """The control with which a page asks for an answer."""

    INPUT = "input"
    TEXTAREA = "textarea"
    OPTIONS = "options"
    CHECKBOX = "checkbox"
    SCALE = "scale"
    STARS = "stars"
    SMILEYS = "smileys"
    BINARY = "binary"


@dataclass(frozen=True)
class Display:
    """How a page displays a field.

    Attributes:
        control: the control that asks for the answer.
        input_type: the HTML type of an input element; it also determines the keyboard on phones.
        input_mode: the keyboard on phones, if the type does not determine it.
        autocomplete: the HTML autofill token of an input element; ``""`` if there is none.
        ends: the meaning of the ends of a scale.
    """

    control: Control = Control.INPUT
    input_type: str = "text"
    input_mode: str = ""
    autocomplete: str = ""
    ends: Literal["", "likelihood", "quality"] = ""


@dataclass(frozen=True, kw_only=True)
class AnswerRules:
    """The rules for answers to fields of one type. By default, an answer is one text of any format.

    Attributes:
        example: a valid answer; for a type whose options come from the field, an example option.
        format: the required format of a value; None if every text is valid.
        options: the only valid values, each with its rating (0 to 10, or None if it has no rating).
            Empty if the type has no fixed values.
        options_from_field: whether the field's `values` are the valid values.
        accepts_several_values: whether an answer can have more than one value.
        identifies_by: the customer attribute that answers of this type contain, if it identifies
            the respondent: e-mail or phone number. None for other types.
        labels: how many texts the field's `values` can contain to replace the default labels of the
            options or, for a scale, of both ends; 0 if the labels are fixed.
        display: how a page displays a field of this type.
    """

    example: str
    format: AnswerFormat | None = None
    options: Mapping[str, int | None] = field(default_factory=dict)
    options_from_field: bool = False
    accepts_several_values: bool = False
    identifies_by: RespondentIdentifier | None = None
    labels: int = 0
    display: Display = Display()

    @property
    def is_rating(self) -> bool:
        """Whether the answers of this type are ratings."""
        return any(rating is not None for rating in self.options.values())

    @property
    def is_recommendation(self) -> bool:
        """Whether the answers of this type count for the Net Promoter Score."""
        return self.display.ends == "likelihood"

    def value_error(self, value: str) -> AnswerError | None:
        """Return the error of an invalid value, or None if the value is valid.

        If `options_from_field` is true, the caller must also check that the value is one of the
        field's `values`.
        """
        if self.options:
            if value in self.options:
                return None
            return AnswerError("not_allowed", f"Must be one of {', '.join(self.options)}.")
        if self.format is None or self.format.is_valid(value):
            return None
        return AnswerError(self.format.error_code, f"Must be {self.format.description}.")


_PHONE: Final = re.compile(r"\+?[0-9]{4,20}")
_PHONE_SEPARATORS: Final = re.compile(r"[\s.()/-]+")


def _is_phone_number(value: str) -> bool:
    return _PHONE.fullmatch(_PHONE_SEPARATORS.sub("", value)) is not None


def _is_number(value: str) -> bool:
    return as_number(value) is not None


def _is_date(value: str) -> bool:
    try:
        # ISO 8601 has other formats too, such as 2026-W47-5.
        return date.fromisoformat(value).isoformat() == value
    except ValueError:
        return False


_EMAIL_ADDRESS: Final = AnswerFormat(
    "an e-mail address", is_email, "invalid_email", r"[^@][\s\S]*@[^@]+"
)
_PHONE_NUMBER: Final = AnswerFormat(
    "a phone number: 4 to 20 digits, optionally with a leading + and with spaces . ( ) / -",
    _is_phone_number,
    "invalid_phone",
    r"[\s.()/\-]*\+?[\s.()/\-]*(?:[0-9][\s.()/\-]*){4,20}",
)
_NUMBER: Final = AnswerFormat(
    "a number of at most 100 characters, such as 12 or -12.5",
    _is_number,
    "invalid_number",
    r"(?=[\s\S]{1,100}$)[+\-]?[0-9]+(?:\.[0-9]+)?",
    is_decimal=True,
)
_CALENDAR_DATE: Final = AnswerFormat(
    "a date, such as 2026-11-20", _is_date, "invalid_date", "[0-9]{4}-[0-9]{2}-[0-9]{2}"
)

_OPTIONS_OF_CONTROL: Final[Mapping[Control, Sequence[str]]] = {
    Control.CHECKBOX: ("true", "false"),
    Control.SMILEYS: ("1", "2", "3", "4", "5"),
    Control.BINARY: ("satisfied", "unsatisfied"),
}
"""The options for which pages and messages have symbols and words, for controls with such."""

_LABELS_OF_CONTROL: Final = {Control.SCALE: 2, Control.SMILEYS: 5, Control.BINARY: 2}
"""The number of labels with which a definition can replace the words of a control. Default: 0."""


def incomplete_rules(rules: AnswerRules) -> str | None:
    """Return what is wrong with the rules of a field type, or None if they are complete."""
    return next((problem for is_wrong, problem in _problems(rules) if is_wrong), None)


def _problems(rules: AnswerRules) -> Iterator[tuple[bool, str]]:
    control, options = rules.display.control, tuple(rules.options)
    has_options, is_scale = bool(options) or rules.options_from_field, control is Control.SCALE
    ratings = [rating for rating in rules.options.values() if rating is not None]
    yield bool(options) and rules.options_from_field, "Its options are fixed and from the field."
    is_text = control in (Control.INPUT, Control.TEXTAREA)
    yield is_text is has_options, f"The control {control} needs {'no ' * is_text}options."
    yield (
        rules.options_from_field and control is not Control.OPTIONS,
        f"The control {control} needs fixed options.",
    )
    expected = _OPTIONS_OF_CONTROL.get(control, options)
    yield options != expected, f"The control {control} needs the options {', '.join(expected)}."
    numbers = tuple(map(str, range(1, len(options) + 1)))
    yield control is Control.STARS and options != numbers, "Stars need the options 1, 2, 3 …"
    labels = {_LABELS_OF_CONTROL.get(control, 0)}
    labels |= {len(options)} if control is Control.OPTIONS else set()
    yield rules.labels not in labels, f"`labels` must be {' or '.join(map(str, sorted(labels)))}."
    yield is_scale is not bool(rules.display.ends), "A scale, and nothing else, needs `ends`."
    yield bool(rules.format) and has_options, "A type with options has no format."
    yield (
        rules.accepts_several_values and control is not Control.OPTIONS,
        f"The control {control} accepts one value.",
    )
    yield len(ratings) not in (0, len(options)), "Some options have no rating."
    yield any(not 0 <= rating <= 10 for rating in ratings), "Ratings are 0 to 10."
    # A test validates the examples with a format: the libraries of formats would load on import.
    yield bool(options) and rules.example not in options, "The example is invalid."


_YES_OR_NO: Final = {"true": None, "false": None}
_ZERO_TO_TEN: Final = {str(n): n for n in range(11)}
_ONE_TO_FIVE: Final = {str(n): n * 2 for n in range(1, 6)}
_SATISFACTION: Final = {"satisfied": 10, "unsatisfied": 0}


class FieldType(Choice):
    """Type of a field, with the rules for its answers. Every answer is text."""

    rules: AnswerRules

    def __new__(cls, value: str, rules: AnswerRules) -> Self:
        """Create the enum member and attach the rules to it.

        Raises:
            ValueError: the rules are incomplete. Then, no module that uses field types can be
                imported, so `make check` fails.
        """
        if problem := incomplete_rules(rules):
            raise ValueError(f"Incomplete field type {value}: {problem}")
        member = str.__new__(cls, value)
        member._value_ = value
        member.rules = rules
        return member

    TEXT = "TEXT", AnswerRules(example="Table 12")
    LONG_TEXT = (
        "LONG_TEXT",
        AnswerRules(example="Everything was fine, thank you.", display=Display(Control.TEXTAREA)),
    )
    EMAIL = (
        "EMAIL",
        AnswerRules(
            example="zoe@example.com",
            format=_EMAIL_ADDRESS,
            identifies_by="email",
            display=Display(input_type="email", autocomplete="email"),
        ),
    )
    PHONE = (
        "PHONE",
        AnswerRules(
            example="+33 6 12 34 56 78",
            format=_PHONE_NUMBER,
            identifies_by="phone_number",
            display=Display(input_type="tel", autocomplete="tel"),
        ),
    )
    NUMBER = (
        "NUMBER",
        AnswerRules(example="3", format=_NUMBER, display=Display(input_mode="decimal")),
    )
    DATE = (
        "DATE",
        AnswerRules(
            example="2026-11-20", format=_CALENDAR_DATE, display=Display(input_type="date")
        ),
    )
    SINGLE_SELECT = (
        "SINGLE_SELECT",
        AnswerRules(example="Service", options_from_field=True, display=Display(Control.OPTIONS)),
    )
    MULTI_SELECT = (
        "MULTI_SELECT",
        AnswerRules(
            example="Service",
            options_from_field=True,
            accepts_several_values=True,
            display=Display(Control.OPTIONS),
        ),
    )
    CHECKBOX = (
        "CHECKBOX",
        AnswerRules(example="true", options=_YES_OR_NO, display=Display(Control.CHECKBOX)),
    )
    NPS = (
        "NPS",
        AnswerRules(
            example="10",
            options=_ZERO_TO_TEN,
            labels=2,
            display=Display(Control.SCALE, ends="likelihood"),
        ),
    )
    CSAT_STAR = (
        "CSAT_STAR",
        AnswerRules(example="5", options=_ONE_TO_FIVE, display=Display(Control.STARS)),
    )
    CSAT_SMILEY = (
        "CSAT_SMILEY",
        AnswerRules(example="5", options=_ONE_TO_FIVE, labels=5, display=Display(Control.SMILEYS)),
    )
    BINARY = (
        "BINARY",
        AnswerRules(
            example="satisfied", options=_SATISFACTION, labels=2, display=Display(Control.BINARY)
        ),
    )
    RATING = (
        "RATING",
        AnswerRules(
            example="9",
            options=_ZERO_TO_TEN,
            labels=2,
            display=Display(Control.SCALE, ends="quality"),
        ),
    )
