"""Create, replace, enable, disable and list workflows."""

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any

from admin.domain.enabled import with_enabled
from admin.domain.workflows.definition import build_workflow, parse_workflow_definition
from admin.services.accounts.manage import require_account
from admin.storage import workflows
from chalicelib.domain import clock
from chalicelib.domain.accounts.changes import AccountChange
from chalicelib.domain.errors import NotFound
from chalicelib.domain.workflows.workflow import Action, Workflow
from chalicelib.settings import settings
from chalicelib.storage import places
from chalicelib.storage.dynamodb.transactions import retry_on_contention
from chalicelib.storage.workflows import list_for_account


def save_workflow(
    account_id: str,
    definition: Any,
    operator: str | None = None,
    check: Callable[[Workflow | None], object] = lambda _: None,
) -> Workflow:
    """Create the workflow, or replace the existing workflow with the same id.

    Without `enabled` in the definition, an existing workflow stays enabled or disabled.

    Args:
        operator: the identity of the operator, for the history. None for data of the
            service itself, such as demo data.
        check: called with the stored workflow before it is replaced, or with None. If it raises an
            exception, nothing is saved.

    Raises:
        InvalidInput: the definition is invalid.
        RecordTooLarge: the workflow exceeds its size limit.
    """
    directory = places.load_directory(account_id)

    def attempt() -> Workflow:
        existing = list_for_account(account_id, consistent=True)
        parsed = parse_workflow_definition(
            definition, directory, existing, allow_private=settings().private_webhooks
        )
        earlier = next((workflow for workflow in existing if workflow.id == parsed.id), None)
        now = clock.now()
        workflow = build_workflow(parsed, now, earlier)
        if workflow == earlier:
            return workflow
        check(earlier)
        changes = []
        if operator:
            old = {"name": earlier.name} if earlier else None
            new = {"name": workflow.name}
            changes = [AccountChange(now, f"workflow {workflow.id}", operator, old, new)]
        workflows.save(account_id, workflow, earlier, changes)
        return workflow

    return retry_on_contention(attempt)


def list_workflows(account_id: str) -> Sequence[Workflow]:
    """Return the account's workflows, oldest first.

    Raises:
        NotFound: the account does not exist.
    """
    require_account(account_id)
    return list_for_account(account_id, consistent=True)


def find_workflow(account_id: str, workflow_id: str) -> Workflow:
    """Return the account's workflow with this id.

    Raises:
        NotFound: the workflow does not exist.
    """
    for workflow in list_workflows(account_id):
        if workflow.id == workflow_id:
            return workflow
    raise NotFound("workflow")


def find_version(account_id: str, workflow_id: str, changed_at: datetime) -> Workflow:
    """Return the version of a workflow that the change at this time replaced.

    Raises:
        NotFound: this version was not kept.
    """
    version = workflows.find_version(account_id, workflow_id, changed_at)
    if version is None:
        raise NotFound("workflow version")
    return version


def find_action(workflow: Workflow, key: str | None) -> Action:
    """Return the workflow's action with this key or id; without a key, return the first action.

    Raises:
        NotFound: the action does not exist.
    """
    for action in workflow.actions:
        if key in (None, action.key, action.id):
            return action
    raise NotFound("action")


def set_workflow_enabled(account_id: str, workflow_id: str, *, enabled: bool) -> Workflow:
    """Enable or disable a workflow. The change takes effect within a minute.

    Raises:
        NotFound: the workflow does not exist.
    """

    require_account(account_id)
    workflow = workflows.change(
        account_id, workflow_id, lambda workflow: with_enabled(workflow, enabled)
    )
    if workflow is None:
        raise NotFound("workflow")
    return workflow
