"""Test that a measurement counts and delays every AWS request."""

import time
from types import SimpleNamespace
from typing import Any

import pytest
from botocore.httpsession import URLLib3Session

from benchmarks.measurement import measured


def test_aws_requests_inside_context_are_counted_and_delayed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(URLLib3Session, "send", lambda _session, request: request.headers)
    session: Any = URLLib3Session()
    first = SimpleNamespace(headers={"X-Amz-Target": b"DynamoDB_20120810.GetItem"})
    second = SimpleNamespace(headers={"X-Amz-Target": "AmazonSQS.SendMessageBatch"})
    unnamed = SimpleNamespace(headers={})
    with measured(added_ms=20) as measurement:
        started = time.perf_counter()
        assert session.send(first) is first.headers
        assert time.perf_counter() - started >= 0.02
        session.send(second)
        session.send(unnamed)
    session.send(second)
    assert measurement.requests == [
        "DynamoDB_20120810.GetItem",
        "AmazonSQS.SendMessageBatch",
        "",
    ]
    assert measurement.seconds >= 0.06
    assert measurement.cpu_s > 0
