"""Definitions that an operator loads, and the problems found in them."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from chalicelib.domain.input_errors import InputError


class Kind(StrEnum):
    """The kind of resource that a definition describes.

    Definitions are saved in the order of these kinds, because a definition can refer only to kinds
    that precede its own kind. For example, a store refers to a brand.
    """

    BRAND = "brand"
    STORE = "store"
    CUSTOMER = "customer"
    CONTACT_FORM = "contactForm"
    SURVEY = "survey"
    WORKFLOW = "workflow"

    @property
    def word(self) -> str:
        """The name of the kind in messages."""
        return "contact form" if self is Kind.CONTACT_FORM else self.value


@dataclass(frozen=True)
class RawDefinition:
    """A definition that was read from a file and is not validated yet.

    Attributes:
        origin: the location of the definition in messages: ``places.yaml, definition 3``.
        content: the definition's parsed YAML or JSON data.
        line_of: returns the line of a JSON pointer into the definition; None if it is not known.
    """

    origin: str
    content: Any
    line_of: Callable[[str], int | None] = lambda _pointer: None


@dataclass(frozen=True)
class Definition:
    """A definition that matches the schema of its kind.

    Attributes:
        content: the definition without ``kind`` and ``account``.
    """

    origin: str
    kind: Kind
    account_id: str
    resource_id: str
    content: dict[str, Any]


@dataclass(frozen=True)
class Problem:
    """An input error and the location of the definition that contains it."""

    origin: str
    input_error: InputError
    line: int | None = None

    def __str__(self) -> str:
        line = f"line {self.line}" if self.line else ""
        where = ", ".join(filter(None, (self.origin, line, self.input_error.pointer)))
        return f"{where}: {self.input_error.detail} ({self.input_error.code})"
