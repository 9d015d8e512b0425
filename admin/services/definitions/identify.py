"""Determine the kind and account of a raw definition, and validate the definition's schema."""

from collections.abc import Iterator
from typing import Any

from admin.domain.definitions import parse_definition
from admin.domain.input_errors import not_allowed
from admin.services.definitions.definition import Definition, Kind, RawDefinition
from admin.services.definitions.kinds import RESOURCES
from admin.services.definitions.references import StoredResources
from chalicelib.domain.errors import InvalidInput
from chalicelib.domain.ids import parse_id
from chalicelib.domain.input_errors import InputError, unknown_reference
from chalicelib.domain.suggestions import with_suggestions


def identify_definition(
    raw: RawDefinition, default_account: str | None, known: StoredResources
) -> Definition:
    """Return the validated definition with its kind and account.

    Args:
        default_account: the account of a definition without an ``account`` field.

    Raises:
        InvalidInput: the kind or the account is invalid, or the definition does not match the
            schema of its kind.
    """
    if not isinstance(raw.content, dict):
        raise InvalidInput([InputError("", "wrong_type", "Must be an object.")])
    content = dict(raw.content)
    kind: Any = content.pop("kind", None)
    account: Any = content.pop("account", None) or default_account
    errors = [*_kind_errors(kind), *_account_errors(account, default_account, known)]
    resource_id = ""
    if kind in list(Kind):
        try:
            resource_id = parse_definition(content, RESOURCES[Kind(kind)].model).id
        except InvalidInput as error:
            errors += with_suggestions(error.errors, RESOURCES[Kind(kind)].model)
    if errors:
        raise InvalidInput(errors)
    return Definition(raw.origin, Kind(kind), account.lower(), resource_id, content)


def _kind_errors(kind: Any) -> Iterator[InputError]:
    if kind not in list(Kind):
        yield not_allowed(f"Must be one of {', '.join(Kind)}.", "kind")


def _account_errors(
    account: Any, default_account: str | None, known: StoredResources
) -> Iterator[InputError]:
    account_id = parse_id(account) if isinstance(account, str) else None
    if account is None:
        yield InputError("/account", "required", "Set the account here or with --account.")
    elif account_id is None:
        yield InputError("/account", "invalid_uuid", "Must be the id of an account.")
    elif default_account and account_id != default_account:
        yield not_allowed(f"Differs from --account {default_account}.", "account")
    elif (stored := known.account(account_id)) is None:
        yield unknown_reference("account", "account")
    elif stored.closed_at:
        yield not_allowed(f"The account was closed on {stored.closed_at:%Y-%m-%d}.", "account")
