"""Changes that operators make to accounts, for the audit."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any


@dataclass(frozen=True)
class AccountChange:
    """One change that an operator made to an account.

    Attributes:
        subject: the changed setting in camelCase, such as ``timeZone``, or the kind and the id of
            the changed record, such as ``key fk_0123``.
        operator: the identity of the operator who made the change.
        old: the JSON value before the change.
        new: the JSON value after the change.
    """

    changed_at: datetime
    subject: str
    operator: str
    old: Any
    new: Any
