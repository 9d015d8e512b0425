"""Build the fields that the templates display: names, options, hints and errors."""

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Final

from chalicelib.domain.comparison import Comparator, parse_list
from chalicelib.domain.forms.field_types import AnswerRules, Control
from chalicelib.domain.forms.fields import PublicFieldDependency, SavedField
from chalicelib.domain.forms.form import SavedForm
from chalicelib.domain.forms.option_texts import control_texts, own_labels, translated_values
from chalicelib.domain.forms.translation import FieldTranslation, FormTranslation
from chalicelib.web.pages.words import PageWords

Answers = Mapping[str, Sequence[str]]
"""The values of each answer by field id, in the form's original language."""

_END_MARKS: Final = ("?", "!", ".", ":", "؟", "？", "。")
_MAX_RADIOS: Final = 7
"""Maximum number of options that are displayed as radio buttons instead of a drop-down list.

A field to which the respondent can add another answer always has radio buttons.
"""


@dataclass(frozen=True)
class DisplayedOption:
    """An option of a field.

    Attributes:
        text: the label.
    """

    value: str
    text: str
    is_checked: bool


@dataclass(frozen=True)
class DisplayedField:
    """A field as the templates display it.

    Attributes:
        number: the position of the field in the form; it is part of all names and ids.
        key: the HTML id of the first element of the control. Error messages link to this element.
        name: the name of the form part that contains the values.
        value: the text of an input element.
        own_value: the answer that the respondent typed instead of selecting an option.
        ends: the labels of both ends of a scale.
        error: the error of the answer; ``""`` if there is none.
    """

    number: int
    key: str
    name: str
    control: str
    label: str
    id: str = ""
    hint: str = ""
    placeholder: str = ""
    input_type: str = "text"
    input_mode: str = ""
    autocomplete: str = ""
    is_required: bool = False
    is_visible: bool = True
    accepts_several: bool = False
    accepts_own_value: bool = False
    value: str = ""
    own_value: str = ""
    options: Sequence[DisplayedOption] = ()
    ends: Sequence[str] = ("", "")
    error: str = ""

    @property
    def is_answered(self) -> bool:
        """Whether there is an answer, for example from the link."""
        selected = any(option.is_checked for option in self.options)
        return bool(selected or self.value or self.own_value)

    @property
    def summary(self) -> str:
        """The label and the error, as the error summary displays them."""
        return f"{self.label}{'' if self.label.endswith(_END_MARKS) else ':'} {self.error}"


def displayed_fields(
    form: SavedForm,
    words: PageWords,
    answers: Answers,
    visible: Set[str],
    errors: Mapping[str, str],
) -> dict[str, DisplayedField]:
    """Return the fields of a form with the respondent's answers and their errors, by id.

    Args:
        words: the words in the language of the page.
        visible: the ids of the visible fields.
        errors: the code of the error of each invalid answer, by field id.
    """
    yes_or_no = yes_or_no_fields(form.field_dependencies)
    translations = form.translations.get(words.language, FormTranslation()).fields
    displayed: dict[str, DisplayedField] = {}
    for number, field in enumerate(form.fields):
        translation = translations.get(field.key, FieldTranslation())
        display, values = field.type.rules.display, answers.get(field.id, ())
        placeholder = translation.placeholder or field.placeholder
        texts, ends = _option_texts(field, translation, words)
        control = control_of(field, yes_or_no)
        code = errors.get(field.id)
        displayed[field.id] = DisplayedField(
            number=number,
            key=f"q{number}",
            name=f"fields[{number}][values][]",
            id=field.id,
            control="list" if _is_list(field) else control,
            label=translation.label or field.label,
            hint=_hint(field, placeholder, words),
            placeholder=placeholder,
            input_type=display.input_type,
            input_mode=display.input_mode,
            autocomplete=display.autocomplete,
            is_required=field.required,
            is_visible=field.id in visible,
            accepts_several=field.type.rules.accepts_several_values,
            accepts_own_value=display.control is Control.OPTIONS and field.allow_custom_value,
            value=values[0] if values and not texts else "",
            own_value=next((value for value in values if value not in texts), ""),
            options=[DisplayedOption(*each, each[0] in values) for each in texts.items()],
            ends=ends,
            error=error_text(field, control, code, words) if code else "",
        )
    return displayed


def yes_or_no_fields(
    dependencies: Iterable[PublicFieldDependency],
) -> frozenset[str]:
    """Return the ids of the checkboxes for which a condition depends on the answer `false`.

    A page displays such a checkbox as two options, because the answer to an empty checkbox is not
    `false`: the field has no answer.
    """
    return frozenset(
        dependency.depends_on_field
        for dependency in dependencies
        for expected in dependency.depends_on_field_values
        if expected.operator is not Comparator.EXISTS and "false" in parse_list(expected.value)
    )


def control_of(field: SavedField, yes_or_no: frozenset[str]) -> Control:
    """Return the control that asks for the answer to this field."""
    control = field.type.rules.display.control
    return Control.OPTIONS if control is Control.CHECKBOX and field.id in yes_or_no else control


def error_text(field: SavedField, control: Control, code: str, words: PageWords) -> str:
    """Return the error message for an error code of an answer to this field."""
    several = field.type.rules.accepts_several_values
    match code:
        case "required" if control is Control.CHECKBOX:
            return words.errors["tick"]
        case "required" if control not in (Control.INPUT, Control.TEXTAREA):
            return words.errors["choose"]
        case "required" if field.type.rules.format:
            return words.errors[field.type.rules.format.error_code]
        case "too_many":
            return words.at_most(field.max_replies) if several else words.errors["one"]
        case "too_few":
            return words.at_least(field.min_replies)
    return words.errors.get(code, words.errors["invalid"])


def _is_list(field: SavedField) -> bool:
    is_choice = field.type.rules.display.control is Control.OPTIONS
    several = field.type.rules.accepts_several_values or field.allow_custom_value
    return is_choice and len(field.values) > _MAX_RADIOS and not several


def _hint(field: SavedField, placeholder: str, words: PageWords) -> str:
    control = field.type.rules.display.control
    if control in (Control.INPUT, Control.TEXTAREA, Control.CHECKBOX):
        return ""
    if control is not Control.OPTIONS or placeholder:
        return "" if _is_list(field) else placeholder
    limits = [words.at_least(field.min_replies)] if field.allow_min_replies else []
    limits += [words.at_most(field.max_replies)] if field.allow_max_replies else []
    return " ".join(limits) if field.type.rules.accepts_several_values else ""


def _option_texts(
    field: SavedField, translation: FieldTranslation, words: PageWords
) -> tuple[Mapping[str, str], tuple[str, ...]]:
    """Return the text of each option, and those of both ends; see `control_texts`."""
    if field.type.rules.options:
        return control_labels(field.type.rules, own_labels(field, translation), words)
    if not field.type.rules.options_from_field:
        return {}, ("", "")
    texts = translated_values(field.values, translation.values)
    return dict(zip(field.values, texts, strict=True)), ("", "")


def control_labels(
    rules: AnswerRules, own: Sequence[str], words: PageWords
) -> tuple[Mapping[str, str], tuple[str, ...]]:
    """Return the label of each fixed option, and those of both ends; see `control_texts`."""
    labels, ends = control_texts(rules, own, words.options)
    if rules.display.control is Control.STARS:
        labels = {value: words.stars(int(value)) for value in rules.options}
    return labels, ends
