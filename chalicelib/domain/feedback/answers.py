"""Validate the answers of a submission and determine the rating that they contain."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice
from typing import Annotated, Final, NamedTuple, Self

from pydantic import Field, StringConstraints

from chalicelib.domain.errors import InvalidInput
from chalicelib.domain.forms.field_types import AnswerError, FieldType
from chalicelib.domain.forms.fields import SavedField
from chalicelib.domain.forms.form import SavedForm
from chalicelib.domain.forms.layout import fields_in_order
from chalicelib.domain.forms.option_texts import named_options
from chalicelib.domain.forms.visibility import Conditions, conditions_of, visible_fields
from chalicelib.domain.forms.wording import Answer
from chalicelib.domain.input_errors import MAX_ERRORS, InputError
from chalicelib.domain.language import Language, uses_decimal_comma
from chalicelib.domain.schema import Identifier, Input

MAX_VALUES: Final = 1_000
"""Maximum number of values of one answer."""
MAX_VALUE: Final = 10_000
"""Maximum number of characters of one value."""

_OPTIONS_FROM_FIELD: Final = next(kind for kind in FieldType if kind.rules.options_from_field)
"""A type whose only valid answers are the field's `values`."""

_DECIMAL_COMMA: Final = re.compile(r"[+-]?[0-9]+,[0-9]+")
_DUPLICATE_VALUE: Final = AnswerError("duplicate", "Duplicate value.")
_NOT_A_FIELD_VALUE: Final = AnswerError("not_allowed", "Must be one of the field's values.")


class SubmittedAnswer(Input):
    """The submitted answer to one field. Empty values are ignored."""

    id: Identifier = Field(description="Identifier of the field.")
    values: list[Annotated[str, StringConstraints(max_length=MAX_VALUE)]] = Field(
        default=[],
        max_length=MAX_VALUES,
        description="Values of the answer. Only some field types allow more than one value.",
    )


@dataclass(frozen=True)
class ValidatedAnswers:
    """The result of a valid submission.

    Attributes:
        answers: the answers to visible fields, in display order.
        rating: the first rating in display order, 0 to 10; None if no rating field is answered.
    """

    answers: Sequence[Answer]
    rating: int | None


class _Value(NamedTuple):
    text: str
    position: int
    """Index in the submitted list of values. The index also counts empty values, which are ignored.
    """


