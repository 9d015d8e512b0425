"""Save workflows, and load their earlier versions."""

from collections.abc import Callable, Sequence
from datetime import datetime

from pynamodb.expressions.condition import Condition

from chalicelib.domain.accounts.changes import AccountChange
from chalicelib.domain.ids import new_id
from chalicelib.domain.schema import format_timestamp
from chalicelib.domain.workflows.workflow import Workflow
from chalicelib.storage import account_changes
from chalicelib.storage.dynamodb.transactions import retry_on_contention, try_write
from chalicelib.storage.dynamodb.unit_of_work import Contention, transaction
from chalicelib.storage.workflows import WorkflowRow


def save(
    account_id: str,
    workflow: Workflow,
    earlier: Workflow | None = None,
    changes: Sequence[AccountChange] = (),
) -> None:
    """Create or replace a workflow. With a change for the history, keep the earlier version too.

    Args:
        earlier: the workflow as it was read; None for a new workflow.

    Raises:
        Contention: the workflow has changed since it was read.
    """
    row = WorkflowRow.find(account_id, workflow.id)
    if (Workflow.model_validate_json(row.document) if row else None) != earlier:
        raise Contention(condition_failed=True)
    document = workflow.model_dump_json().encode()
    with transaction() as write:
        write.save(
            WorkflowRow(account_id, workflow.id, document=document, version=new_id()),
            _is_unchanged(row) if row else WorkflowRow.workflow_id.does_not_exist(),
        )
        if row:
            for change in changes:
                key = _versions(account_id, workflow.id), format_timestamp(change.changed_at)
                write.save(WorkflowRow(*key, document=row.document))
        account_changes.add(write, account_id, changes)


def find_version(account_id: str, workflow_id: str, changed_at: datetime) -> Workflow | None:
    """Load the version that the change at this time replaced, or None if it was not kept."""
    row = WorkflowRow.find(_versions(account_id, workflow_id), format_timestamp(changed_at))
    return Workflow.model_validate_json(row.document) if row else None


def _versions(account_id: str, workflow_id: str) -> str:
    return f"{account_id}#{workflow_id}"


def change(
    account_id: str, workflow_id: str, changed: Callable[[Workflow], Workflow]
) -> Workflow | None:
    """Change a workflow and return it; None if it does not exist. Two AWS requests.

    Args:
        changed: returns the changed workflow. It is called again if the workflow changes in the
            meantime, so that concurrent changes are not lost.
    """

    def attempt() -> Workflow | None:
        row = WorkflowRow.find(account_id, workflow_id)
        if row is None:
            return None
        old = Workflow.model_validate_json(row.document)
        new = changed(old)
        if new != old and not _replace(row, new):
            raise Contention(condition_failed=True)
        return new

    return retry_on_contention(attempt)


def _replace(row: WorkflowRow, workflow: Workflow) -> bool:
    document = workflow.model_dump_json().encode()
    actions = WorkflowRow.changes(document=document, version=new_id())
    return try_write(lambda: row.update(actions, condition=_is_unchanged(row)))


def _is_unchanged(row: WorkflowRow) -> Condition:
    return WorkflowRow.has(workflow_id=row.workflow_id, version=row.version)
