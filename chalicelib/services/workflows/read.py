"""List the workflows of an account for a partner."""

from chalicelib.domain.paging import PageRequest, page_meta
from chalicelib.domain.workflows.partner_view import WorkflowPage, partner_view
from chalicelib.storage import workflows


def list_workflows(account_id: str, request: PageRequest) -> WorkflowPage:
    """Return one page of the account's workflows, oldest first. One AWS request."""
    stored = workflows.list_for_account(account_id, consistent=True)
    items = tuple(map(partner_view, request.of(stored)))
    return WorkflowPage(items=items, meta=page_meta(request, len(items), len(stored)))
