"""Measure the cost of viewing and submitting forms and of validating answers. Print it as JSON.

This module runs as a separate program, because it replaces botocore's HTTP session:
``python -m benchmarks.public_cost_process``.
"""

import base64
import gzip
import json
import os
import time
import zlib
from collections.abc import Callable
from datetime import UTC, datetime
from statistics import median, quantiles
from typing import Any, Final
from uuid import uuid4

import boto3
from botocore.awsrequest import AWSPreparedRequest, AWSResponse
from botocore.compat import HTTPHeaders
from botocore.httpsession import URLLib3Session
from moto import mock_aws
from python_multipart.multipart import MultipartParser

from app import app
from benchmarks import sample_account
from benchmarks.gateway_event import gateway_event
from benchmarks.lambda_context import LambdaContext
from benchmarks.processes import PROJECT
from chalicelib.aws_calls import counted_calls
from chalicelib.domain.accounts.places import Directory, Place, PlaceKind
from chalicelib.domain.feedback.answers import Questionnaire, SubmittedAnswer
from chalicelib.domain.forms.contact_form import SavedContactForm
from chalicelib.domain.forms.definitions import build as form_saving
from chalicelib.domain.forms.definitions.contact_form import (
    build_contact_form,
    parse_contact_form_definition,
)
from chalicelib.domain.forms.fields import SavedField
from chalicelib.outbound.queues import forget_client
from chalicelib.services import caching
from chalicelib.services.forms.cached_forms import get_contact_form
from chalicelib.settings import settings
from chalicelib.storage.dynamodb.table import forget_connection
from chalicelib.web.pages.assets import MEDIA_TYPES, STYLE_SHEET, asset_text

ROUNDS: Final = 300
BOUNDARY: Final = "----WebKitFormBoundary7MA4YWxkTrZu0gW"
_BRAND: Final = "b0000000-0000-4000-8000-000000000001"
_FORM: Final = "f0000000-0000-4000-8000-000000000001"

Handler = Callable[[dict[str, Any], Any], Any]


def main() -> None:
    """Measure all requests and validations, and print the measurements as one JSON object."""
    os.environ["SUBMISSIONS"] = "1000000000"
    settings.cache_clear()
    started = time.monotonic()
    caching.wall_clock_s = lambda: started  # fix the time, so that cached values never expire
    with mock_aws():
        boto3.client("cloudformation").create_stack(
            StackName="data",
            TemplateBody=(PROJECT / "infrastructure" / "data.yaml").read_text(),
            Parameters=[{"ParameterKey": "Stage", "ParameterValue": os.environ["STAGE"]}],
        )
        sample = sample_account.load()
        form = get_contact_form(sample.contact_form_id)
        submit = _submit_event(form.saved)
        view = gateway_event(
            "GET", "/public/contact-form", headers={}, query={"id": sample.contact_form_id}
        )
        view_body = app(view, LambdaContext())["body"]
        page = view | dict.fromkeys(("resource", "path"), "/public/contact-form/page")
        page["requestContext"] = view["requestContext"] | {"resourcePath": page["resource"]}
        page_body = app(page, LambdaContext())["body"]
        assert app(submit, LambdaContext())["statusCode"] == 204
        forget_connection()
        forget_client()
    setattr(URLLib3Session, "send", prepared_response)  # noqa: B010 - replaces a method
    requests: dict[str, tuple[dict[str, Any], Handler]] = {
        "view": (view, _bare_view(view_body)),
        "page": (page, _bare_page(page_body)),
        "submit": (submit, _BareSubmit(form.saved)),
    }
    figures: dict[str, Any] = {"requests": {}, "validation": {}}
    for name, (event, bare) in requests.items():
        app(event, LambdaContext())  # open the connections before the requests are counted
        with counted_calls() as calls:
            assert app(event, LambdaContext())["statusCode"] < 300
        figures["requests"][name] = _compare(event, bare) | {"calls": calls.total()}
    figures["sizes"] = {
        "JSON view": _sizes(view_body),
        "page": _sizes(page_body),
        **{name: _sizes(asset_text(name)) for name in (*MEDIA_TYPES, STYLE_SHEET)},
    }
    figures["validation"]["5 fields"] = _validation_ms(5, dependent=False)
    figures["validation"]["200 fields"] = _validation_ms(200, dependent=True)
    print(json.dumps(figures))


