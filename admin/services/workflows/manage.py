"""Find, enable, disable and list workflows."""

from collections.abc import Sequence
from datetime import datetime

from admin.domain.enabled import with_enabled
from admin.domain.selection import select
from admin.services.accounts.manage import require_account
from admin.storage import workflows
from chalicelib.domain.errors import NotFound
from chalicelib.domain.workflows.workflow import Action, Workflow
from chalicelib.storage.dynamodb.unit_of_work import Rows, commit
from chalicelib.storage.workflows import list_for_account


def list_workflows(account_id: str) -> Sequence[Workflow]:
    """Return the account's workflows, oldest first.

    Raises:
        NotFound: the account does not exist.
    """
    require_account(account_id)
    return list_for_account(account_id, consistent=True)


def find_workflow(account_id: str, text: str) -> Workflow:
    """Return the account's workflow with this id or name, or beginning of one; see `select`.

    Raises:
        NotFound: the workflow does not exist.
        Conflict: several workflows have this name or beginning.
    """
    return select(text, list_workflows(account_id), lambda w: (w.id, w.name), "workflow")


def find_version(account_id: str, workflow_id: str, changed_at: datetime) -> Workflow:
    """Return the version of a workflow that the change at this time replaced.

    Raises:
        NotFound: this version was not kept.
    """
    version = workflows.find_version(account_id, workflow_id, changed_at)
    if version is None:
        raise NotFound("workflow version")
    return version


def find_action(workflow: Workflow, text: str | None) -> Action:
    """Return the workflow's action with this key or id, or beginning of one; see `select`.

    Without a text, return the first action.

    Raises:
        NotFound: the action does not exist.
        Conflict: several actions have this beginning.
    """
    if text is None:
        return workflow.actions[0]
    return select(text, workflow.actions, lambda action: (action.id, action.key), "action")


def set_workflow_enabled(account_id: str, workflow_id: str, *, enabled: bool) -> Workflow:
    """Enable or disable a workflow. The change takes effect within a minute.

    Raises:
        NotFound: the workflow does not exist.
    """
    require_account(account_id)

    def change(rows: Rows) -> Workflow:
        workflow = workflows.fetch(rows, account_id, workflow_id)
        if workflow is None:
            raise NotFound("workflow")
        changed = with_enabled(workflow, enabled)
        if changed != workflow:
            workflows.save(rows, account_id, changed)
        return changed

    return commit(change)
