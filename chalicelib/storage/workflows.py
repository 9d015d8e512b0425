"""The table of workflows. An account has few workflows, so all of them are loaded together.

The table also contains the earlier versions of workflows, because only this table is encrypted with
the key for secrets: the headers of webhooks can contain credentials.
"""

from pynamodb.attributes import UnicodeAttribute

from chalicelib.domain.workflows.workflow import Workflow
from chalicelib.storage.dynamodb.attributes import (
    CompressedJsonAttribute,
    IntegerAttribute,
    optional,
)
from chalicelib.storage.dynamodb.table import Table


class WorkflowRow(Table):
    """The table row of a workflow."""

    class Meta:
        name = "workflows"

    account_id = UnicodeAttribute(hash_key=True)
    workflow_id = UnicodeAttribute(range_key=True)
    document = CompressedJsonAttribute()
    revision = optional(IntegerAttribute)


def list_for_account(account_id: str, *, consistent: bool = False) -> tuple[Workflow, ...]:
    """Load the account's workflows, oldest first."""
    rows = WorkflowRow.query(account_id, consistent_read=consistent)
    loaded = (Workflow.model_validate_json(row.document) for row in rows)
    return tuple(sorted(loaded, key=lambda workflow: (workflow.created_at, workflow.id)))
