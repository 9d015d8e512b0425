"""Test that a worker publishes the metric of its alarm when work raises an unhandled exception."""

from dataclasses import replace
from typing import Any

import pytest

import app
from chalicelib.domain.work import Interruption
from chalicelib.services.work import partial_batch
from chalicelib.services.work.worker import Worker
from chalicelib.storage.dynamodb.work_records import WorkRecords
from infrastructure.functions import FUNCTIONS

WORKERS = {function.work: function.name for function in FUNCTIONS if function.work}
"""The name of the function of each kind of work."""


class AnyPointer:
    """The content of a message. The value of each attribute is its name."""

    def __getattr__(self, name: str) -> str:
        return name


def fail(_: object) -> Any:
    raise RuntimeError("defect")


@pytest.mark.parametrize("kind", WORKERS)
def test_exception_of_work_is_published_as_metric(
    kind: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    process_batch = partial_batch.process_batch

    def process_failing(worker: Worker[Any], records: Any, context: Any) -> Any:
        failing = replace(worker, parse=lambda _: AnyPointer(), prepare=lambda _: (), run=fail)
        return process_batch(failing, records, context)

    monkeypatch.setattr(partial_batch, "process_batch", process_failing)
    monkeypatch.setattr(WorkRecords, "interrupt", lambda *_: Interruption.RESCHEDULED)
    record = {"messageId": "1", "body": "", "attributes": {}}
    handler = getattr(app, WORKERS[kind])
    assert handler({"Records": [record]}, None) == {"batchItemFailures": []}
    (line,) = [vars(r) for r in caplog.records if "raised an exception" in r.message]
    (described,) = line["_aws"]["CloudWatchMetrics"]
    assert (line["work"], line["exceptions"]) == (kind, 1)
    assert described["Dimensions"] == [["work", "service"]]
    assert described["Metrics"] == [{"Name": "exceptions", "Unit": "Count"}]
