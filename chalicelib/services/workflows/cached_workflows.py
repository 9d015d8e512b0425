"""Workflows and signing secrets as a warm function holds them: read at most once a minute."""

from typing import Final

from chalicelib.domain.accounts.account import SigningSecrets
from chalicelib.domain.workflows.workflow import Workflow
from chalicelib.services.caching import cached
from chalicelib.storage import webhook_secrets, workflows

_MAX_ACCOUNTS: Final = 128


@cached(at_most=_MAX_ACCOUNTS)
def workflows_of(account_id: str) -> tuple[Workflow, ...]:
    """The account's workflows. No request to AWS while they are held."""
    return workflows.list_for_account(account_id)


@cached(at_most=_MAX_ACCOUNTS)
def signing_secrets_of(account_id: str) -> SigningSecrets | None:
    """The account's secrets, from which each attempt takes the one of its moment."""
    return webhook_secrets.list_for_account(account_id)
