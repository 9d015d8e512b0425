"""Save workflows, and load their earlier versions."""

from datetime import datetime

from chalicelib.domain.schema import format_timestamp
from chalicelib.domain.workflows.workflow import Workflow
from chalicelib.storage.dynamodb.table import Key, account_key, read_together
from chalicelib.storage.dynamodb.unit_of_work import Rows
from chalicelib.storage.workflows import WorkflowRow


def fetch(rows: Rows, account_id: str, workflow_id: str) -> Workflow | None:
    """Return a workflow in a unit of work, which relies on its version. One request.

    None if it does not exist.
    """
    key = Key(WorkflowRow, account_id, workflow_id)
    rows.prefetch(key)
    row = rows.get(key)
    return Workflow.model_validate_json(row.document) if row else None


def save(rows: Rows, account_id: str, workflow: Workflow) -> None:
    """Create or replace a workflow in a unit of work, which has fetched it."""
    key = Key(WorkflowRow, account_id, workflow.id)
    row = rows.get(key) or rows.create(key)
    row.document = workflow.model_dump_json().encode()


def keep_version(rows: Rows, account_id: str, earlier: Workflow, changed_at: datetime) -> None:
    """Keep the version of a workflow that the change at this time replaces."""
    key = _version_key(account_id, earlier.id, changed_at)
    rows.set(key, WorkflowRow.document, earlier.model_dump_json().encode())


def find_version(account_id: str, workflow_id: str, changed_at: datetime) -> Workflow | None:
    """Load the version that the change at this time replaced, or None if it was not kept."""
    (row,) = read_together(_version_key(account_id, workflow_id, changed_at))
    return Workflow.model_validate_json(row.document) if row else None


def _version_key(account_id: str, workflow_id: str, changed_at: datetime) -> Key[WorkflowRow]:
    return Key(WorkflowRow, account_key(account_id, workflow_id), format_timestamp(changed_at))
