"""Test that a worker publishes the metric of its alarm when work raises an unhandled exception."""

import json
from typing import Any

import pytest

import app
from chalicelib.domain.work import Interruption
from chalicelib.services.customers import import_chunk
from chalicelib.services.erasure import erase
from chalicelib.services.feedback import process
from chalicelib.services.solicitation import send_survey
from chalicelib.services.webhooks import send
from chalicelib.storage.dynamodb.work_records import WorkRecords
from infrastructure.functions import FUNCTIONS

ACCOUNT = {"accountId": "a"}
WORKERS: dict[str, tuple[Any, Any, str, dict[str, Any]]] = {
    "import": (
        app.import_customers,
        import_chunk,
        "import_chunk",
        {"importId": "i", "part": "p", "pairs": [], "queuedAt": 0},
    ),
    "feedback": (
        app.process_feedback,
        process,
        "process_feedback",
        {"feedbackId": "f"},
    ),
    "webhook": (
        app.send_webhook,
        send,
        "send_webhook",
        {"executionId": "e", "workflowId": "w", "actionId": "a"},
    ),
    "solicitation": (
        app.send_survey,
        send_survey,
        "send_survey",
        {"solicitationId": "s", "customerId": "c"},
    ),
    "erasure": (
        app.erase_customer,
        erase,
        "continue_erasure",
        {"erasureId": "e"},
    ),
}
"""By kind of work: the handler, the module to patch, its function that does the work, and the
content of a message."""


def test_workers_cover_every_kind_of_work() -> None:
    assert set(WORKERS) == {function.work for function in FUNCTIONS if function.work}


@pytest.mark.parametrize("kind", WORKERS)
def test_exception_of_work_is_published_as_metric(
    kind: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError("defect")

    handler, module, work, content = WORKERS[kind]
    monkeypatch.setattr(module, work, fail)
    monkeypatch.setattr(WorkRecords, "interrupt", lambda *_: Interruption.RESCHEDULED)
    monkeypatch.setattr(send, "workflows_of", lambda _: None)
    monkeypatch.setattr(send, "signing_secrets_of", lambda _: None)
    record = {"messageId": "1", "body": json.dumps(ACCOUNT | content), "attributes": {}}
    assert handler({"Records": [record]}, None) == {"batchItemFailures": []}
    (line,) = [vars(r) for r in caplog.records if "raised an exception" in r.message]
    (described,) = line["_aws"]["CloudWatchMetrics"]
    assert (line["work"], line["exceptions"]) == (kind, 1)
    assert described["Dimensions"] == [["work", "service"]]
    assert described["Metrics"] == [{"Name": "exceptions", "Unit": "Count"}]
