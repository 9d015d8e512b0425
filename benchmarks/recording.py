"""Send requests to the app, with moto in place of AWS, and record the responses of DynamoDB.

This module runs as a separate program, because moto patches boto3 in the process:
``python -m benchmarks.recording FILE``.
"""

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import boto3
from botocore.history import BaseHistoryHandler, get_global_history_recorder
from moto import mock_aws

from app import app
from benchmarks import sample_account
from benchmarks.gateway_event import gateway_event
from benchmarks.lambda_context import LambdaContext
from benchmarks.processes import PROJECT
from benchmarks.recorded_request import RecordedRequest, RecordedResponse, write_recording
from chalicelib.services.caching import clear_caches


def main(file: Path) -> None:
    """Send a request to every read endpoint and write the recorded responses to a file."""
    with mock_aws():
        boto3.client("cloudformation").create_stack(
            StackName="data",
            TemplateBody=(PROJECT / "infrastructure" / "data.yaml").read_text(),
            Parameters=[{"ParameterKey": "Stage", "ParameterValue": os.environ["STAGE"]}],
        )
        sample = sample_account.load()
        write_recording(file, [record(name, event) for name, event in _events(sample)])


class _Listener(BaseHistoryHandler):
    """Collect the response of every DynamoDB operation from botocore's history."""

    def __init__(self) -> None:
        self.responses: list[RecordedResponse] = []
        self._request = ("", "")

    def emit(self, event_type: str, payload: Any, source: Any) -> None:
        if event_type == "API_CALL":
            parameters = payload["params"]
            tables = parameters.get("RequestItems") or [parameters["TableName"]]
            self._request = (payload["operation"], "".join(tables))
        elif event_type == "HTTP_RESPONSE":
            self.responses.append(RecordedResponse(*self._request, payload["body"].decode()))


def record(name: str, event: dict[str, Any]) -> RecordedRequest:
    clear_caches()
    listener = _Listener()
    recorder = get_global_history_recorder()
    recorder.add_handler(listener)
    recorder.enable()
    response = app(event, LambdaContext())
    recorder.disable()
    assert response["statusCode"] < 300, response
    requests = {(recorded.operation, recorded.table) for recorded in listener.responses}
    assert len(requests) == len(listener.responses) > 1, requests
    return RecordedRequest(name, event, tuple(listener.responses))


def _events(sample: sample_account.SampleAccount) -> Iterator[tuple[str, dict[str, Any]]]:
    headers = {"X-API-KEY": sample.api_key, "X-API-SECRET": sample.api_secret}

    def get(path: str, resource_id: str) -> dict[str, Any]:
        return gateway_event("GET", path, headers=headers, query={"id": resource_id})

    def page(path: str, limit: int) -> dict[str, Any]:
        return gateway_event("POST", path, headers=headers, body={"limit": limit, "page": 1})

    yield "purchase", get("/partners/purchase", sample.purchase_id)
    yield "contact form", get("/partners/contact-form", sample.contact_form_id)
    yield "list of 10 contact forms", page("/partners/contact-form/list", 10)
    yield "survey", get("/partners/survey", sample.survey_id)
    yield "list of 10 surveys", page("/partners/survey/list", 10)
    yield "customer", get("/partners/customer", sample.customer_id)
    yield "list of 10 customers", page("/partners/customer/list", 10)
    yield "list of 100 customers", page("/partners/customer/list", 100)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
