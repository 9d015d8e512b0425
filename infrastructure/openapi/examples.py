"""Record the examples of the OpenAPI document by sending requests to the app in this process.

The app uses demo data. The clock and new ids are fixed, so that every run records the same
examples.
"""

import json
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from random import Random
from typing import Any, Final
from unittest.mock import patch
from uuid import UUID

import boto3
import httpx
from chalice.test import Client
from moto import mock_aws

from admin.services.accounts import manage
from admin.services.accounts.manage import create_account, issue_key
from admin.services.definitions.definition import Kind, RawDefinition
from admin.services.solicitation.manage import create_tracker
from admin.services.workflows.manage import save_workflow
from chalicelib.domain import clock, ids
from chalicelib.domain.accounts.account import Permission
from chalicelib.domain.customers.body import CustomerBody
from chalicelib.domain.customers.import_batch import ChunkPointer
from chalicelib.domain.idempotency import HEADER as IDEMPOTENCY_HEADER
from chalicelib.domain.ids import derived_id
from chalicelib.domain.parsing import MAX_BODY_BYTES, parse
from chalicelib.domain.webhooks.execution import Attempt, outcome_of
from chalicelib.domain.workflows.workflow import new_test_execution
from chalicelib.messages import decode
from chalicelib.queues import IMPORTS
from chalicelib.services.customers.create import create_customer
from chalicelib.services.customers.import_chunk import import_chunk
from chalicelib.services.erasure.erase import continue_erasure, start_erasure
from chalicelib.services.feedback.process import process_feedback
from chalicelib.services.purchases import report
from chalicelib.settings import settings
from chalicelib.storage import executions, trackers
from chalicelib.storage.dynamodb import table
from chalicelib.web.partner.endpoint import KEY_HEADER, SECRET_HEADER
from infrastructure.demo.contents import ACCOUNTS, demo_definitions
from infrastructure.demo.customers import SHOWN_CUSTOMER
from infrastructure.demo.ids import MAIN_ACCOUNT, demo_id
from infrastructure.demo.load import save_demo
from infrastructure.demo.purchases import PURCHASE, SHOWN_PURCHASE, id_of
from infrastructure.demo.workflows import main_workflows

REQUEST_ID: Final = "8f3b1a52-6c0e-4d0f-9a53-b1e7c2d4f601"
TRACKER: Final = demo_id("tracker example")
EXAMPLE_KEY: Final = "example-2026-11-20"
"""The idempotency key of the examples. The id of the example import is derived from this key."""

_ROOT: Final = Path(__file__).parent.parent.parent
_NOW: Final = datetime(2026, 11, 20, 10, tzinfo=UTC)
_CUSTOMERS: Final = 12
_UNKNOWN: Final = demo_id("unknown")
_STORE: Final = demo_id("store lyon")
_FORM: Final = demo_id("contact-form lumen")
_DISABLED_FORM: Final = demo_id("contact-form closed")
_SURVEY: Final = demo_id("survey visit")
_PRIVATE_SURVEY: Final = demo_id("survey stay")
_DISABLED_SURVEY: Final = demo_id("survey japan")
_ROWS: Final = json.loads((_ROOT / "infrastructure/demo/customers-batch.json").read_text())["batch"]

_DELIVERY: Final = demo_id("delivery example")
_WORKFLOW: Final = demo_id("workflow unhappy")
_ACTION: Final = derived_id(_WORKFLOW, "action", "alert")
_ERASED_CUSTOMER: Final = demo_id("customer main 3")
_PURCHASE_KEY: Final = {"source": "Site", "externalId": "ORDER-20418"}
_PURCHASE: Final = {
    **_PURCHASE_KEY,
    "storeId": _STORE,
    "date": "2026-11-20T09:30:00Z",
    "customer": {"firstName": "Lou", "email": "lou.blanc@example.com", "emailOptin": True},
}
_NO_CUSTOMER: Final = {name: value for name, value in _PURCHASE.items() if name != "customer"}
_OLD_KEY: Final = {"source": "Site", "externalId": "ORDER-20417"}
_OLD: Final = id_of(MAIN_ACCOUNT, _OLD_KEY)
_CANCELLED: Final = id_of(MAIN_ACCOUNT, _PURCHASE_KEY)

