"""Parse the parts of a multipart body into a submission.

Clients encode ``fields`` in one of three ways: one part with a JSON array; one part with a JSON
object per item; or one part per value, named ``fields[0][id]``, ``fields[0][values][0]`` or
``fields[0][values][]``.
"""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final, Self

from chalice.app import Request

from chalicelib.domain.errors import FeedbackError, InvalidInput
from chalicelib.domain.feedback.submission import (
    MAX_SUBMISSION_BYTES,
    ContactFormSubmission,
    SurveySubmission,
)
from chalicelib.domain.idempotency import PART as IDEMPOTENCY_PART
from chalicelib.domain.idempotency import read_key
from chalicelib.domain.ids import parse_id
from chalicelib.domain.input_errors import InputError, json_pointer
from chalicelib.domain.parsing import DuplicateProperty, json_object, parse
from chalicelib.domain.schema import WHITE_SPACE
from chalicelib.web.public.multipart import FIELDS_PARTS, Part, read_parts

HONEYPOT: Final = "homepage"
"""The name of the honeypot part. Forms hide this field from respondents, so only bots fill it."""

_LEAF: Final = re.compile(r"fields\[([0-9]{1,9})\]\[(id|values)\](?:\[([0-9]{0,9})\])?")
_UNSET: Final = ("", "null")
"""Texts that clients send for an unset value: `FormData` converts ``null`` to text."""

Model = type[ContactFormSubmission] | type[SurveySubmission]


@dataclass(frozen=True)
class SubmissionBody:
    """A submission, its idempotency key, and whether the honeypot is filled.

    Attributes:
        idempotency_key: the key in the form part `idempotencyKey`; None if there is none.
    """

    submission: ContactFormSubmission | SurveySubmission
    is_honeypot_filled: bool
    idempotency_key: str | None = None


@dataclass(frozen=True)
class PostedForm:
    """The parts of a submission, valid or not.

    Attributes:
        model: the model of a valid submission.
        parts: all parts, in order; none if the body cannot be read.
        texts: the text of each known part that is set, by name, without those of ``fields``.
        items: the array ``fields`` as JSON values; empty if the parts encode no array.
        errors: the errors of the parts, before the submission is parsed.
        unreadable: the error of a body that cannot be read.
    """

    model: Model
    parts: Sequence[Part] = ()
    texts: Mapping[str, str] = field(default_factory=dict)
    items: Sequence[Any] = ()
    errors: Sequence[InputError] = ()
    unreadable: FeedbackError | None = None

    @classmethod
    def of(cls, parts: Sequence[Part], model: Model) -> Self:
        """Interpret the parts of a body."""
        texts, field_parts, errors = _sort_parts(parts, model)
        items: list[Any] = []
        try:
            read_key(texts.get(IDEMPOTENCY_PART), json_pointer(IDEMPOTENCY_PART))
        except InvalidInput as error:
            errors.extend(error.errors)
        try:
            items = field_parts.as_array()
        except InvalidInput as error:
            errors.extend(error.errors)
        return cls(model, parts, texts, items, errors)

    @cached_property
    def form_id(self) -> str:
        """The id of the form, or ``""`` if the id is missing or invalid."""
        return self.identifier("id") or ""

    @property
    def is_survey(self) -> bool:
        """Whether the submission is one to a survey."""
        return self.model is SurveySubmission

    @property
    def is_step(self) -> bool:
        """Whether the respondent only takes a step before the submission to a survey."""
        return self.is_survey and self.texts.get("step") in ("save", "follow")

    @property
    def has_tracker(self) -> bool:
        """Whether the submission has a tracker, valid or not."""
        return any(name == "tracker" and text.strip() not in _UNSET for name, text in self.parts)

    @property
    def answers(self) -> list[tuple[str, list[str]]]:
        """The field id and the trimmed values of each answer, valid or not, in their order."""
        return [_posted_answer(item) for item in self.items]

    def identifier(self, name: str) -> str | None:
        """Return the id in this part, or None if it is missing or invalid."""
        return parse_id(self.texts.get(name, "").strip(WHITE_SPACE))

    def parse(self) -> SubmissionBody:
        """Parse the parts into a submission.

        Raises:
            InvalidInput: a part is unknown, a duplicate or invalid. Lists every error.
            FeedbackError: the body cannot be read.
        """
        if self.unreadable:
            raise self.unreadable
        content: dict[str, Any] = {**self.texts, "fields": self.items}
        honeypot, key = content.pop(HONEYPOT, None), content.pop(IDEMPOTENCY_PART, None)
        submission: ContactFormSubmission | SurveySubmission
        try:
            submission = parse(content, self.model)
        except InvalidInput as error:
            # A duplicate part is already reported. If the first duplicate is empty, do not also
            # report the part as missing.
            repeated = {each.pointer for each in self.errors if each.code == "duplicate"}
            others = [each for each in error.errors if each.pointer not in repeated]
            raise InvalidInput([*self.errors, *others]) from None
        if self.errors:
            raise InvalidInput([*self.errors])
        return SubmissionBody(submission, honeypot is not None, key)


def read_submission(request: Request, *, is_survey: bool) -> PostedForm:
    """Read the submission in a request. `PostedForm.parse` raises the errors."""
    model = SurveySubmission if is_survey else ContactFormSubmission
    try:
        return PostedForm.of(read_parts(request, max_bytes=MAX_SUBMISSION_BYTES), model)
    except FeedbackError as error:
        return PostedForm(model, unreadable=error)


def _sort_parts(
    parts: Sequence[Part], model: Model
) -> tuple[dict[str, str], "_FieldParts", list[InputError]]:
    """Return the set texts by name of the part, the parts of ``fields``, and the errors."""
    known = {description.alias or name for name, description in model.model_fields.items()}
    known |= {HONEYPOT, IDEMPOTENCY_PART}
    texts: dict[str, str] = {}
    field_parts = _FieldParts()
    errors: list[InputError] = []
    for name, value in parts:
        if name in FIELDS_PARTS:
            field_parts.items.append(value)
        elif leaf := _LEAF.fullmatch(name):
            errors.extend(field_parts.add_leaf(leaf, value))
        elif name not in known:
            errors.append(InputError.at((name,), "unknown_key", "Unknown part."))
        elif name in texts:
            errors.append(InputError.at((name,), "duplicate", "Duplicate part."))
        else:
            texts[name] = value
    set_texts = {name: text for name, text in texts.items() if text.strip() not in _UNSET}
    return set_texts, field_parts, errors


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
        if key == "id" and number is not None:
            return [InputError.at((leaf.string,), "unknown_key", "Unknown part.")]
        leaves = self.leaves.setdefault(int(item), _Leaves())
        if key == "id":
            if leaves.id is not None:
                return [InputError.at((leaf.string,), "duplicate", "Duplicate part.")]
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