def _compare(event: dict[str, Any], bare: Handler) -> dict[str, float]:
    service_us, bare_us, latencies_us = [], [], []
    contenders: list[tuple[str, Handler]] = [("service", app), ("bare", bare)]
    for turn in range(ROUNDS):
        for name, handler in contenders if turn % 2 else reversed(contenders):
            cpu, wall = time.process_time_ns(), time.perf_counter_ns()
            handler(event, LambdaContext())
            cpu_us = (time.process_time_ns() - cpu) / 1000
            if name == "service":
                service_us.append(cpu_us)
                latencies_us.append((time.perf_counter_ns() - wall) / 1000)
            else:
                bare_us.append(cpu_us)
    return {
        "service_us": median(service_us),
        "bare_us": median(bare_us),
        "p50_us": median(latencies_us),
        "p99_us": quantiles(latencies_us, n=100)[98],
    }


def _submit_event(form: SavedContactForm) -> dict[str, Any]:
    event = gateway_event(
        "POST",
        "/public/contact-form/submit",
        headers={"content-type": f"multipart/form-data; boundary={BOUNDARY}"},
    )
    fields = [{"id": field.id, "values": [_example(field)]} for field in form.fields]
    parts = {"id": form.id, "fields": json.dumps(fields)}
    body = "".join(
        f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{text}\r\n'
        for name, text in parts.items()
    )
    encoded = base64.b64encode(f"{body}--{BOUNDARY}--\r\n".encode()).decode()
    return event | {"body": encoded, "isBase64Encoded": True}


def _example(field: SavedField) -> str:
    return field.values[0] if field.values else field.type.rules.example


def _bare_view(body: str) -> Handler:
    """Return a handler that only looks up the requested id and returns the cached response body."""
    bodies = {json.loads(body)["id"]: body}

    def handler(event: dict[str, Any], context: Any) -> dict[str, Any]:
        body = bodies[event["queryStringParameters"]["id"]]
        return {"statusCode": 200, "headers": {"Content-Type": "application/json"}, "body": body}

    return handler


def _bare_page(body: str) -> Handler:
    """Return a handler that returns the same page for every request."""

    def handler(event: dict[str, Any], context: Any) -> dict[str, Any]:
        return {"statusCode": 200, "headers": {"Content-Type": "text/html"}, "body": body}

    return handler


def _sizes(text: str) -> dict[str, int]:
    """Return the size of a text in bytes, without and with compression."""
    encoded = text.encode()
    return {"bytes": len(encoded), "gzip": len(gzip.compress(encoded))}


class _BareSubmit:
    """A handler that uses plain boto3 to send the app's AWS requests. It validates nothing."""

    def __init__(self, form: SavedContactForm) -> None:
        self._dynamodb = boto3.client("dynamodb")
        self._sqs = boto3.client("sqs")

    def __call__(self, event: dict[str, Any], context: Any) -> dict[str, Any]:
        parts: list[bytes] = []
        data: list[bytes] = []

        def end() -> None:
            parts.append(b"".join(data))
            data.clear()

        parser = MultipartParser(
            BOUNDARY,
            {
                "on_part_data": lambda chunk, start, end: data.append(chunk[start:end]),
                "on_part_end": end,
            },
        )
        parser.write(base64.b64decode(event["body"]))
        now = datetime.now(UTC)
        feedback_id, form_id = str(uuid4()), parts[0].decode()
        answers = json.dumps(json.loads(parts[1])).encode()
        self._dynamodb.update_item(
            TableName="feedback-test-rate-limits",
            Key={"key": {"S": form_id}},
            UpdateExpression="ADD request_count :one SET expires_at = :end",
            ExpressionAttributeValues={":one": {"N": "1"}, ":end": {"N": "1"}},
            ReturnValues="ALL_NEW",
        )
        self._dynamodb.put_item(
            TableName="feedback-test-feedback",
            Item={
                "feedback_id": {"S": feedback_id},
                "form_id": {"S": form_id},
                "document": {"B": zlib.compress(answers)},
                "created_at": {"S": now.isoformat()},
                "state": {"S": "PENDING"},
                "work_shard": {"S": "open-0"},
                "due_at": {"N": str(int(now.timestamp()) + 120)},
            },
            ConditionExpression="attribute_not_exists(feedback_id)",
        )
        self._sqs.send_message_batch(
            QueueUrl="https://sqs.eu-west-1.amazonaws.com/123456789012/feedback-test-feedback",
            Entries=[{"Id": "0", "MessageBody": feedback_id, "MessageGroupId": "x"}],
        )
        return {"statusCode": 204, "headers": {}, "body": ""}


