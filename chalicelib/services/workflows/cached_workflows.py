"""Cache workflows and signing secrets: read at most once a minute."""

from typing import Final

from chalicelib.domain.accounts.account import SigningSecrets
from chalicelib.domain.workflows.workflow import Workflow
from chalicelib.services.caching import cached
from chalicelib.storage import webhook_secrets, workflows

_MAX_ACCOUNTS: Final = 128


@cached(at_most=_MAX_ACCOUNTS)
def workflows_of(account_id: str) -> tuple[Workflow, ...]:
    """Return the account's workflows. No AWS request while they are cached."""
    return workflows.list_for_account(account_id)


@cached(at_most=_MAX_ACCOUNTS)
def signing_secrets_of(account_id: str) -> SigningSecrets | None:
    """Return the account's secrets; each attempt uses the secret that is active at its time."""
    return webhook_secrets.list_for_account(account_id)