QUERIES: Final = {
    "getPurchase": {"id": SHOWN_PURCHASE},
    "getContactForm": {"id": _FORM},
    "getSurvey": {"id": _SURVEY},
    "getCustomer": {"id": SHOWN_CUSTOMER},
    "changeCustomer": {"id": SHOWN_CUSTOMER},
    "getErasure": {"id": _ERASED_CUSTOMER},
    "getSurveyTracker": {"purchase": SHOWN_PURCHASE},
    "getWebhookDelivery": {"id": _DELIVERY},
    "importCustomers": {"partial": "true"},
    "showContactForm": {"id": _FORM},
    "showSurvey": {"survey": _SURVEY, "store": _STORE},
    "openContactFormPage": {"id": _FORM, "store": _STORE},
    "openSurveyPage": {"survey": _SURVEY, "store": _STORE},
}
_MESSAGE: Final = {
    "name": "Ada Martin",
    "email": "ada.martin@example.com",
    "topic": "Something else",
    "message": "Is the terrace open in winter?",
}
_RATING: Final = {"nps": "9", "food": "5", "best": "Food"}
_PAGES: Final = {
    "The first page": {},
    "The second page with a limit of one record": {"limit": 1, "page": 2},
}
_BODIES: Final[dict[str, dict[str, Any]]] = {
    "listFeedback": {
        "The start of the feed": {},
        "High ratings of surveys": {"kind": "SURVEY", "minRating": 8},
    },
    "getStatistics": {
        "A year by month": {"since": "2026-01-01", "until": "2026-12-31", "interval": "MONTH"},
        "Stores of a quarter": {
            "since": "2026-10-01",
            "until": "2026-12-31",
            "groupBy": ["STORE"],
            "kind": "SURVEY",
        },
    },
    "createCustomer": {"Only a name": {"firstName": "Tom"}, "A customer": _ROWS[6]},
    "reportPurchase": {
        "A booking whose survey is sent after the stay": {
            **_PURCHASE,
            "startDate": "2026-11-27T15:00:00Z",
            "endDate": "2026-11-29T11:00:00Z",
            "sendAt": "2026-11-30T09:00:00Z",
            "metadata": {"room": "12"},
        },
    },
    "reportPurchases": {
        "Two old purchases, one of them invalid": {
            "batch": [
                {**_PURCHASE, **_OLD_KEY},
                {**_NO_CUSTOMER, "externalId": "ORDER-20416", "customerId": _UNKNOWN},
            ],
            "solicit": False,
        },
    },
    "findPurchase": {"By order number": _PURCHASE_KEY},
    "listPurchases": {
        "The first page": {},
        "Purchases in a store": {"limit": 2, "storeIds": [_STORE]},
    },
    "cancelPurchase": {"By order number": _PURCHASE_KEY},
    "createSurveyLink": {"A link to print on a receipt": {"purchaseId": _OLD}},
    "listSurveyTrackers": {
        "The first page": {},
        "Surveys that were not sent": {"limit": 2, "state": "SKIPPED"},
    },
    "eraseCustomer": {"A customer": {"id": _ERASED_CUSTOMER}},
    "changeCustomer": {
        "A new phone number": {"phoneNumber": "+33 6 98 76 54 32", "description": None},
    },
    "findCustomers": {
        "By e-mail address": {"email": "anais.benjelloun@example.com"},
    },
    "optOut": {"No e-mails": {"email": "tom@example.com", "channels": ["EMAIL"]}},
    "listWebhookDeliveries": {
        "Deliveries that failed since a day": {
            "state": "FAILED",
            "createdSince": "2026-11-20T00:00:00Z",
        },
        "The last deliveries": {"limit": 2},
    },
    "replayWebhookDeliveries": {
        "Deliveries of a day that wait for their next attempt": {
            "state": "PENDING",
            "createdSince": "2026-11-20T00:00:00Z",
            "createdUntil": "2026-11-21T00:00:00Z",
        },
        "By ids": {"ids": [_DELIVERY, _UNKNOWN]},
    },
    "testWebhook": {"An action": {"workflowId": _WORKFLOW, "actionId": _ACTION}},
    "importCustomers": {
        "Two rows": {"batch": [_ROWS[0], _ROWS[7]]},
        "Three rows, one of them invalid": {"batch": [_ROWS[0], {"firstName": " "}, _ROWS[7]]},
    },
    "submitContactForm": {"A message": {"id": _FORM, "store": _STORE, "fields": _MESSAGE}},
    "submitSurvey": {"A rating": {"id": _SURVEY, "store": _STORE, "fields": _RATING}},
}
"""Request bodies by operation and title. In submissions, ``fields`` maps field keys to answers.

Other POST requests have the bodies `_PAGES`.
"""

