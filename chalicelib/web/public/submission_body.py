"""Parse the parts of a multipart body into a submission.

Clients encode ``fields`` in one of three ways: one part with a JSON array; one part with a JSON
object per item; or one part per value, named ``fields[0][id]``, ``fields[0][values][0]`` or
``fields[0][values][]``.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final, Self

from chalicelib.domain.errors import InvalidInput
from chalicelib.domain.feedback.submission import (
    AnySubmission,
    ContactFormSubmission,
    SurveySubmission,
)
from chalicelib.domain.idempotency import PART as IDEMPOTENCY_PART
from chalicelib.domain.idempotency import key_errors
from chalicelib.domain.ids import parse_id
from chalicelib.domain.input_errors import InputError
from chalicelib.domain.parsing import DuplicateProperty, json_object, parse
from chalicelib.domain.schema import WHITE_SPACE
from chalicelib.web.public.multipart import FIELDS_PARTS, Part

HONEYPOT: Final = "homepage"
"""The name of the honeypot part. Forms hide this field from respondents, so only bots fill it."""

_SERVICE_PARTS: Final = {HONEYPOT, IDEMPOTENCY_PART}
"""The parts that belong to no submission."""
_LEAF: Final = re.compile(r"fields\[([0-9]{1,9})\]\[(id|values)\](?:\[([0-9]{0,9})\])?")
_UNSET: Final = ("", "null")
"""Texts that clients send for an unset value: `FormData` converts ``null`` to text."""

Model = type[ContactFormSubmission] | type[SurveySubmission]


@dataclass(frozen=True)
class PostedForm:
    """The parts of a submission, and the submission that they encode.

    Attributes:
        parts: all parts, in order.
        texts: the text of each known part that is set, by name, without those of ``fields``.
        items: the array ``fields`` as JSON values; empty if the parts encode no array.
        submission: None if the submission is invalid.
        errors: the errors of an invalid submission.
        idempotency_key: the key in the header or else in the form part; None if there is none.
    """

    is_survey: bool
    parts: Sequence[Part]
    texts: Mapping[str, str]
    items: Sequence[Any]
    submission: AnySubmission | None
    errors: list[InputError]
    idempotency_key: str | None

    @classmethod
    def of(cls, parts: Sequence[Part], *, is_survey: bool, key: str | None = None) -> Self:
        """Parse the parts of a body.

        Args:
            key: the idempotency key in the header, valid or not; None if there is none.
        """
        model: Model = SurveySubmission if is_survey else ContactFormSubmission
        texts, field_parts, part_errors = _sort_parts(parts, model)
        own_key = texts.get(IDEMPOTENCY_PART)
        errors = [*key_errors(key), *part_errors, *key_errors(own_key, f"/{IDEMPOTENCY_PART}")]
        items: list[Any] = []
        submission: AnySubmission | None = None
        try:
            items = field_parts.as_array()
        except InvalidInput as error:
            errors += error.errors
        content = {name: text for name, text in texts.items() if name not in _SERVICE_PARTS}
        try:
            submission = parse({**content, "fields": items}, model)
        except InvalidInput as error:
            # A duplicate part is already reported. If the first duplicate is empty, do not also
            # report the part as missing.
            repeated = {each.pointer for each in errors if each.code == "duplicate"}
            errors += [each for each in error.errors if each.pointer not in repeated]
        valid = None if errors else submission
        return cls(is_survey, parts, texts, items, valid, errors, key or own_key)

    @cached_property
    def form_id(self) -> str:
        """The id of the form, or ``""`` if the id is missing or invalid."""
        return self.submission.id if self.submission else self.identifier("id") or ""

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
        if self.submission:
            return [(answer.id, answer.values) for answer in self.submission.fields]
        return [_posted_answer(item) for item in self.items]

    def identifier(self, name: str) -> str | None:
        """Return the id in this part, or None if it is missing or invalid."""
        return parse_id(self.texts.get(name, "").strip(WHITE_SPACE))


def _sort_parts(
    parts: Sequence[Part], model: Model
) -> tuple[dict[str, str], "_FieldParts", list[InputError]]:
    """Return the set texts by name of the part, the parts of ``fields``, and the errors."""
    known = {description.alias or name for name, description in model.model_fields.items()}
    known |= _SERVICE_PARTS
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
class _FieldParts:
    """The parts that encode the array ``fields``.

    Attributes:
        items: JSON strings; each encodes the complete array or one of its items.
        ids: the ids of items that are sent as one part per value, by the number of the item: 0 for
            the part ``fields[0][id]``. The numbers set the order; gaps are allowed.
        values: the values of these items, each with its number, if it has one.
    """

    items: list[str] = field(default_factory=list)
    ids: dict[int, str] = field(default_factory=dict)
    values: dict[int, list[tuple[int | None, str]]] = field(default_factory=dict)

    def add_leaf(self, leaf: re.Match[str], text: str) -> list[InputError]:
        item, key, number = int(leaf[1]), leaf[2], leaf[3]
        if key == "id" and number is not None:
            return [InputError.at((leaf.string,), "unknown_key", "Unknown part.")]
        values = self.values.setdefault(item, [])
        if key == "values":
            values.append((int(number) if number else None, text))
        elif item in self.ids:
            return [InputError.at((leaf.string,), "duplicate", "Duplicate part.")]
        else:
            self.ids[item] = text
        return []

    def as_array(self) -> list[Any]:
        """Return the array as JSON values.

        Raises:
            InvalidInput: a part is not JSON, or two encodings are mixed.
        """
        if not self.values:
            return [item for text in self.items if text.strip() for item in _items_in(text)]
        if self.items:
            detail = "Mixed encodings. Send `fields` either as JSON or as one part per value."
            raise InvalidInput([InputError("/fields", "invalid_combination", detail)])
        return [
            {"id": self.ids.get(item), "values": _in_order(values)}
            for item, values in sorted(self.values.items())
        ]


def _in_order(values: list[tuple[int | None, str]]) -> list[str]:
    """Return the values by number or, if one has no number, in the order of the parts."""
    if all(number is not None for number, _ in values):
        values = sorted(values, key=lambda numbered: numbered[0] or 0)
    return [text for _, text in values]


def _items_in(text: str) -> list[Any]:
    try:
        parsed = json.loads(text, object_pairs_hook=json_object)
    except DuplicateProperty as error:
        raise InvalidInput([InputError("/fields", "duplicate", str(error))]) from None
    except (ValueError, RecursionError):
        raise InvalidInput([InputError("/fields", "malformed", "Invalid JSON.")]) from None
    return parsed if isinstance(parsed, list) else [parsed]
