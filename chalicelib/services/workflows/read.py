"""Read workflows and webhook secrets. Background work caches them for up to a minute."""

from typing import TYPE_CHECKING, Final

from chalicelib.domain.accounts.account import SigningSecrets
from chalicelib.domain.paging import PageRequest, page_meta
from chalicelib.domain.workflows.workflow import Workflow
from chalicelib.services.caching import cached
from chalicelib.storage import webhook_secrets, workflows

if TYPE_CHECKING:
    from chalicelib.domain.workflows.partner_view import WorkflowPage

_MAX_ACCOUNTS: Final = 128


@cached(at_most=_MAX_ACCOUNTS)
def workflows_of(account_id: str) -> tuple[Workflow, ...]:
    """Return the account's workflows. No AWS request if they are cached."""
    return workflows.list_for_account(account_id)


@cached(at_most=_MAX_ACCOUNTS)
def signing_secrets_of(account_id: str) -> SigningSecrets | None:
    """Return the account's webhook secrets, active and scheduled. No AWS request if cached."""
    return webhook_secrets.list_for_account(account_id)


def list_workflows(account_id: str, request: PageRequest) -> "WorkflowPage":
    """Return one page of the account's workflows, oldest first. One AWS request."""
    # Imported here: only the API needs these models.
    from chalicelib.domain.workflows.partner_view import PartnerWorkflow, WorkflowPage

    stored = workflows.list_for_account(account_id, consistent=True)
    items = tuple(
        PartnerWorkflow.model_validate(workflow, from_attributes=True)
        for workflow in request.of(stored)
    )
    return WorkflowPage(items=items, meta=page_meta(request, len(items), len(stored)))