_BAD_PAGE: Final = {"limit": 101, "offset": 0}
_BAD_BODIES: Final[dict[tuple[str, int], dict[str, Any]]] = {
    ("listFeedback", 400): {"cursor": "x"},
    ("getStatistics", 400): {"since": "2026-11-30", "until": "30 November"},
    ("createCustomer", 400): {"emial": "tom@example.com", "language": "french"},
    ("reportPurchase", 400): {"source": "Site", "storeID": _STORE, "date": "yesterday"},
    ("reportPurchases", 400): {"batch": []},
    ("findPurchase", 400): {"source": "Shop"},
    ("findPurchase", 404): {**_PURCHASE_KEY, "externalId": "UNKNOWN"},
    ("listPurchases", 400): {"cursor": "x"},
    ("cancelPurchase", 400): {"externalId": "ORDER-20418"},
    ("cancelPurchase", 404): {**_PURCHASE_KEY, "externalId": "UNKNOWN"},
    ("createSurveyLink", 400): {"purchase": _OLD},
    ("createSurveyLink", 404): {"purchaseId": _UNKNOWN},
    ("createSurveyLink", 409): {"purchaseId": _CANCELLED},
    ("listSurveyTrackers", 400): {"state": "OPEN"},
    ("eraseCustomer", 400): {"id": "zoe@example.com"},
    ("changeCustomer", 400): {"emailOptin": None},
    ("findCustomers", 400): {"email": "nobody"},
    ("optOut", 400): {"email": "tom@example.com", "channels": ["SMS"]},
    ("listWebhookDeliveries", 400): {"cursor": "x"},
    ("replayWebhookDeliveries", 400): {"state": "FAILED"},
    ("testWebhook", 400): {"workflowId": _WORKFLOW},
    ("testWebhook", 404): {"workflowId": _UNKNOWN, "actionId": _ACTION},
    ("importCustomers", 400): {"batch": [{"lastName": "Roy"}, {"email": "nobody"}]},
    ("submitContactForm", 400): {"id": _FORM, "fields": []},
    ("submitContactForm", 409): {"id": _DISABLED_FORM, "fields": []},
    ("submitSurvey", 400): {"id": _SURVEY, "fields": []},
    ("submitSurvey", 403): {"id": _PRIVATE_SURVEY, "fields": []},
    ("submitSurvey", 409): {"id": _DISABLED_SURVEY, "fields": []},
}
_ERASED_KEY: Final = "erased-customer"
_BAD_HEADERS: Final = {("createCustomer", 404): {IDEMPOTENCY_HEADER: _ERASED_KEY}}
_BAD_QUERIES: Final = {
    ("showSurvey", 403): {"survey": _PRIVATE_SURVEY},
    ("showSurvey", 409): {"survey": _PRIVATE_SURVEY, "tracker": TRACKER},
}


@dataclass(frozen=True)
class Example:
    """The recorded examples of an operation: request bodies, a response, and problems by status.

    Attributes:
        bodies: request bodies by title.
        response: the response body. If there are several request bodies, it is the response to the
            last one.
    """

    query: dict[str, str] = field(default_factory=dict)
    bodies: dict[str, Any] = field(default_factory=dict)
    response: Any = None
    errors: dict[int, Any] = field(default_factory=dict)


