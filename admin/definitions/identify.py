"""What a found document is: of which kind, and of which account."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Protocol

from admin.definitions.definition import Kind, RawDefinition
from chalicelib.domain.ids import parse_id
from chalicelib.domain.input_errors import InputError, unknown_reference


class KnownAccounts(Protocol):
    """Which accounts there are."""

    def has_account(self, account_id: str) -> bool:
        """Whether there is such an account."""


@dataclass(frozen=True)
class IdentifiedDefinition:
    """A document's kind, account and content, the first two None where they are malformed.

    Attributes:
        account_id: an account that is there.
        content: the document without ``kind`` and ``account``.
        faults: what is wrong with kind and account.
    """

    origin: str
    kind: Kind | None
    account_id: str | None
    content: dict[str, Any]
    errors: tuple[InputError, ...]

    @property
    def own_id(self) -> str | None:
        """The document's id, None without a well-formed one."""
        given = self.content.get("id")
        return parse_id(given) if isinstance(given, str) else None


def identify_definition(
    found: RawDefinition, default_account: str | None, known: KnownAccounts
) -> IdentifiedDefinition:
    """The document that was found; without an account of its own it is the default's."""
    if not isinstance(found.content, dict):
        input_error = InputError("", "wrong_type", "A document must be an object.")
        return IdentifiedDefinition(found.origin, None, None, {}, (input_error,))
    content = dict(found.content)
    kind: Any = content.pop("kind", None)
    account: Any = content.pop("account", None) or default_account
    kind_errors, account_errors = [*_kind_errors(kind)], [*_account_errors(account, known)]
    return IdentifiedDefinition(
        found.origin,
        None if kind_errors else Kind(kind),
        None if account_errors else parse_id(account),
        content,
        (*kind_errors, *account_errors),
    )


def _kind_errors(kind: Any) -> Iterator[InputError]:
    if kind not in list(Kind):
        yield InputError("/kind", "not_allowed", f"This must be one of {', '.join(Kind)}.")


def _account_errors(account: Any, known: KnownAccounts) -> Iterator[InputError]:
    account_id = parse_id(account) if isinstance(account, str) else None
    if account is None:
        yield InputError("/account", "required", "Name the account here or with --account.")
    elif account_id is None:
        yield InputError("/account", "invalid_uuid", "This must be an account's id.")
    elif not known.has_account(account_id):
        yield unknown_reference("account", "account")
