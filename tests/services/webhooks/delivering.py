"""Delivering webhooks by hand: messages are given to the function, answers come from the test."""

from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, Final

import pytest

from chalicelib.functions.send_webhook import send_webhook
from chalicelib.outbound.webhook_http.connection import WebhookFailure
from chalicelib.outbound.webhook_http.exchange import WebhookResponse
from chalicelib.services.webhooks import send as service
from chalicelib.services.webhooks.secret import rotate_webhook_secret
from chalicelib.services.work.kinds import WEBHOOKS
from chalicelib.services.work.sweep import sweep
from chalicelib.services.workflows.manage import save_workflow
from chalicelib.storage.executions import ExecutionRow
from tests.domain.workflows.factories import workflow_document
from tests.services.moved_time import Time, move_time
from tests.services.queue_by_hand import QueueByHand

TIMED_OUT = WebhookResponse(
    10_000, was_sent=True, error=WebhookFailure.TIMEOUT, detail="No answer."
)
NO_CONNECTION = WebhookResponse(
    5_000, was_sent=False, error=WebhookFailure.NO_CONNECTION, detail="Refused."
)


def answered(status: int, **more: Any) -> WebhookResponse:
    return WebhookResponse(12, was_sent=True, status=status, **more)


@dataclass(frozen=True)
class Got:
    """A request as the receiver got it."""

    url: str
    headers: dict[str, str]
    body: bytes
    status: int | None

    @property
    def execution_id(self) -> str:
        return self.headers["X-Service-Webhook-Id"]


@dataclass
class Receiver:
    """A receiver that answers as it is told, the last answer again and again."""

    answers: list[WebhookResponse | BaseException] = field(default_factory=list)
    got: list[Got] = field(default_factory=list)

    def post(
        self, url: str, headers: dict[str, str], body: bytes, *, allow_private: bool
    ) -> WebhookResponse:
        answer = self.answers[min(len(self.got), len(self.answers) - 1)]
        is_answer = isinstance(answer, WebhookResponse)
        self.got.append(Got(url, headers, body, answer.status if is_answer else None))
        if isinstance(answer, WebhookResponse):
            return answer
        raise answer


@pytest.fixture
def time(monkeypatch: pytest.MonkeyPatch) -> Time:
    return move_time(monkeypatch)


@pytest.fixture
def receiver(monkeypatch: pytest.MonkeyPatch) -> Receiver:
    made = Receiver([answered(200)])
    monkeypatch.setattr(service, "post", made.post)
    # Moto copies whole tables in a transaction, which two threads cannot do at once.
    monkeypatch.setattr(service, "MAX_CONCURRENCY", 1)
    service.hosts.forget()
    return made


def react(account_id: str, *actions: dict[str, Any], **document: Any) -> Any:
    """Gives the account a secret and a workflow; answers the workflow."""
    rotate_webhook_secret(account_id)
    if actions:
        document["actions"] = list(actions)
    return save_workflow(account_id, workflow_document(**document))


_QUEUE: Final = QueueByHand("webhooks", send_webhook)
queued_messages = _QUEUE.queued_messages
deliver = _QUEUE.deliver


def pass_time(account_id: str, time: Time, ahead: timedelta) -> None:
    """Lets time pass, then sweeps and delivers what is due."""
    time.ahead += ahead
    sweep(WEBHOOKS)
    bodies = queued_messages(account_id)
    if bodies:
        assert deliver(bodies) == []


def executions_of(account_id: str) -> list[ExecutionRow]:
    """The account's executions as they are kept."""
    return list(ExecutionRow.scan(ExecutionRow.account_id == account_id))
