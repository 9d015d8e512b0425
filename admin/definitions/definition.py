"""Definitions that an operator loads, and problems with them."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from chalicelib.domain.input_errors import InputError


class Kind(StrEnum):
    """What a definition describes, in the order of loading: references point to earlier kinds."""

    BRAND = "brand"
    STORE = "store"
    CUSTOMER = "customer"
    CONTACT_FORM = "contactForm"
    SURVEY = "survey"
    WORKFLOW = "workflow"
    PURCHASE = "purchase"


@dataclass(frozen=True)
class RawDefinition:
    """A definition as read from a file.

    Attributes:
        origin: its location, for people: ``places.yaml, definition 3``.
    """

    origin: str
    content: Any


@dataclass(frozen=True)
class Definition:
    """A definition with a valid shape.

    Attributes:
        own_id: the id of the resource; None for a purchase.
        content: the definition without ``kind`` and ``account``.
    """

    origin: str
    kind: Kind
    account_id: str
    own_id: str | None
    content: dict[str, Any]


@dataclass(frozen=True)
class Problem:
    """An error, and the definition that contains it."""

    origin: str
    input_error: InputError

    def __str__(self) -> str:
        where = (
            f"{self.origin}, {self.input_error.pointer}"
            if self.input_error.pointer
            else self.origin
        )
        return f"{where}: {self.input_error.detail} ({self.input_error.code})"
