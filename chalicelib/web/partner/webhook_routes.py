"""The partner routes of workflows and webhook deliveries."""

from chalice import Blueprint

from chalicelib.domain.paging import PageRequest
from chalicelib.domain.schema import Resource
from chalicelib.web.error_collector import ErrorCollector
from chalicelib.web.openapi.operation import IDEMPOTENCY_KEY, list_operation, operation
from chalicelib.web.partner.endpoint import PartnerRequest, partner_route

routes = Blueprint(__name__)


@partner_route(routes, "POST", "/partners/workflow/list")
@operation(
    **list_operation(
        "Webhooks",
        "workflows.partner_view.WorkflowPage",
        "workflows",
        "Returns one page of the account's workflows with their webhooks, oldest first. The"
        " response contains no custom headers, and of each URL only the host.",
    )
)
def list_workflows(request: PartnerRequest) -> Resource:
    """List workflows."""
    from chalicelib.services.workflows import read

    return read.list_workflows(request.account_id, request.optional_body(PageRequest))


@partner_route(routes, "POST", "/partners/webhook-delivery/list")
@operation(
    tag="Webhooks",
    description="Returns deliveries of webhooks of the last 90 days in their current state, newest"
    " first. Send the `cursor` of a page, with the same filters, for the next one. A new delivery"
    " appears within seconds. A page can have fewer deliveries than `limit`, or none, although the"
    " list continues: see `hasMore`.",
    body="webhooks.partner_view.DeliveryListRequest",
    body_description="The requested page. An empty body requests the last 10 deliveries and needs"
    " no content type.",
    body_optional=True,
    examples={
        "Deliveries that failed since a day": {
            "state": "FAILED",
            "createdSince": "2026-11-20T00:00:00Z",
        },
        "The last deliveries": {"limit": 2},
    },
    errors=("invalid_cursor",),
    response="webhooks.partner_view.DeliveryList",
    returns="The page of deliveries.",
)
def list_webhook_deliveries(request: PartnerRequest) -> Resource:
    """List webhook deliveries."""
    from chalicelib.domain.webhooks.partner_view import DeliveryListRequest
    from chalicelib.services.webhooks.deliveries import list_deliveries

    return list_deliveries(request.account_id, request.optional_body(DeliveryListRequest))


@partner_route(routes, "GET", "/partners/webhook-delivery")
@operation(
    tag="Webhooks",
    description="Returns one delivery of a webhook with its attempts.",
    parameters={"id": "Identifier of the delivery."},
    response="webhooks.partner_view.WebhookDeliveryDetails",
    returns="The delivery.",
    missing="delivery",
)
def get_webhook_delivery(request: PartnerRequest) -> Resource:
    """Get a webhook delivery."""
    from chalicelib.services.webhooks.deliveries import read_delivery

    return read_delivery(request.account_id, request.identifier())


@partner_route(routes, "POST", "/partners/webhook-delivery/replay")
@operation(
    tag="Webhooks",
    description="Makes the next attempt of deliveries due now: of those that ended without success,"
    " and of those that wait for their next attempt. Earlier attempts do not count towards the"
    " maximum number of attempts. A delivered webhook is not sent again, and neither is a test."
    " Select either up to 100 deliveries by their ids, or a state and a period. In this case,"
    " `items` contains only the replayed deliveries: send the `cursor` with the same selection"
    " until `hasMore` is `false`. An account can replay 600 deliveries a minute: a request replays"
    " as many as remain, and gets a 429 response with `Retry-After` if none remains.",
    body="webhooks.partner_view.DeliveryReplayRequest",
    body_description="The deliveries to replay.",
    examples={
        "Deliveries of a day that wait for their next attempt": {
            "state": "PENDING",
            "createdSince": "2026-11-20T00:00:00Z",
            "createdUntil": "2026-11-21T00:00:00Z",
        },
        "By ids": {"ids": ["5f26bd66-b2f5-55c1-84ca-8fd0cbf4fbd1"]},
    },
    invalid={"state": "FAILED"},
    response="webhooks.partner_view.ReplayedDeliveries",
    returns="The result for each delivery.",
    permission="write",
)
def replay_webhook_deliveries(request: PartnerRequest) -> Resource:
    """Replay webhook deliveries."""
    from chalicelib.domain.webhooks.partner_view import DeliveryReplayRequest
    from chalicelib.services.webhooks.deliveries import replay_deliveries

    return replay_deliveries(request.account_id, request.body(DeliveryReplayRequest))


@partner_route(routes, "POST", "/partners/webhook-delivery/test")
@operation(
    tag="Webhooks",
    description="Queues an example of a webhook and returns its delivery; read the delivery to see"
    " the result. The request has the header `X-Service-Webhook-Test: true`, and its feedback ids"
    " contain only zeros. A test has one attempt, and is also sent if the workflow is disabled. At"
    " most ten tests a minute.",
    parameters=IDEMPOTENCY_KEY,
    body="webhooks.partner_view.WebhookTestRequest",
    body_description="The webhook to test.",
    examples={
        "An action": {
            "workflowId": "74411b08-80f3-5f06-be98-0c16fc4af04b",
            "actionId": "a9706e80-9ced-5cba-928c-9e45fedadc03",
        },
    },
    invalid={"workflowId": "74411b08-80f3-5f06-be98-0c16fc4af04b"},
    response="webhooks.partner_view.WebhookDelivery",
    returns="The test is queued.",
    missing="workflow",
    permission="write",
)
def test_webhook(request: PartnerRequest) -> Resource:
    """Test a webhook."""
    from chalicelib.domain.webhooks.partner_view import WebhookTestRequest
    from chalicelib.services.webhooks.deliveries import queue_test

    with ErrorCollector() as errors:
        key = errors.of(request.idempotency_key, otherwise=None)
        body = request.body(WebhookTestRequest)
    return queue_test(request.account_id, body, key)
