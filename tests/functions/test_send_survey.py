"""Tests of the metrics that the function `send_survey` publishes in its log lines."""

import pytest

import app
from chalicelib.domain.solicitation.solicitation import SolicitationPointer
from chalicelib.messages import encode
from chalicelib.services.solicitation import send_survey as service
from chalicelib.services.solicitation.send_survey import SendingOutcome

_COUNTED = ("sent", "skipped", "deferred", "rejected", "unknown", "parked", "failed")


@pytest.mark.parametrize(
    ("outcome", "metrics"),
    [
        (SendingOutcome.SENT, {"sent"}),
        (SendingOutcome.DEFERRED, {"deferred"}),
        (SendingOutcome.REJECTED, {"rejected", "failed"}),
        (SendingOutcome.UNKNOWN, {"unknown", "failed"}),
        (SendingOutcome.HELD, set()),
    ],
)
def test_outcome_of_survey_is_counted_in_metrics(
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    outcome: SendingOutcome,
    metrics: set[str],
) -> None:
    monkeypatch.setattr(service, "send_survey", lambda pointer: outcome)
    record = {"messageId": "1", "body": encode(SolicitationPointer("a", "s", "c"))}
    attributes = {"ApproximateReceiveCount": "1"}
    app.send_survey({"Records": [record | {"attributes": attributes}]}, None)
    (line,) = [vars(entry) for entry in caplog.records if "outcome" in vars(entry)]
    assert {name for name in _COUNTED if line[name]} == metrics
    (description,) = line["_aws"]["CloudWatchMetrics"]
    assert {metric["Name"] for metric in description["Metrics"]} == set(_COUNTED)
