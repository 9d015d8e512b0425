"""List, read and replay webhook executions, and send test webhooks."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from chalicelib.domain import clock
from chalicelib.domain.errors import Conflict, NotFound
from chalicelib.domain.ids import new_id
from chalicelib.domain.webhooks.execution import Attempt, Execution, ExecutionState
from chalicelib.domain.webhooks.headers import merge_headers, webhook_headers
from chalicelib.domain.webhooks.signature import sign
from chalicelib.domain.workflows.workflow import Action, Workflow, raw_body
from chalicelib.outbound.queues import send
from chalicelib.outbound.webhook_http.exchange import WebhookResponse, post
from chalicelib.queues import WEBHOOKS
from chalicelib.settings import settings
from chalicelib.storage import executions, webhook_secrets

TEST_HEADER: Final = "X-Service-Webhook-Test"
_NO_FEEDBACK: Final = "00000000-0000-0000-0000-000000000000"


@dataclass(frozen=True)
class Exchange:
    """The request of a test webhook, and the response to this request."""

    url: str
    headers: Mapping[str, str]
    body: bytes
    response: WebhookResponse


def list_deliveries(
    account_id: str, state: ExecutionState | None, at_most: int
) -> Sequence[Execution]:
    """Return the account's executions, newest first, without their bodies.

    Return none if the account does not exist.
    """
    return executions.list_for_account(account_id, state, at_most)


def read_delivery(execution_id: str) -> tuple[Execution, Sequence[Attempt]]:
    """Return an execution with its attempts of the last 90 days.

    Raises:
        NotFound: the execution does not exist.
    """
    execution = executions.find(execution_id)
    if execution is None:
        raise NotFound("delivery")
    return execution, executions.list_attempts(execution_id)


def replay_delivery(execution_id: str) -> None:
    """Make an execution that ended without success pending again, and queue it.

    Raises:
        NotFound: the execution does not exist.
        Conflict: the execution is pending or has succeeded.
    """
    execution, _ = read_delivery(execution_id)
    send(WEBHOOKS, [executions.reopen(execution, clock.now())])


def send_test(account_id: str, workflow: Workflow, action: Action) -> Exchange:
    """Send one test webhook to the action's URL. Nothing is stored.

    The feedback ids in the body contain only zeros. The header ``X-Service-Webhook-Test`` marks the
    request as a test.

    Raises:
        Conflict: the account has no webhook secret.
    """
    now = clock.now()
    secret = webhook_secrets.find_active(account_id, now)
    if secret is None:
        raise Conflict("The account has no webhook secret. Create one with webhook-secret rotate.")
    body = raw_body(workflow, action, _NO_FEEDBACK, _NO_FEEDBACK)
    timestamp = int(now.timestamp())
    headers = webhook_headers(
        merge_headers(action.headers, {TEST_HEADER: "true"}),
        execution_id=new_id(),
        timestamp=timestamp,
        signature=sign(secret, timestamp, body),
    )
    response = post(action.url, headers, body, allow_private=settings().private_webhooks)
    return Exchange(action.url, headers, body, response)
