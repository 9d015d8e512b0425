"""Judging what was submitted: which answers count, what is wrong with them, what they rate."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Self

from pydantic import Field

from chalicelib.domain.errors import InvalidInput
from chalicelib.domain.forms.answer_rules import Reply, reply_errors
from chalicelib.domain.forms.fields import SELECT_TYPES, FieldType, FieldTypeName, SavedField
from chalicelib.domain.forms.form import SavedForm
from chalicelib.domain.forms.rating import RATING_TYPES, rating_of
from chalicelib.domain.forms.visibility import Visibility
from chalicelib.domain.input_errors import InputError, json_pointer
from chalicelib.domain.schema import Identifier, Input, Resource

MAX_VALUES: Final = 1000


class SubmittedAnswer(Input):
    """What was submitted for one field. An empty value is the same as none."""

    id: Identifier = Field(description="Identifier of the field.")
    values: list[str] = Field(
        default=[],
        max_length=MAX_VALUES,
        description="The answer: one value, or several if the field accepts several.",
    )


class Answer(Resource):
    """An answer that counts: to a field that is shown, in the form's own words."""

    field_id: str
    key: str
    type: FieldTypeName
    values: list[str]


@dataclass(frozen=True)
class ValidatedAnswers:
    """A submission that keeps every rule.

    Attributes:
        answers: the answers that count, in display order; those to hidden fields are not among
            them.
        rating: what the first rating field that was answered rates, 0 to 10.
    """

    answers: Sequence[Answer]
    rating: int | None

    def first_value(self, kind: FieldType) -> str | None:
        """The first answer to a field of this type, such as the respondent's e-mail address."""
        return next((answer.values[0] for answer in self.answers if answer.type is kind), None)


@dataclass(frozen=True)
class Questionnaire:
    """A form made ready for judging; made once, it judges any number of submissions.

    Attributes:
        fields: the form's fields by id, in display order: by row, then by place within it.
        visibility: which of them are shown.
        own_words: for each field to choose from, its translated values and what they stand for.
    """

    fields: Mapping[str, SavedField]
    visibility: Visibility
    own_words: Mapping[str, Mapping[str, str]]

    @classmethod
    def of(cls, form: SavedForm) -> Self:
        """The questionnaire that a form is."""
        displayed = sorted(form.fields, key=lambda f: (f.vertical_index, f.horizontal_index))
        return cls(
            fields={field.id: field for field in displayed},
            visibility=Visibility.of(form.fields, form.field_dependencies),
            own_words={
                field.id: _own_words(form, field)
                for field in form.fields
                if field.type in SELECT_TYPES
            },
        )

    def validate(self, given: Sequence[SubmittedAnswer]) -> ValidatedAnswers:
        """The answers that count and their rating.

        Raises:
            InvalidInput: with every fault of the submission; pointers begin at ``/fields``.
        """
        errors = list(self._identity_errors(given))
        positions = self._positions(given)
        replies = {field: self._replies(given[place]) for field, place in positions.items()}
        # A field of one value that was given several has a fault; only its first one decides.
        visible = self.visibility.visible_fields(
            {field: self._deciding_values(field, items) for field, items in replies.items()}
        )
        shown = [field for field in self.fields.values() if field.id in visible]
        for field in shown:
            answered = replies.get(field.id, [])
            if answered:
                errors.extend(reply_errors(field, answered, "fields", positions[field.id]))
            elif field.required:
                errors.append(_unanswered(field, positions.get(field.id)))
        if errors:
            raise InvalidInput(sorted(errors, key=_document_order))
        answers = [
            Answer(
                field_id=field.id,
                key=field.key,
                type=field.type,
                values=[reply.value for reply in replies[field.id]],
            )
            for field in shown
            if replies.get(field.id)
        ]
        return ValidatedAnswers(answers, _rating(answers))

    def _identity_errors(self, given: Sequence[SubmittedAnswer]) -> Iterator[InputError]:
        seen: set[str] = set()
        for position, answer in enumerate(given):
            if answer.id not in self.fields:
                detail = f"The form has no field with the id {answer.id}."
                yield InputError(json_pointer("fields", position), "unknown_reference", detail)
            elif answer.id in seen:
                detail = f"The field {answer.id} was answered before."
                yield InputError(json_pointer("fields", position), "duplicate", detail)
            seen.add(answer.id)

    def _positions(self, given: Sequence[SubmittedAnswer]) -> dict[str, int]:
        """Where each field is answered first."""
        positions: dict[str, int] = {}
        for position, answer in enumerate(given):
            if answer.id in self.fields:
                positions.setdefault(answer.id, position)
        return positions

    def _replies(self, answer: SubmittedAnswer) -> list[Reply]:
        own_words = self.own_words.get(answer.id, {})
        return [
            Reply(own_words.get(value, value), position)
            for position, value in enumerate(answer.values)
            if value
        ]

    def _deciding_values(self, field_id: str, replies: Sequence[Reply]) -> list[str]:
        several = self.fields[field_id].type is FieldType.MULTI_SELECT
        return [reply.value for reply in (replies if several else replies[:1])]


def _own_words(form: SavedForm, field: SavedField) -> dict[str, str]:
    own_words: dict[str, str] = {}
    for texts in form.translations.values():
        translation = texts.fields.get(field.key)
        if translation and translation.values:
            for value, text in zip(field.values, translation.values, strict=True):
                own_words.setdefault(text, value)
    return own_words | {value: value for value in field.values}


def _unanswered(field: SavedField, position: int | None) -> InputError:
    path = ("fields",) if position is None else ("fields", position)
    return InputError(json_pointer(*path), "required", f"The field {field.id} must be answered.")


def _rating(answers: Sequence[Answer]) -> int | None:
    rated = next((answer for answer in answers if answer.type in RATING_TYPES), None)
    return rating_of(rated.type, rated.values[0]) if rated else None


def _document_order(input_error: InputError) -> list[int]:
    return [int(step) for step in input_error.pointer.split("/") if step.isdigit()]
