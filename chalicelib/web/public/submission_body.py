"""A submission in its parts: what each part is called, and how an array of objects is written.

Clients write ``fields`` in three ways: one part with a JSON array; a part with a JSON object for
each item; or a part for each leaf, named ``fields[0][id]``, ``fields[0][values][0]``,
``fields[0][values][]``. All three mean the same.
"""

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Generic, TypeVar

from chalicelib.domain.errors import InvalidInput
from chalicelib.domain.feedback.submission import ContactFormSubmission, SurveySubmission
from chalicelib.domain.input_errors import InputError, json_pointer
from chalicelib.domain.parsing import parse
from chalicelib.web.public.multipart import Part

HONEYPOT: Final = "homepage"
"""A part that a form may have in a place that no person sees: whoever fills it is a machine."""

_LEAF: Final = re.compile(r"fields\[([0-9]{1,9})\]\[(id|values)\](?:\[([0-9]{0,9})\])?")
_NOT_GIVEN: Final = ("", "null")
"""What clients write for a value that they do not have: a script's ``null`` becomes this text."""
_ITEMS: Final = ("fields", "fields[]")

Submission = TypeVar("Submission", ContactFormSubmission, SurveySubmission)


@dataclass(frozen=True)
class SubmittedBody(Generic[Submission]):
    """A submission, and whether the part that no person sees was filled."""

    submission: Submission
    is_honeypot_filled: bool


def submission_in(parts: Sequence[Part], model: type[Submission]) -> SubmittedBody[Submission]:
    """The submission that these parts are.

    Raises:
        InvalidInput: a part is not known, repeated, or breaks a rule; every such fault is listed.
    """
    known = {description.alias or name for name, description in model.model_fields.items()}
    plain: dict[str, Any] = {}
    written = _WrittenFields()
    errors: list[InputError] = []
    for name, value in parts:
        if name in _ITEMS:
            written.items.append(value)
        elif leaf := _LEAF.fullmatch(name):
            errors.extend(written.add_leaf(leaf, value))
        elif name != HONEYPOT and name not in known:
            errors.append(
                InputError(json_pointer(name), "unknown_key", "This part is not known here.")
            )
        elif name in plain:
            errors.append(InputError(json_pointer(name), "duplicate", "This part is there twice."))
        else:
            plain[name] = value
    trap = plain.pop(HONEYPOT, "")
    document: dict[str, Any] = {
        name: value for name, value in plain.items() if value.strip() not in _NOT_GIVEN
    }
    try:
        document["fields"] = written.as_array()
    except InvalidInput as error:
        errors.extend(error.errors)
    repeated = {input_error.pointer for input_error in errors if input_error.code == "duplicate"}
    try:
        submission = parse(document, model)
    except InvalidInput as error:
        # A part that came twice may be missed only because its first was empty.
        errors.extend(
            input_error for input_error in error.errors if input_error.pointer not in repeated
        )
        raise InvalidInput(errors) from None
    if errors:
        raise InvalidInput(errors)
    return SubmittedBody(submission, is_honeypot_filled=bool(trap.strip()))


@dataclass
class _Leaves:
    """The leaves of one item; values keep their order where they are not numbered."""

    id: str | None = None
    values: list[tuple[int | None, str]] = field(default_factory=list)

    def as_object(self) -> dict[str, Any]:
        numbers = [number for number, _ in self.values]
        in_order: Iterable[tuple[int | None, str]] = self.values
        if None not in numbers:
            in_order = sorted(self.values, key=lambda numbered: numbered[0] or 0)
        return {"id": self.id, "values": [value for _, value in in_order]}


@dataclass
class _WrittenFields:
    """The array ``fields`` as its parts wrote it.

    Attributes:
        items: texts that are JSON, of the whole array or of one item.
        leaves: items by number. Numbers may leave gaps: they say the order, nothing else.
    """

    items: list[str] = field(default_factory=list)
    leaves: dict[int, _Leaves] = field(default_factory=dict)

    def add_leaf(self, leaf: re.Match[str], value: str) -> list[InputError]:
        item, key, number = leaf.groups()
        pointer = json_pointer(leaf.string)
        if key == "id" and number is not None:
            return [InputError(pointer, "unknown_key", "This part is not known here.")]
        leaves = self.leaves.setdefault(int(item), _Leaves())
        if key == "id":
            if leaves.id is not None:
                return [InputError(pointer, "duplicate", "This part is there twice.")]
            leaves.id = value
        else:
            leaves.values.append((int(number) if number else None, value))
        return []

    def as_array(self) -> list[Any]:
        """The array, as JSON values.

        Raises:
            InvalidInput: a part is no JSON, or two of the ways are mixed.
        """
        if not self.leaves:
            return [item for text in self.items if text.strip() for item in _items_in(text)]
        if self.items:
            detail = "Write the fields either as JSON or as single parts, not in both ways."
            raise InvalidInput([InputError("/fields", "not_allowed", detail)])
        return [leaves.as_object() for _, leaves in sorted(self.leaves.items())]


def _items_in(text: str) -> list[Any]:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        raise InvalidInput([InputError("/fields", "malformed", "This is not JSON.")]) from None
    return found if isinstance(found, list) else [found]
