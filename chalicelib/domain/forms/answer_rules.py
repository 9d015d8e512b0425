"""What may be answered to one field: how many values, and which."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Final

from pydantic import TypeAdapter, ValidationError

from chalicelib.domain.comparison import as_number
from chalicelib.domain.forms.fields import FIXED_ANSWERS, SELECT_TYPES, FieldType, SavedField
from chalicelib.domain.input_errors import InputError, json_pointer
from chalicelib.domain.schema import Email

_EMAIL: Final = TypeAdapter[str](Email)
_PHONE: Final = re.compile(r"\+?[0-9]{4,20}")
_PHONE_SEPARATORS: Final = re.compile(r"[\s.()/-]+")
_DATE: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")


@dataclass(frozen=True)
class Reply:
    """One value that was answered.

    Attributes:
        value: the value, in the form's own words where it is one of them.
        position: its place among the values that were sent.
    """

    value: str
    position: int


@dataclass(frozen=True)
class Refusal:
    """An `InputError` without its pointer, which is added only when there is an error."""

    code: str
    detail: str


_SEEN_BEFORE: Final = Refusal("duplicate", "This value stood before; it may be there only once.")


def reply_errors(
    field: SavedField, replies: Sequence[Reply], *path: str | int
) -> Iterator[InputError]:
    """Everything that is wrong with an answer of at least one value to a field that is shown."""
    if field.type is not FieldType.MULTI_SELECT and len(replies) > 1:
        # Which of the values is meant cannot be known, so none of them is judged.
        yield InputError(json_pointer(*path), "too_many", "This field takes one value.")
        return
    if field.allow_max_replies and len(replies) > field.max_replies:
        yield InputError(
            json_pointer(*path), "too_many", f"This field takes at most {field.max_replies} values."
        )
    if field.allow_min_replies and len(replies) < field.min_replies:
        yield InputError(
            json_pointer(*path), "too_few", f"This field takes at least {field.min_replies} values."
        )
    seen: set[str] = set()
    for reply in replies:
        if reply.value in seen:
            refusal: Refusal | None = _SEEN_BEFORE
        else:
            refusal = refusal_of(field, reply.value)
        if refusal:
            where = json_pointer(*path, "values", reply.position)
            yield InputError(where, refusal.code, refusal.detail)
        seen.add(reply.value)


def refusal_of(field: SavedField, value: str) -> Refusal | None:
    """Why the field does not take a value, or None."""
    if field.type in SELECT_TYPES:
        if field.allow_custom_value or value in field.values:
            return None
        return Refusal("not_allowed", "This is none of the field's values.")
    if field.type in FIXED_ANSWERS:
        if value in FIXED_ANSWERS[field.type]:
            return None
        answers = ", ".join(FIXED_ANSWERS[field.type])
        return Refusal("not_allowed", f"This must be one of {answers}.")
    match field.type:
        case FieldType.EMAIL if not _is_email(value):
            return Refusal("invalid_email", "Must be an e-mail address.")
        case FieldType.PHONE if not _is_phone(value):
            return Refusal("invalid_phone", "This must be a phone number.")
        case FieldType.NUMBER if as_number(value) is None:
            return Refusal("invalid_number", "This must be a number, such as 12 or 12.5.")
        case FieldType.DATE if not _is_date(value):
            return Refusal("invalid_date", "This must be a date, such as 2026-11-20.")
    return None


def _is_email(value: str) -> bool:
    try:
        _EMAIL.validate_python(value)
    except ValidationError:
        return False
    return True


def _is_phone(value: str) -> bool:
    return _PHONE.fullmatch(_PHONE_SEPARATORS.sub("", value)) is not None


def _is_date(value: str) -> bool:
    if not _DATE.fullmatch(value):
        return False
    try:
        date.fromisoformat(value)
    except ValueError:
        return False
    return True