class Recorder:
    """Send requests to the app and record the responses."""

    def __init__(self, client: Client) -> None:
        self._http = client.http
        everything = frozenset(Permission)
        credential, secret = issue_key(MAIN_ACCOUNT, "operator", "", everything)
        self._credentials = {KEY_HEADER: credential.api_key, SECRET_HEADER: secret}
        self._queries: dict[str, dict[str, str]] = {}

    def record(self, name: str, method: str, path: str, errors: Iterable[int]) -> Example:
        """Record the examples of an operation: one success and one error per status."""
        bodies = {
            title: self._with_field_ids(path, body) if "/submit" in path else body
            for title, body in _BODIES.get(name, _PAGES if method == "POST" else {}).items()
        }
        query = QUERIES.get(name, self._queries.get(name, {}))
        body = list(bodies.values())[-1] if bodies else None
        problems = {
            status: self._send(
                status,
                method,
                path,
                *_failing(name, status, query, body),
                _BAD_HEADERS.get((name, status), {}),
            )
            for status in errors
        }
        expected = (
            200 if method in ("GET", "PATCH") else 204 if name == "submitContactForm" else 201
        )
        headers = {IDEMPOTENCY_HEADER: EXAMPLE_KEY} if name == "importCustomers" else {}
        response = self._send(expected, method, path, query, body, headers)
        if name == "importCustomers":
            self._queries["getCustomerBatch"] = {"id": response["id"]}
            _import_queued_rows()
        return Example(query, bodies, response, problems)

    def use_tracker(self) -> None:
        """Submit the private survey with the tracker, and process the feedback."""
        path = "/public/survey/submit"
        body = {"id": _PRIVATE_SURVEY, "tracker": TRACKER, "fields": {"stars": "5"}}
        self._send(201, "POST", path, {}, self._with_field_ids(path, body))
        tracker = trackers.find(TRACKER)
        feedback_id = (tracker and tracker.feedback_id) or ""
        process_feedback([feedback_id])
        self._queries["getFeedback"] = {"id": feedback_id}

    def _send(
        self,
        expected: int,
        method: str,
        path: str,
        query: dict[str, str],
        body: Any = None,
        added_headers: dict[str, str] | None = None,
    ) -> Any:
        """Send the request and return the JSON of the response.

        Raises:
            ValueError: the response does not have the expected status.
        """
        encoded: dict[str, Any] = {"json": body}
        if path.startswith("/public/") and body:
            parts = {name: v if isinstance(v, str) else json.dumps(v) for name, v in body.items()}
            encoded = {"files": {name: (None, text) for name, text in parts.items()}}
        elif body is None:
            encoded = {}
        request = httpx.Request(method, f"http://service{path}", params=query, **encoded)
        headers = dict(request.headers) | self._credentials | (added_headers or {})
        if expected == 415:
            headers["content-type"] = "text/plain"
        target = request.url.raw_path.decode()
        response = self._http.request(method, target, headers=headers, body=request.read())
        if response.status_code != expected:
            raise ValueError(f"{method} {path}: {response.status_code} {response.body!r}")
        content: Any = json.loads(response.body) if response.body else {}
        return {**content, "requestId": REQUEST_ID} if expected >= 400 else content

    def _with_field_ids(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        """Return the submission with field ids instead of field keys."""
        query = {"survey" if "survey" in path else "id": body["id"]}
        query |= {"tracker": body["tracker"]} if "tracker" in body else {}
        form = self._send(200, "GET", path.removesuffix("/submit"), query)
        field_ids = {field["key"]: field["id"] for field in form["fields"]}
        answers = [
            {"id": field_ids[key], "values": [value]} for key, value in body["fields"].items()
        ]
        return {**body, "fields": answers}


@contextmanager
def recorder() -> Iterator[Recorder]:
    """Run the app in process, with moto instead of AWS and with part of the demo data."""
    from app import app

    # Ids in examples must be the same in every run, and need not be secret.
    random, keys = Random("openapi"), Random("keys")  # noqa: S311
    with (
        mock_aws(),
        patch.object(clock, "now", lambda: _NOW),
        patch.object(clock, "within", lambda _: _NOW),
        patch.object(table, "parsedate_to_datetime", lambda _: _NOW),
        patch.object(manage, "new_api_key", lambda: f"fk_{keys.randbytes(12).hex()}"),
        # Moto's tables are not safe for concurrent threads.
        patch.object(report, "MAX_WRITERS", 1),
        patch.object(ids, "uuid4", lambda: UUID(int=random.getrandbits(128), version=4)),
        Client(app, stage_name="test", project_dir=str(_ROOT)) as client,
    ):
        boto3.client("cloudformation").create_stack(
            StackName="data",
            TemplateBody=(_ROOT / "infrastructure/data.yaml").read_text(),
            Parameters=[{"ParameterKey": "Stage", "ParameterValue": "test"}],
        )
        # Moto does not create secrets from templates.
        boto3.client("secretsmanager").create_secret(
            Name="feedback-test-stage-secret", SecretString="example"
        )
        boto3.client("ssm").put_parameter(
            Name="feedback-test-public-base-url", Value="https://api.example.com", Type="String"
        )
        create_account(ACCOUNTS[MAIN_ACCOUNT], MAIN_ACCOUNT)
        save_demo(list(_definitions()))
        create_tracker(MAIN_ACCOUNT, _PRIVATE_SURVEY, SHOWN_PURCHASE, "EMAIL", TRACKER)
        recording = Recorder(client)
        recording.use_tracker()
        _fail_delivery()
        _erase_customer()
        yield recording


def _fail_delivery() -> None:
    """Save workflows, and a delivery whose first attempt failed."""
    _, _, unhappy = (
        save_workflow(MAIN_ACCOUNT, definition)
        for definition in main_workflows("https://crm.example.com/webhooks")
    )
    (action,) = unhappy.actions
    created = new_test_execution(MAIN_ACCOUNT, unhappy, action, _DELIVERY, _NOW)
    executions.create([replace(created, feedback_id=demo_id("feedback example"))])
    claimed = executions.claim(created.pointer, _NOW)
    assert claimed  # noqa: S101
    attempt = Attempt(1, _NOW, status=503, duration_ms=84, excerpt="Maintenance until 11:00")
    outcome = outcome_of(attempt, _NOW, used=1, allowed=action.attempts, retry_after="3600")
    executions.save_outcome(claimed, [attempt], outcome, _NOW)


def _erase_customer() -> None:
    """Create a customer with an idempotency key, and erase it."""
    created = create_customer(MAIN_ACCOUNT, parse({"firstName": "Zoé"}, CustomerBody), _ERASED_KEY)
    continue_erasure(start_erasure(MAIN_ACCOUNT, created.id, "operator").pointer)


def _definitions() -> Iterator[RawDefinition]:
    """Yield definitions of the main account: brands, stores, forms, customers, one purchase."""
    customers = 0
    for definition in demo_definitions():
        content = definition.content
        customers += content["kind"] == Kind.CUSTOMER
        if content["account"] != MAIN_ACCOUNT or (
            customers > _CUSTOMERS
            if content["kind"] == Kind.CUSTOMER
            else content["kind"] == PURCHASE and id_of(MAIN_ACCOUNT, content) != SHOWN_PURCHASE
        ):
            continue
        yield definition


def _failing(name: str, status: int, query: dict[str, str], body: Any) -> tuple[Any, Any]:
    """Return the query and the body of an example request that fails with this status."""
    if status == 415:
        return query, body
    if status == 413:
        return query, {"id": " " * MAX_BODY_BYTES}
    if status == 404:
        if (name, status) in _BAD_BODIES:
            return query, _BAD_BODIES[name, status]
        if (name, status) in _BAD_HEADERS:
            return query, body
        required = next(iter(query), "id")
        if required in query or body is None:
            return {**query, required: _UNKNOWN}, body
        return query, {**body, "id": _UNKNOWN}
    bad_page = None if body is None else _BAD_PAGE
    bad_body = _BAD_BODIES[name, status] if name in _BODIES else bad_page
    return _BAD_QUERIES.get((name, status), {}), bad_body


def _import_queued_rows() -> None:
    name = settings().resource_name(IMPORTS.name)
    queue = boto3.resource("sqs").get_queue_by_name(QueueName=name)
    for message in queue.receive_messages():
        import_chunk(decode(ChunkPointer, message.body))
