"""Parse the parts of a multipart body into a submission.

Clients encode ``fields`` in one of three ways: one part with a JSON array; one part with a JSON
object per item; or one part per value, named ``fields[0][id]``, ``fields[0][values][0]`` or
``fields[0][values][]``.
"""

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Generic, TypeVar

from chalicelib.domain.errors import InvalidInput
from chalicelib.domain.feedback.submission import ContactFormSubmission, SurveySubmission
from chalicelib.domain.idempotency import PART as IDEMPOTENCY_PART
from chalicelib.domain.idempotency import read_key
from chalicelib.domain.ids import parse_id
from chalicelib.domain.input_errors import InputError, json_pointer
from chalicelib.domain.parsing import DuplicateProperty, json_object, parse
from chalicelib.domain.schema import WHITE_SPACE
from chalicelib.web.public.multipart import JSON_PARTS, Part

HONEYPOT: Final = "homepage"
"""The name of the honeypot part. Forms hide this field from respondents, so only bots fill it."""

_LEAF: Final = re.compile(r"fields\[([0-9]{1,9})\]\[(id|values)\](?:\[([0-9]{0,9})\])?")
_UNSET: Final = ("", "null")
"""Texts that clients send for an unset value: `FormData` converts ``null`` to text."""

Submission = TypeVar("Submission", ContactFormSubmission, SurveySubmission)


@dataclass(frozen=True)
class SubmissionBody(Generic[Submission]):
    """A submission, its idempotency key, and whether the honeypot is filled.

    Attributes:
        idempotency_key: the key in the form part `idempotencyKey`; None if there is none.
    """

    submission: Submission
    is_honeypot_filled: bool
    idempotency_key: str | None = None


def read_form_id(parts: Sequence[Part]) -> str:
    """Return the form id in a submission, or ``""`` if the id is missing or invalid."""
    return parse_id(next((value for name, value in parts if name == "id"), "").strip()) or ""


def has_tracker(parts: Sequence[Part]) -> bool:
    """Return whether a submission has a tracker, valid or not."""
    return any(name == "tracker" and value.strip() not in _UNSET for name, value in parts)


def parse_submission(parts: Sequence[Part], model: type[Submission]) -> SubmissionBody[Submission]:
    """Parse the parts into a submission.

    Raises:
        InvalidInput: a part is unknown, a duplicate or invalid. Lists every error.
    """
    plain, field_parts, errors = _sort_parts(parts, model)
    repeated = {error.pointer for error in errors if error.code == "duplicate"}
    content: dict[str, Any] = {
        name: value for name, value in plain.items() if value.strip() not in _UNSET
    }
    honeypot = content.pop(HONEYPOT, None)
    key = content.pop(IDEMPOTENCY_PART, None)
    try:
        read_key(key, json_pointer(IDEMPOTENCY_PART))
    except InvalidInput as error:
        errors.extend(error.errors)
    try:
        content["fields"] = field_parts.as_array()
    except InvalidInput as error:
        errors.extend(error.errors)
    try:
        submission = parse(content, model)
    except InvalidInput as error:
        # A duplicate part is already reported. If the first duplicate is empty, do not also report
        # the part as missing.
        errors.extend(
            input_error for input_error in error.errors if input_error.pointer not in repeated
        )
        raise InvalidInput(errors) from None
    if errors:
        raise InvalidInput(errors)
    return SubmissionBody(submission, honeypot is not None, key)


def _sort_parts(
    parts: Sequence[Part], model: type[ContactFormSubmission] | type[SurveySubmission]
) -> tuple[dict[str, str], "_FieldParts", list[InputError]]:
    """Return the parts with one value by name, the parts of ``fields``, and the errors."""
    known = {description.alias or name for name, description in model.model_fields.items()}
    known |= {HONEYPOT, IDEMPOTENCY_PART}
    plain: dict[str, str] = {}
    field_parts = _FieldParts()
    errors: list[InputError] = []
    for name, value in parts:
        if name in JSON_PARTS:
            field_parts.items.append(value)
        elif leaf := _LEAF.fullmatch(name):
            errors.extend(field_parts.add_leaf(leaf, value))
        elif name not in known:
            errors.append(InputError(json_pointer(name), "unknown_key", "Unknown part."))
        elif name in plain:
            errors.append(InputError(json_pointer(name), "duplicate", "Duplicate part."))
        else:
            plain[name] = value
    return plain, field_parts, errors


