"""The table of workflows. An account has few workflows, so all of them are loaded together."""

from collections.abc import Callable

from pynamodb.attributes import UnicodeAttribute
from pynamodb.expressions.update import Action

from chalicelib.domain.ids import new_id
from chalicelib.domain.workflows.workflow import Workflow
from chalicelib.storage.dynamodb.attributes import CompressedJsonAttribute
from chalicelib.storage.dynamodb.table import Table
from chalicelib.storage.dynamodb.transactions import Contention, retry_on_contention, try_write


class WorkflowRow(Table):
    """The table row of a workflow."""

    class Meta:
        name = "workflows"

    account_id = UnicodeAttribute(hash_key=True)
    workflow_id = UnicodeAttribute(range_key=True)
    document = CompressedJsonAttribute()
    version = UnicodeAttribute(null=True)


def save(account_id: str, workflow: Workflow) -> None:
    """Create or replace a workflow."""
    document = workflow.model_dump_json().encode()
    WorkflowRow(account_id, workflow.id, document=document, version=new_id()).save()


def change(
    account_id: str, workflow_id: str, changed: Callable[[Workflow], Workflow]
) -> Workflow | None:
    """Change a workflow and return it; None if it does not exist. Two AWS requests.

    Args:
        changed: returns the changed workflow. It is called again if the workflow changes in the
            meantime, so that concurrent changes are not lost.
    """

    def attempt() -> Workflow | None:
        try:
            row = WorkflowRow.get(account_id, workflow_id, consistent_read=True)
        except WorkflowRow.DoesNotExist:
            return None
        old = Workflow.model_validate_json(row.document)
        new = changed(old)
        if new != old and not _replace(row, new):
            raise Contention(condition_failed=True)
        return new

    return retry_on_contention(attempt)


def _replace(row: WorkflowRow, workflow: Workflow) -> bool:
    version = WorkflowRow.version
    is_unchanged = version == row.version if row.version else version.does_not_exist()
    document = workflow.model_dump_json().encode()
    actions: list[Action] = [WorkflowRow.document.set(document), version.set(new_id())]
    return try_write(
        lambda: row.update(actions, condition=WorkflowRow.workflow_id.exists() & is_unchanged)
    )


def list_for_account(account_id: str, *, consistent: bool = False) -> tuple[Workflow, ...]:
    """Load the account's workflows, oldest first."""
    rows = WorkflowRow.query(account_id, consistent_read=consistent)
    loaded = (Workflow.model_validate_json(row.document) for row in rows)
    return tuple(sorted(loaded, key=lambda workflow: (workflow.created_at, workflow.id)))