def prepared_response(_session: Any, request: AWSPreparedRequest) -> AWSResponse:
    """Return a fixed response to an AWS request that a submission sends."""
    target = request.headers["X-Amz-Target"]
    operation = (target.decode() if isinstance(target, bytes) else target).rpartition(".")[2]
    body: Any = request.body or b"{}"
    entries = json.loads(body).get("Entries", [])
    sent = [{"Id": entry["Id"], "MessageId": "1", "MD5OfMessageBody": ""} for entry in entries]
    responses = {
        "UpdateItem": {"Attributes": {"request_count": {"N": "1"}, "key": {"S": "x"}}},
        "BatchWriteItem": {"UnprocessedItems": {}},
        "BatchGetItem": {"Responses": {}, "UnprocessedKeys": {}},
        "SendMessageBatch": {"Successful": sent},
        "GetQueueUrl": {
            "QueueUrl": "https://sqs.eu-west-1.amazonaws.com/123456789012/feedback-test-feedback"
        },
    }
    content = json.dumps(responses.get(operation, {})).encode()
    return AWSResponse(request.url, 200, HTTPHeaders(), _Body(content))


class _Body:
    def __init__(self, body: bytes) -> None:
        self._body = body

    def stream(self, **_: Any) -> Any:
        yield self._body


def _validation_ms(count: int, *, dependent: bool) -> dict[str, float]:
    """Measure the time to validate a submission to a form with ``count`` fields.

    Args:
        dependent: whether each field depends on one or two earlier fields.
    """
    directory = Directory.of([Place(id=_BRAND, kind=PlaceKind.BRAND, name="Maison Lumen")])
    document = {
        "id": _FORM,
        "name": "Measured",
        "language": "en",
        "brandId": _BRAND,
        "fields": [
            {"key": f"f{n}", "type": "SINGLE_SELECT", "label": f"F{n}", "values": ["Yes", "No"]}
            for n in range(count)
        ],
        "fieldDependencies": [
            {
                "field": f"f{n}",
                "dependsOnField": f"f{before}",
                "dependsOnFieldValues": [{"value": "Yes"}],
            }
            for n in range(count)
            for before in {max(0, n - 1), n // 2}
            if dependent and before != n
        ],
    }
    # The form with 200 fields exceeds the size limits of a form, so do not check them.
    form_saving.MAX_FORM_BYTES = 10**9  # type: ignore[misc]
    form_saving.check_listable = lambda *_: None  # type: ignore[attr-defined]
    saved = build_contact_form(
        parse_contact_form_definition(document, directory), directory, datetime.now(UTC)
    )
    questionnaire = Questionnaire.of(saved)
    answers = [SubmittedAnswer(id=field.id, values=["Yes"]) for field in saved.fields]
    times = []
    for _ in range(200):
        started = time.process_time_ns()
        questionnaire.validate(answers)
        times.append((time.process_time_ns() - started) / 1e6)
    return {"ms": median(times), "dependencies": len(saved.field_dependencies)}


if __name__ == "__main__":
    main()