def posted_answers(parts: Sequence[Part]) -> list[tuple[str, list[str]]]:
    """Return the field id and the trimmed values of each answer, in the order of the parts.

    If the parts encode no valid array, return no answers. The caller reports the error.
    """
    # The model affects only the plain parts and the errors, which are ignored here.
    _, field_parts, _ = _sort_parts(parts, SurveySubmission)
    try:
        return [_posted_answer(item) for item in field_parts.as_array()]
    except InvalidInput:
        return []


def _posted_answer(item: Any) -> tuple[str, list[str]]:
    if not isinstance(item, dict):
        return "", []
    values = item.get("values")
    texts = values if isinstance(values, list) else []
    return (
        parse_id(str(item.get("id") or "").strip(WHITE_SPACE)) or "",
        [text.strip(WHITE_SPACE) for text in texts if isinstance(text, str)],
    )


@dataclass
class _Leaves:
    """The id and the values of one item of ``fields``.

    If all values are numbered, they are sorted by number. Otherwise, they are in the order of the
    parts of the body.
    """

    id: str | None = None
    values: list[tuple[int | None, str]] = field(default_factory=list)

    def as_object(self) -> dict[str, Any]:
        numbers = [number for number, _ in self.values]
        in_order: Iterable[tuple[int | None, str]] = self.values
        if None not in numbers:
            in_order = sorted(self.values, key=lambda numbered: numbered[0] or 0)
        return {"id": self.id, "values": [value for _, value in in_order]}


@dataclass
class _FieldParts:
    """The parts that encode the array ``fields``.

    Attributes:
        items: JSON strings; each encodes the complete array or one of its items.
        leaves: items that are sent as one part per value, by their number: 0 for the part
            ``fields[0][id]``. The numbers set the order; gaps are allowed.
    """

    items: list[str] = field(default_factory=list)
    leaves: dict[int, _Leaves] = field(default_factory=dict)

    def add_leaf(self, leaf: re.Match[str], value: str) -> list[InputError]:
        item, key, number = leaf.groups()
        pointer = json_pointer(leaf.string)
        if key == "id" and number is not None:
            return [InputError(pointer, "unknown_key", "Unknown part.")]
        leaves = self.leaves.setdefault(int(item), _Leaves())
        if key == "id":
            if leaves.id is not None:
                return [InputError(pointer, "duplicate", "Duplicate part.")]
            leaves.id = value
        else:
            leaves.values.append((int(number) if number else None, value))
        return []

    def as_array(self) -> list[Any]:
        """Return the array as JSON values.

        Raises:
            InvalidInput: a part is not JSON, or two encodings are mixed.
        """
        if not self.leaves:
            return [item for text in self.items if text.strip() for item in _items_in(text)]
        if self.items:
            detail = "Mixed encodings. Send `fields` either as JSON or as one part per value."
            raise InvalidInput([InputError("/fields", "invalid_combination", detail)])
        return [leaves.as_object() for _, leaves in sorted(self.leaves.items())]


def _items_in(text: str) -> list[Any]:
    try:
        parsed = json.loads(text, object_pairs_hook=json_object)
    except DuplicateProperty as error:
        raise InvalidInput([InputError("/fields", "duplicate", str(error))]) from None
    except (ValueError, RecursionError):
        raise InvalidInput([InputError("/fields", "malformed", "Invalid JSON.")]) from None
    return parsed if isinstance(parsed, list) else [parsed]
