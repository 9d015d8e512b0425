"""Test requests for a workflow action."""

import pytest

from chalicelib.domain.webhooks.headers import validate_headers
from chalicelib.services.webhooks import deliveries
from chalicelib.services.webhooks.deliveries import send_test
from tests.domain.workflows.factories import action_document
from tests.services.webhooks.delivering import Receiver, answered, react
from tests.web.opened import open_account

pytestmark = pytest.mark.usefixtures("account")


@pytest.mark.parametrize(
    "name", ["X-Service-Webhook-Test", "x-service-webhook-test", "X_Service_Webhook_Test"]
)
def test_test_header_overrides_custom_header_of_action(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    receiver = Receiver([answered(200)])
    monkeypatch.setattr(deliveries, "post", receiver.post)
    account = open_account().account_id
    workflow = react(account, action_document(headers={name: "no", "X-Own": "1"}))
    exchange = send_test(account, workflow, workflow.actions[0])
    (got,) = receiver.got
    validate_headers(got.headers)
    assert (got.headers["X-Service-Webhook-Test"], got.headers["X-Own"]) == ("true", "1")
    assert "no" not in got.headers.values()
    assert exchange.headers == got.headers
