"""The partner view of workflows. It contains no URL and no custom headers: they can be secret."""

from urllib.parse import urlsplit

from pydantic import Field

from chalicelib.domain.paging import PageMeta
from chalicelib.domain.schema import Resource, TimestampText
from chalicelib.domain.workflows.workflow import Workflow


class PartnerAction(Resource):
    """A webhook of a workflow."""

    id: str
    key: str = Field(description="Unique key of the action, as in the webhook.")
    description: str = Field(description="Description of the action, as in the webhook.")
    host: str = Field(
        description="Host of the URL that receives the webhooks. The rest of the URL can be secret."
    )
    attempts: int = Field(description="Maximum number of attempts of a delivery.")


class PartnerWorkflow(Resource):
    """A workflow: it sends webhooks about feedback."""

    id: str
    created_at: TimestampText
    updated_at: TimestampText
    name: str = Field(description="Name of the workflow, as in the webhook.")
    enabled: bool = Field(description="Whether new feedback triggers the workflow.")
    actions: tuple[PartnerAction, ...] = Field(description="The webhooks of the workflow.")


class WorkflowPage(Resource):
    """One page of an account's workflows."""

    items: tuple[PartnerWorkflow, ...]
    meta: PageMeta


def partner_view(workflow: Workflow) -> PartnerWorkflow:
    """Return the partner view of a workflow."""
    return PartnerWorkflow(
        id=workflow.id,
        created_at=workflow.created_at,
        updated_at=workflow.updated_at,
        name=workflow.name,
        enabled=workflow.enabled,
        actions=tuple(
            PartnerAction(
                id=action.id,
                key=action.key,
                description=action.description,
                host=urlsplit(action.url).hostname or "",
                attempts=action.attempts,
            )
            for action in workflow.actions
        ),
    )
