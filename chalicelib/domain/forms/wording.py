"""The wording of a form's questions: a version of the form, as respondents saw it.

A version is named by the hash of its content, so saving the same wording again adds no version. It
contains no personal data, and is never deleted.
"""

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Final, Self

from pydantic import Field, StringConstraints

from chalicelib.domain.forms.field_types import FieldType
from chalicelib.domain.forms.form import SavedForm
from chalicelib.domain.forms.layout import fields_in_order
from chalicelib.domain.forms.option_texts import named_options
from chalicelib.domain.language import Language
from chalicelib.domain.schema import Resource

_VERSION_DIGITS: Final = 32

FormVersion = Annotated[str, StringConstraints(pattern=f"^[0-9a-f]{{{_VERSION_DIGITS}}}$")]
"""The version of a form: a hash in hexadecimal digits."""


class QuestionTexts(Resource):
    """The label of a field, and the texts of its options, in one language."""

    label: str
    values: list[str] = []


class Question(QuestionTexts):
    """A field, with its texts in the form's original language and in other languages.

    Translated ``values`` have the same number and order as the original ones, or are empty.
    """

    id: str
    key: str
    type: FieldType
    translations: dict[Language, QuestionTexts] = {}

    def label_in(self, language: Language) -> str:
        """Return the label that respondents saw in this language."""
        texts = self.translations.get(language)
        return (texts.label if texts else "") or self.label

    def displayed(self, value: str, language: Language) -> str:
        """Return the text that respondents saw for a stored value.

        The stored value of an option of a select field is its text in the original language.
        """
        position, texts = self._positions.get(value), self.translations.get(language)
        if position is None:
            return value
        translated = texts.values[position] if texts and texts.values else ""
        return translated or self.values[position]

    @cached_property
    def _positions(self) -> Mapping[str, int]:
        """The position of each option in ``values``."""
        options = named_options(self.type, self.values)
        return {option: position for position, option in enumerate(options)}


class Answer(Resource):
    """A valid answer to a visible field. The values are in the form's original language."""

    field_id: str
    key: str
    type: FieldType
    values: list[str]


@dataclass(frozen=True)
class AnsweredQuestion:
    """An answer and its wording: the label of its field, and the displayed values."""

    answer: Answer
    label: str
    displayed_values: list[str]

    @property
    def texts(self) -> list[str]:
        """The label and the displayed values."""
        return [self.label, *self.displayed_values]


class FormWording(Resource):
    """The questions of a form, in display order."""

    questions: list[Question] = Field(default=[])

    @classmethod
    def of(cls, form: SavedForm) -> Self:
        """Return the wording of a saved form."""
        return cls(
            questions=[
                Question(
                    id=field.id,
                    key=field.key,
                    type=field.type,
                    label=field.label,
                    values=field.values,
                    translations={
                        language: QuestionTexts(label=texts.label, values=texts.values)
                        for language in sorted(form.translations)
                        if (texts := form.translations[language].fields.get(field.key))
                    },
                )
                for field in fields_in_order(form)
            ]
        )

    def content(self) -> bytes:
        """Return the wording as JSON."""
        return self.model_dump_json().encode()

    @property
    def version(self) -> str:
        """The version that this wording is: the hash of its content."""
        return hashlib.sha256(self.content()).hexdigest()[:_VERSION_DIGITS]

    def of_answers(self, answers: Iterable[Answer], language: Language) -> list[AnsweredQuestion]:
        """Return the answers in display order, each with its wording in this language.

        Answers to unknown fields follow at the end. Their label is the key of the field.
        """
        asked = {question.id: question for question in self.questions}
        order = {field_id: position for position, field_id in enumerate(asked)}
        wordings = []
        for answer in sorted(answers, key=lambda each: order.get(each.field_id, len(order))):
            label, displayed = answer.key, answer.values
            if question := asked.get(answer.field_id):
                label = question.label_in(language)
                displayed = [question.displayed(value, language) for value in answer.values]
            wordings.append(AnsweredQuestion(answer, label, displayed))
        return wordings
