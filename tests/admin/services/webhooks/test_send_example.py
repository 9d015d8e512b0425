"""Test of the webhook that an operator sends to test a workflow action."""

import pytest

from admin.services.webhooks import send_example
from chalicelib.domain.webhooks.headers import validate_headers
from tests.domain.workflows.factories import action_definition
from tests.services.webhooks.delivering import Receiver, add_workflow, response_with
from tests.web.seeded_account import seed_account

pytestmark = pytest.mark.usefixtures("account")


@pytest.mark.parametrize(
    "name", ["X-Service-Webhook-Test", "x-service-webhook-test", "X_Service_Webhook_Test"]
)
def test_header_of_test_webhook_overrides_custom_header(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    receiver = Receiver([response_with(200)])
    monkeypatch.setattr(send_example, "post", receiver.post)
    account = seed_account().account_id
    workflow = add_workflow(account, action_definition(headers={name: "no", "X-Own": "1"}))
    exchange = send_example.send_test(account, workflow, workflow.actions[0])
    (request,) = receiver.requests
    validate_headers(request.headers)
    assert (request.headers["X-Service-Webhook-Test"], request.headers["X-Own"]) == ("true", "1")
    assert "no" not in request.headers.values()
    assert exchange.headers == request.headers