@dataclass(frozen=True)
class Questionnaire:
    """The data that is needed to validate the answers to a form.

    Build it once per form and use it for all submissions.

    Attributes:
        fields: the form's fields by id, in display order.
        conditions: the conditions under which the fields are visible.
        canonical_values: for each select field, a map from each translated value to the value in
            the form's original language; for each other field whose options have labels, a map from
            each label to the accepted value.
    """

    fields: Mapping[str, SavedField]
    conditions: Conditions
    canonical_values: Mapping[str, Mapping[str, str]]

    @classmethod
    def of(cls, form: SavedForm) -> Self:
        """Build the questionnaire of a form."""
        return cls(
            fields={field.id: field for field in fields_in_order(form)},
            conditions=conditions_of(form.fields, form.field_dependencies),
            canonical_values={
                field.id: _canonical_values(form, field, options)
                for field in form.fields
                if (options := named_options(field.type, field.values))
            },
        )

    @cached_property
    def of_taps(self) -> Self:
        """The questionnaire that validates tapped answers: options only, and none is required."""
        relaxed = {"required": False, "allow_min_replies": False, "allow_custom_value": False}
        without_text = relaxed | {"type": _OPTIONS_FROM_FIELD, "values": []}
        fields = {
            field.id: field.model_copy(update=relaxed if field.has_options else without_text)
            for field in self.fields.values()
        }
        return replace(self, fields=fields)

    def validate(
        self, submitted: Sequence[SubmittedAnswer], other_errors: Sequence[InputError] = ()
    ) -> ValidatedAnswers:
        """Validate the submitted answers. Return the answers to visible fields, and the rating.

        Args:
            other_errors: errors in other parts of the submission. The exception lists them first.

        Raises:
            InvalidInput: an answer is invalid, or there are other errors. The exception lists at
                most `MAX_ERRORS` errors. The pointers of answer errors start with ``/fields``.
        """
        errors = [*other_errors, *islice(self._field_id_errors(submitted), MAX_ERRORS)]
        # The first of several answers to a field counts.
        positions: dict[str, int] = {}
        for position, answer in enumerate(submitted):
            if answer.id in self.fields:
                positions.setdefault(answer.id, position)
        values = {
            field: self._values_of(field, submitted[position].values)
            for field, position in positions.items()
        }
        visible = self._visible_fields(values)
        answers = []
        for field in self.fields.values():
            if len(errors) >= MAX_ERRORS:
                break
            if field.id not in visible:
                continue
            field_values = values.get(field.id)
            if field_values:
                errors.extend(_answer_errors(field, field_values, "fields", positions[field.id]))
                answers.append(
                    Answer(
                        field_id=field.id,
                        key=field.key,
                        type=field.type,
                        values=[value.text for value in field_values],
                    )
                )
            elif field.required:
                errors.append(_required_error(field, positions.get(field.id)))
        if errors:
            raise InvalidInput(sorted(errors[:MAX_ERRORS], key=_submission_order))
        return ValidatedAnswers(answers, _first_rating(answers))

    def with_decimal_points(
        self, submitted: Sequence[SubmittedAnswer], language: Language
    ) -> Sequence[SubmittedAnswer]:
        """Replace the decimal comma in numbers, such as 12,5, if the language has one."""
        if not uses_decimal_comma(language):
            return submitted
        formats = {field.id: field.type.rules.format for field in self.fields.values()}
        return [
            answer.model_copy(update={"values": [_with_point(value) for value in answer.values]})
            if (answer_format := formats.get(answer.id)) and answer_format.is_decimal
            else answer
            for answer in submitted
        ]

    def visible_fields(self, answers: Mapping[str, Sequence[str]]) -> set[str]:
        """Return the ids of the fields that are visible with these answers.

        Args:
            answers: the trimmed values of each answer, by field id. Unknown fields are ignored.
        """
        return self._visible_fields(
            {
                field: self._values_of(field, values)
                for field, values in answers.items()
                if field in self.fields
            }
        )

    def rating_of(self, answers: Mapping[str, Sequence[str]]) -> int | None:
        """Return the first rating in display order of valid answers by field id, or None."""
        ratings = (
            field.type.rules.options.get(answers[field.id][0])
            for field in self.fields.values()
            if answers.get(field.id)
        )
        return next((rating for rating in ratings if rating is not None), None)

    def preselected(self, values_by_key: Mapping[str, Sequence[str]]) -> dict[str, Sequence[str]]:
        """Return the valid preselected answers to option and scale fields, by field id.

        Args:
            values_by_key: the values of the query parameters, by field key.
        """
        answers: dict[str, Sequence[str]] = {}
        for field in self.fields.values():
            if field.key not in values_by_key:
                continue
            rules = field.type.rules
            options = field.values if rules.options_from_field else rules.options
            values = self.canonical(field.id, values_by_key[field.key])
            valid = list(dict.fromkeys(value for value in values if value in options))
            if not rules.accepts_several_values:
                valid = valid[-1:]
            elif field.allow_max_replies:
                valid = valid[: field.max_replies]
            if valid:
                answers[field.id] = valid
        return answers

    def canonical(self, field_id: str, texts: Sequence[str]) -> list[str]:
        """Return the values in the form's original language, without empty values."""
        return [value.text for value in self._values_of(field_id, texts)]

    def _visible_fields(self, values: Mapping[str, Sequence[_Value]]) -> set[str]:
        compared = {field: self._compared_values(field, items) for field, items in values.items()}
        return visible_fields(self.conditions, compared)

    def _field_id_errors(self, submitted: Sequence[SubmittedAnswer]) -> Iterator[InputError]:
        seen: set[str] = set()
        for position, answer in enumerate(submitted):
            if answer.id not in self.fields:
                detail = f"The form has no field with the id {answer.id}."
                yield InputError.at(("fields", position), "unknown_reference", detail)
            elif answer.id in seen:
                detail = f"Duplicate answer to the field {answer.id}."
                yield InputError.at(("fields", position), "duplicate", detail)
            seen.add(answer.id)

    def _values_of(self, field_id: str, texts: Sequence[str]) -> list[_Value]:
        canonical = self.canonical_values.get(field_id, {})
        return [
            _Value(canonical.get(text, text), position)
            for position, text in enumerate(texts)
            if text
        ]

    def _compared_values(self, field_id: str, values: Sequence[_Value]) -> list[str]:
        """Return the values that field dependencies compare.

        These are all values or, for a field that accepts only one value, the first value.
        """
        accepts_several = self.fields[field_id].type.rules.accepts_several_values
        return [value.text for value in (values if accepts_several else values[:1])]


def _with_point(text: str) -> str:
    return text.replace(",", ".", 1) if _DECIMAL_COMMA.fullmatch(text) else text


def _canonical_values(form: SavedForm, field: SavedField, options: Sequence[str]) -> dict[str, str]:
    canonical = {value: value for value in options}
    translations = [texts.fields.get(field.key) for texts in form.translations.values()]
    for texts in (field.values, *(each.values for each in translations if each and each.values)):
        for text, value in zip(texts, options, strict=True):
            canonical.setdefault(text, value)
    return canonical


def _answer_errors(
    field: SavedField, values: Sequence[_Value], *path: str | int
) -> Iterator[InputError]:
    count = len(values)
    if count > 1 and not field.type.rules.accepts_several_values:
        # It is unknown which of the values the respondent means, so none of them is validated.
        yield InputError.at(path, "too_many", "Must have at most one value.")
        return
    if field.allow_max_replies and count > field.max_replies:
        noun = "value" if field.max_replies == 1 else "values"
        detail = f"Must have at most {field.max_replies} {noun}."
        yield InputError.at(path, "too_many", detail)
    if field.allow_min_replies and count < field.min_replies:
        detail = f"Must have at least {field.min_replies} values."
        yield InputError.at(path, "too_few", detail)
    seen: set[str] = set()
    for text, position in values:
        error = _DUPLICATE_VALUE if text in seen else _value_error(field, text)
        if error:
            yield InputError.at((*path, "values", position), error.code, error.detail)
        seen.add(text)


def _value_error(field: SavedField, value: str) -> AnswerError | None:
    if not field.type.rules.options_from_field:
        return field.type.rules.value_error(value)
    return None if field.allow_custom_value or value in field.values else _NOT_A_FIELD_VALUE


def _required_error(field: SavedField, position: int | None) -> InputError:
    path = ("fields",) if position is None else ("fields", position)
    return InputError.at(path, "required", f"The field {field.id} must be answered.")


def _first_rating(answers: Sequence[Answer]) -> int | None:
    ratings = (answer.type.rules.options.get(answer.values[0]) for answer in answers)
    return next((rating for rating in ratings if rating is not None), None)


def _submission_order(input_error: InputError) -> list[int]:
    return [step for step in input_error.path if isinstance(step, int)]
