"""The table of workflows. An account's are few, and read together."""

from pynamodb.attributes import UnicodeAttribute

from chalicelib.domain.workflows.workflow import Workflow
from chalicelib.storage.dynamodb.compressed_json import CompressedJsonAttribute
from chalicelib.storage.dynamodb.table import Table


class WorkflowRow(Table):
    """A workflow."""

    class Meta:
        name = "workflows"

    account_id = UnicodeAttribute(hash_key=True)
    workflow_id = UnicodeAttribute(range_key=True)
    document = CompressedJsonAttribute()


def put(account_id: str, workflow: Workflow) -> None:
    """Creates or replaces a workflow."""
    document = workflow.model_dump_json().encode()
    WorkflowRow(account_id, workflow.id, document=document).save()


def of_account(account_id: str, *, consistent: bool = False) -> tuple[Workflow, ...]:
    """All of the account's workflows, by age; ``consistent`` sees the latest write."""
    rows = WorkflowRow.query(account_id, consistent_read=consistent)
    found = (Workflow.model_validate_json(row.document) for row in rows)
    return tuple(sorted(found, key=lambda workflow: (workflow.created_at, workflow.id)))
