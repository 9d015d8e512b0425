"""The partner view of workflows. It contains no URL and no custom headers: they can be secret."""

from pydantic import Field

from chalicelib.domain.paging import PageMeta
from chalicelib.domain.schema import Resource, TimestampText, UuidText


class PartnerAction(Resource):
    """A webhook of a workflow."""

    id: UuidText
    key: str = Field(
        description="Unique key of the action, as in the webhook.", examples=["helpdesk"]
    )
    description: str = Field(
        description="Description of the action, as in the webhook.", examples=["Opens a ticket"]
    )
    host: str = Field(
        description="Host of the URL that receives the webhooks. The rest of the URL can be"
        " secret.",
        examples=["crm.example.com"],
    )
    attempts: int = Field(description="Maximum number of attempts of a delivery.", examples=[8])


class PartnerWorkflow(Resource):
    """A workflow: it sends webhooks about feedback."""

    id: UuidText
    created_at: TimestampText
    updated_at: TimestampText
    name: str = Field(
        description="Name of the workflow, as in the webhook.", examples=["Unhappy guests"]
    )
    enabled: bool = Field(
        description="Whether new feedback triggers the workflow.", examples=[True]
    )
    actions: tuple[PartnerAction, ...] = Field(description="The webhooks of the workflow.")


class WorkflowPage(Resource):
    """One page of an account's workflows."""

    items: tuple[PartnerWorkflow, ...]
    meta: PageMeta
