"""Test that a measurement counts every AWS request."""

from types import SimpleNamespace
from typing import Any

import pytest
from botocore.httpsession import URLLib3Session

from benchmarks.measurement import measured


def test_aws_requests_inside_context_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(URLLib3Session, "send", lambda _session, request: request.headers)
    session: Any = URLLib3Session()
    first = SimpleNamespace(headers={"X-Amz-Target": b"DynamoDB_20120810.GetItem"}, body=b"{}")
    second = SimpleNamespace(headers={"X-Amz-Target": "AmazonSQS.SendMessageBatch"}, body=b"")
    unnamed = SimpleNamespace(headers={}, body=None)
    with measured() as measurement:
        assert session.send(first) is first.headers
        session.send(second)
        session.send(unnamed)
    session.send(second)
    assert measurement.requests == [("GetItem", b"{}"), ("SendMessageBatch", b""), ("", None)]
    assert measurement.seconds > 0
    assert measurement.cpu_s > 0
