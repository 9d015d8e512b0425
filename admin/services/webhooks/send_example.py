"""Send a test webhook at once, for the command ``workflow test``."""

from collections.abc import Mapping
from dataclasses import dataclass

from admin.services.webhooks.secret import signing_webhook_secrets
from chalicelib.domain import clock
from chalicelib.domain.errors import Conflict
from chalicelib.domain.ids import new_id
from chalicelib.domain.webhooks.headers import webhook_headers
from chalicelib.domain.workflows.workflow import Action, Workflow, example_body
from chalicelib.outbound.webhook_http.exchange import WebhookResponse, post
from chalicelib.settings import settings


@dataclass(frozen=True)
class Exchange:
    """The request of a test webhook, and the response to this request."""

    url: str
    headers: Mapping[str, str]
    body: bytes
    response: WebhookResponse


def send_test(account_id: str, workflow: Workflow, action: Action) -> Exchange:
    """Send one test webhook to the action's URL. Nothing is stored.

    The feedback ids in the body contain only zeros. The header ``X-Service-Webhook-Test`` marks the
    request as a test.

    Raises:
        Conflict: the account has no webhook secret.
    """
    now = clock.now()
    secrets = signing_webhook_secrets(account_id, now)
    if not secrets:
        raise Conflict("The account has no webhook secret. Create one with webhook-secret rotate.")
    body = example_body(workflow, action)
    headers = webhook_headers(
        action.headers,
        body,
        secrets,
        execution_id=new_id(),
        timestamp=int(now.timestamp()),
        is_test=True,
    )
    response = post(action.url, headers, body, allow_private=settings().private_webhooks)
    return Exchange(action.url, headers, body, response)
