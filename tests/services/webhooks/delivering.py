"""Trigger webhooks and deliver them to a receiver whose responses the test sets."""

from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from admin.services.definitions.kinds import WORKFLOW, save
from admin.services.webhooks.secret import rotate_webhook_secret
from chalicelib.domain.webhooks.execution import Attempt, ExecutionState
from chalicelib.outbound.webhook_http.connection import WebhookFailure
from chalicelib.outbound.webhook_http.exchange import WebhookResponse
from chalicelib.services.webhooks.deliveries import read_execution
from chalicelib.services.work.sweep import sweep
from chalicelib.storage.executions import ExecutionRow
from tests.domain.workflows.factories import action_definition, workflow_definition
from tests.services.feedback.submitting import answer_contact_form
from tests.services.kinds import WEBHOOKS
from tests.services.moved_time import Time
from tests.services.queues import FEEDBACK_QUEUE, WEBHOOK_QUEUE
from tests.web.seeded_account import SeededAccount

LONG_DELAY = timedelta(hours=7)
"""A time span longer than any delay between two attempts."""

TIMED_OUT = WebhookResponse(
    10_000, was_sent=True, error=WebhookFailure.TIMEOUT, detail="No response."
)
NO_CONNECTION = WebhookResponse(
    5_000, was_sent=False, error=WebhookFailure.NO_CONNECTION, detail="Refused."
)


def response_with(status: int, **overrides: Any) -> WebhookResponse:
    return WebhookResponse(12, was_sent=True, status=status, **overrides)


@dataclass(frozen=True)
class ReceivedRequest:
    """A request that the receiver received, and the status with which it responded."""

    url: str
    headers: dict[str, str]
    body: bytes
    status: int | None

    @property
    def execution_id(self) -> str:
        return self.headers["X-Service-Webhook-Id"]


@dataclass
class Receiver:
    """A receiver that returns its responses in order and then repeats the last one."""

    responses: list[WebhookResponse | BaseException] = field(default_factory=list)
    requests: list[ReceivedRequest] = field(default_factory=list)

    def post(
        self, url: str, headers: dict[str, str], body: bytes, *, allow_private: bool
    ) -> WebhookResponse:
        response = self.responses[min(len(self.requests), len(self.responses) - 1)]
        is_response = isinstance(response, WebhookResponse)
        self.requests.append(
            ReceivedRequest(url, headers, body, response.status if is_response else None)
        )
        if isinstance(response, WebhookResponse):
            return response
        raise response


@dataclass(frozen=True)
class ReceivingAccount(SeededAccount):
    """An account with forms, the receiver of its webhooks, and the clock of the test."""

    receiver: Receiver
    time: Time

    def advance(self, ahead: timedelta) -> None:
        """Move the clock ahead, then sweep and deliver the due webhooks."""
        self.time.ahead += ahead
        sweep(WEBHOOKS)
        if bodies := WEBHOOK_QUEUE.queued_messages(self.account_id):
            assert WEBHOOK_QUEUE.deliver(bodies) == []

    def attempt(self, *responses: WebhookResponse | BaseException, **action: Any) -> list[str]:
        """Add a workflow, answer its form, and make the first attempt to deliver its webhook.

        The receiver returns the responses in order. Return the message of the webhook.
        """
        add_workflow(self.account_id, *([action_definition(**action)] if action else []))
        self.receiver.responses = list(responses)
        messages = trigger_webhooks(self)
        WEBHOOK_QUEUE.deliver(messages)
        return messages


def trigger_webhooks(seeded: SeededAccount, **answers: str) -> list[str]:
    """Submit the contact form, process the feedback, and return the messages of its webhooks."""
    answer_contact_form(seeded, **answers)
    assert FEEDBACK_QUEUE.deliver(FEEDBACK_QUEUE.queued_messages(seeded.account_id)) == []
    return WEBHOOK_QUEUE.queued_messages(seeded.account_id)


def read_only_execution(seeded: SeededAccount) -> tuple[ExecutionState, bool, list[Attempt]]:
    """Return the state, the ambiguous flag and the attempts of the account's only execution."""
    (row,) = executions_of(seeded.account_id)
    execution, attempts = read_execution(row.execution_id)
    return execution.state, execution.ambiguous, list(attempts)


def add_workflow(account_id: str, *actions: dict[str, Any], **fields: Any) -> Any:
    """Create a webhook secret and a workflow for the account. Return the workflow."""
    rotate_webhook_secret(account_id, "operator")
    if actions:
        fields["actions"] = list(actions)
    return save(WORKFLOW, account_id, workflow_definition(**fields))


def executions_of(account_id: str) -> list[ExecutionRow]:
    """Return the account's executions as stored in the table."""
    return list(ExecutionRow.scan(ExecutionRow.account_id == account_id))
