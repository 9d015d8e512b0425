"""The partner view of webhook deliveries: requests, responses and the result of a replay."""

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Annotated, Final, Self

from pydantic import Field, WithJsonSchema, model_validator
from pydantic_core import PydanticCustomError

from chalicelib.domain.input_errors import InputError
from chalicelib.domain.list_cursor import CursorMeta, CursorRequest, period_errors
from chalicelib.domain.paging import MAX_LIMIT, WholeNumber
from chalicelib.domain.schema import (
    Identifier,
    Input,
    InputTimestamp,
    Resource,
    Timestamp,
    UuidText,
    must,
)
from chalicelib.domain.webhooks.execution import (
    Attempt,
    Execution,
    ExecutionState,
    ReplayResult,
)

MAX_ATTEMPTS_SHOWN: Final = 100
"""Maximum number of attempts in the details of a delivery. Only replays can exceed it."""


_Replayable = Annotated[
    ExecutionState,
    must(
        lambda state: state is not ExecutionState.SUCCEEDED,
        "not_allowed",
        "A delivered webhook is not sent again.",
    ),
    WithJsonSchema({"type": "string", "enum": ["PENDING", "FAILED", "STOPPED", "PARKED"]}),
]


class DeliveryListRequest(CursorRequest):
    """The requested page of webhook deliveries."""

    state: ExecutionState | None = Field(default=None, description="Only deliveries in this state.")
    created_since: InputTimestamp | None = Field(
        default=None, description="Only deliveries created at this time or later."
    )
    created_until: InputTimestamp | None = Field(
        default=None, description="Only deliveries created before this time."
    )

    def rule_errors(self) -> Iterator[InputError]:
        """Yield the errors of fields that contradict each other."""
        yield from period_errors(self.created_since, self.created_until)


class DeliveryReplayRequest(DeliveryListRequest):
    """The deliveries to replay: either their ids, or a state and a period."""

    ids: list[Identifier] | None = Field(
        default=None,
        min_length=1,
        max_length=MAX_LIMIT,
        description="The deliveries to replay.",
    )
    limit: WholeNumber = Field(
        default=MAX_LIMIT,
        ge=1,
        le=MAX_LIMIT,
        description="Maximum number of deliveries to replay. The default is 100.",
    )
    state: _Replayable | None = Field(
        default=None,
        description="Replay the deliveries in this state. `PENDING`: those that wait for their next"
        " attempt.",
    )

    @model_validator(mode="after")
    def _check_selection(self) -> Self:
        has_period = bool(self.state and self.created_since)
        if bool(self.ids) is has_period or (self.ids and len(self.model_fields_set) > 1):
            detail = "Provide either only ids, or state and createdSince."
            raise PydanticCustomError("invalid_combination", detail)
        return self


class WebhookTestRequest(Input):
    """The webhook to test."""

    workflow_id: Identifier = Field(description="Identifier of the workflow.")
    action_id: Identifier = Field(description="Identifier of the action.")


class DeliveryWorkflow(Resource):
    """The workflow of a delivery."""

    id: UuidText
    name: str = Field(
        description="Current name of the workflow; empty if it was removed.",
        examples=["Unhappy guests"],
    )


class DeliveryAction(Resource):
    """The action of a delivery."""

    id: UuidText
    key: str = Field(
        description="Current key of the action; empty if it was removed.", examples=["helpdesk"]
    )


class WebhookDelivery(Resource):
    """The delivery of the webhook of one action for one feedback."""

    id: UuidText = Field(description="Unique identifier, as in the header `webhook-id`.")
    created_at: Timestamp
    feedback_id: UuidText = Field(description="Identifier of the feedback, as in the webhook.")
    test: bool = Field(description="Whether this is a test, which has no feedback.")
    workflow: DeliveryWorkflow
    action: DeliveryAction
    state: ExecutionState = Field(
        description="`PENDING`: the next attempt is due later or now, or is being made."
        " `SUCCEEDED`: the receiver responded with 2xx. `FAILED`: all attempts failed. `STOPPED`:"
        " the receiver responded with 410, the action was removed, or its workflow was disabled."
        " `PARKED`: the service could not store the result of several attempts."
    )
    reason: str = Field(
        description="Why the last attempt failed or the delivery ended; empty after a success.",
        examples=["response status 503"],
    )
    attempt_count: int = Field(description="Number of attempts.", examples=[1])
    last_status: int | None = Field(
        description="Status of the response to the last attempt; `null` without a response.",
        examples=[503],
    )
    next_attempt_at: Timestamp | None = Field(
        description="Earliest time of the next attempt. A time in the past: it is due now. `null`"
        " unless the state is `PENDING`.",
        examples=["2026-11-20T11:00:00.000Z"],
    )


class WebhookAttempt(Resource):
    """One attempt to deliver a webhook."""

    at: Timestamp = Field(description="Time of the attempt.")
    status: int | None = Field(
        description="Status of the response; `null` without a response.", examples=[503]
    )
    error: str = Field(description="Why there was no response; otherwise empty.", examples=[""])
    duration_ms: int = Field(description="Duration of the attempt in milliseconds.", examples=[84])
    response_excerpt: str = Field(
        validation_alias="excerpt",
        description="Beginning of the response body.",
        examples=["Maintenance until 11:00"],
    )
    ambiguous: bool = Field(
        description="Whether the receiver may have processed the webhook although no response"
        " arrived."
    )


class WebhookDeliveryDetails(WebhookDelivery):
    """A delivery with its attempts."""

    attempts: tuple[WebhookAttempt, ...] = Field(
        description="The last 100 attempts of the last 90 days, oldest first."
    )


class DeliveryList(Resource):
    """A page of webhook deliveries."""

    items: tuple[WebhookDelivery, ...] = Field(description="The deliveries, newest first.")
    meta: CursorMeta


class ReplayedDelivery(Resource):
    """The result of the replay of one delivery."""

    id: UuidText = Field(description="Identifier of the delivery.")
    result: ReplayResult = Field(
        description="`REPLAYED`: the next attempt is due now. `DUE`: an attempt was due or being"
        " made already. `SUCCEEDED`: the webhook was delivered and is not sent again. `TEST`: a"
        " test is never sent again. `LIMITED`: not replayed, because the limit of replays a minute"
        " is reached; replay it later. `NOT_FOUND`: the account has no such delivery."
    )


class ReplayedDeliveries(Resource):
    """The results of a replay."""

    items: tuple[ReplayedDelivery, ...] = Field(description="One result for each delivery.")
    meta: CursorMeta


def delivery_view(
    execution: Execution, last: Attempt | None, workflow_name: str, action_key: str
) -> WebhookDelivery:
    """Return the partner view of an execution.

    Args:
        last: the last attempt; None before the first one.
    """
    next_attempt_at = None
    if execution.state is ExecutionState.PENDING:
        waits_until = datetime.fromtimestamp(execution.not_before or 0, UTC)
        next_attempt_at = max(waits_until, execution.created_at)
    return WebhookDelivery(
        id=execution.id,
        created_at=execution.created_at,
        feedback_id=execution.feedback_id,
        test=execution.is_test,
        workflow=DeliveryWorkflow(id=execution.workflow_id, name=workflow_name),
        action=DeliveryAction(id=execution.action_id, key=action_key),
        state=execution.state,
        reason=execution.reason,
        attempt_count=execution.attempt,
        last_status=last.status if last else None,
        next_attempt_at=next_attempt_at,
    )
