"""Tests of the command that prints the log lines of a request."""

import json
import time
from collections.abc import Iterator

import boto3
import pytest
from moto import mock_aws

from infrastructure.request_logs import main

REQUEST_ID = "84570606-3088-47ab-ab3e-ee58520c480c"


@pytest.fixture
def logs(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Write log lines of two requests in two stages."""
    for name, value in {
        "AWS_DEFAULT_REGION": "eu-west-1",
        "AWS_ACCESS_KEY_ID": "test",
        "AWS_SECRET_ACCESS_KEY": "test",
    }.items():
        monkeypatch.setenv(name, value)
    with mock_aws():
        client = boto3.client("logs")
        now_ms = int(time.time() * 1000)
        for group, age_ms, event in (
            ("feedback-dev", 1_000, "second"),
            ("feedback-dev", 500, "of another request"),
            ("feedback-dev-sweep", 2_000, "first"),
            ("feedback-dev2", 1_000, "of another stage"),
        ):
            names = {"logGroupName": f"/aws/lambda/{group}", "logStreamName": event}
            if not client.describe_log_groups(logGroupNamePrefix=names["logGroupName"])[
                "logGroups"
            ]:
                client.create_log_group(logGroupName=names["logGroupName"])
            client.create_log_stream(**names)
            request_id = "other" if event == "of another request" else REQUEST_ID
            line = json.dumps({"message": event, "request_id": request_id})
            client.put_log_events(
                **names, logEvents=[{"timestamp": now_ms - age_ms, "message": line}]
            )
        yield


@pytest.mark.usefixtures("logs")
def test_log_lines_of_request_are_printed_in_time_order(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([REQUEST_ID, "--stage", "dev"]) == 0
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [line["message"] for line in lines] == ["first", "second"]


@pytest.mark.usefixtures("logs")
@pytest.mark.parametrize("request_id", ["", " "])
def test_empty_request_id_is_rejected(request_id: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([request_id, "--stage", "dev"]) == 1
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "REQUEST_ID" in captured.err


@pytest.mark.usefixtures("logs")
def test_command_fails_for_unknown_request(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["no-such-request", "--stage", "dev"]) == 1
    assert "No log line" in capsys.readouterr().err
