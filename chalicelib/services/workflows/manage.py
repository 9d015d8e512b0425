"""Creating, replacing, switching and listing workflows."""

from collections.abc import Sequence
from typing import Any

from chalicelib.domain import clock
from chalicelib.domain.errors import NotFound
from chalicelib.domain.schema import format_timestamp
from chalicelib.domain.workflows.definition import read_workflow
from chalicelib.domain.workflows.definition import save_workflow as workflow_to_save
from chalicelib.domain.workflows.workflow import Action, Workflow
from chalicelib.services.accounts.manage import require_account
from chalicelib.settings import settings
from chalicelib.storage import places, workflows


def save_workflow(account_id: str, document: Any) -> Workflow:
    """Creates the workflow that the document describes, or replaces the one with its id.

    Raises:
        InvalidInput: the document breaks a rule; every fault is listed.
        InputTooLarge: the workflow is larger than a row may be.
    """
    known = workflows.list_for_account(account_id, consistent=True)
    read = read_workflow(
        document,
        places.load_directory(account_id, consistent=True),
        known,
        allow_private=settings().private_webhooks,
    )
    earlier = next((each for each in known if each.id == read.id), None)
    workflow = workflow_to_save(read, clock.now(), earlier)
    workflows.save(account_id, workflow)
    return workflow


def list_workflows(account_id: str) -> Sequence[Workflow]:
    """The account's workflows, the oldest first.

    Raises:
        NotFound: there is no such account.
    """
    require_account(account_id)
    return workflows.list_for_account(account_id, consistent=True)


def find_workflow(account_id: str, workflow_id: str) -> Workflow:
    """The account's workflow with this id.

    Raises:
        NotFound: there is none.
    """
    for workflow in list_workflows(account_id):
        if workflow.id == workflow_id:
            return workflow
    raise NotFound("workflow")


def find_action(workflow: Workflow, key: str | None) -> Action:
    """The workflow's action with this key or id; the first when nothing is said.

    Raises:
        NotFound: there is none.
    """
    for action in workflow.actions:
        if key in (None, action.key, action.id):
            return action
    raise NotFound("action")


def set_workflow_enabled(account_id: str, workflow_id: str, *, enabled: bool) -> Workflow:
    """Enables or disables a workflow. Within a minute no function sees it as it was.

    Raises:
        NotFound: there is none.
    """
    workflow = find_workflow(account_id, workflow_id)
    if workflow.enabled != enabled:
        changed = {"enabled": enabled, "updated_at": format_timestamp(clock.now())}
        workflow = workflow.model_copy(update=changed)
        workflows.save(account_id, workflow)
    return workflow
