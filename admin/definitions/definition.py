"""The documents that an operator loads, and what may be wrong with them."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from chalicelib.domain.input_errors import InputError


class Kind(StrEnum):
    """What a document describes, in the order of loading: each needs only what stands before it."""

    BRAND = "brand"
    STORE = "store"
    CUSTOMER = "customer"
    CONTACT_FORM = "contactForm"
    SURVEY = "survey"
    WORKFLOW = "workflow"
    PURCHASE = "purchase"


@dataclass(frozen=True)
class RawDefinition:
    """A document as it was found.

    Attributes:
        origin: where, for people: ``places.yaml, document 3``.
    """

    origin: str
    content: Any


@dataclass(frozen=True)
class Document:
    """A document that may be written.

    Attributes:
        content: what the service takes, without ``kind`` and ``account``.
    """

    origin: str
    kind: Kind
    account_id: str
    content: dict[str, Any]


@dataclass(frozen=True)
class Problem:
    """Something wrong, and with which document."""

    origin: str
    input_error: InputError

    def __str__(self) -> str:
        where = (
            f"{self.origin}, {self.input_error.pointer}"
            if self.input_error.pointer
            else self.origin
        )
        return f"{where}: {self.input_error.detail} ({self.input_error.code})"
