"""Measure the cost of viewing and submitting forms and of validating answers."""

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
from unittest.mock import patch
from uuid import uuid4

import boto3
from python_multipart.multipart import MultipartParser

from admin.domain.forms import build as form_saving
from admin.domain.forms.contact_form import define_contact_form
from app import app
from benchmarks import sample_account
from benchmarks.gateway_event import BOUNDARY, Event, LambdaContext, gateway_event, submission
from benchmarks.memory_cloud import connect, running_cloud
from benchmarks.report import Section, Table
from chalicelib.aws_calls import counted_calls
from chalicelib.domain.accounts.places import Directory, Place, PlaceKind
from chalicelib.domain.feedback.answers import Questionnaire, SubmittedAnswer
from chalicelib.domain.forms.fields import SavedField
from chalicelib.services import caching
from chalicelib.services.forms.cached_forms import get_contact_form
from chalicelib.settings import settings
from chalicelib.web.pages.assets import SCRIPTS, STYLE_SHEET, asset_text

ROUNDS: Final = 300
_SUBMIT: Final = "/public/contact-form/submit"
_FORM: Final = "f0000000-0000-4000-8000-000000000001"

Handler = Callable[[Event, Any], Any]


def measure() -> Section:
    """Measure requests and validations, and return the results."""
    prepare_settings()
    with running_cloud() as cloud:
        connect(cloud)
        sample_account.load()
        form = get_contact_form(sample_account.CONTACT_FORM_ID).saved
        query = {"id": form.id}
        view = gateway_event("GET", "/public/contact-form", query=query)
        page = gateway_event("GET", "/public/contact-form/page", query=query)
        answers = [{"id": field.id, "values": [_example(field)]} for field in form.fields]
        submit = submission(_SUBMIT, ("id", form.id), ("fields", json.dumps(answers)))
        requests = [
            _compare("view a contact form", view, _bare_view(view, "application/json")),
            _compare("open the page of a contact form", page, _bare_view(page, "text/html")),
            _compare("submit a contact form", submit, _bare_submit()),
        ]
        texts = {
            name: app(event, LambdaContext())["body"]
            for name, event in {"JSON view": view, "page": page}.items()
        }
    texts |= {name: asset_text(name) for name in (*SCRIPTS, STYLE_SHEET)}
    return Section(
        "Public forms",
        [
            "CPU time of one warm request in process. Another process keeps the tables in memory"
            " and responds to AWS requests. The p50 and p99 columns are this service's latency. The"
            " bare handlers of the view and the page return a cached response body and check"
            " nothing. The bare submit handler parses the body and makes the same AWS requests; it"
            " validates and logs nothing.",
            Table(
                {"request": "", "AWS requests": "", "this service, µs": ".0f", "bare, µs": ".0f"}
                | {"ratio": ".2f", "p50, µs": ".0f", "p99, µs": ".0f"},
                requests,
            ),
            "Sizes of the responses. The page contains the style sheet. Every other page uses the"
            " same script, which browsers cache.",
            Table(
                {"response": "", "bytes": ",", "compressed bytes": ","},
                [
                    (name, len(text.encode()), len(gzip.compress(text.encode())))
                    for name, text in texts.items()
                ],
            ),
            "CPU time to validate a submission that answers every field:",
            Table(
                {"form": "", "dependencies": "", "time, ms": ".2f"},
                [_validation(5, dependent=False), _validation(200, dependent=True)],
            ),
        ],
    )


def prepare_settings() -> None:
    """Raise the limit of submissions, and fix the time, so that cached values never expire."""
    os.environ["SUBMISSIONS"] = "1000000000"
    settings.cache_clear()
    started = time.monotonic()
    caching.wall_clock_s = lambda: started


def _compare(name: str, event: Event, bare: Handler) -> tuple[Any, ...]:
    app(event, LambdaContext())  # open the connections before the requests are counted
    with counted_calls() as calls:
        assert app(event, LambdaContext())["statusCode"] < 300
    cpu_us: dict[Handler, list[float]] = {app: [], bare: []}
    latencies_us: dict[Handler, list[float]] = {app: [], bare: []}
    for turn in range(ROUNDS):
        for handler in (app, bare) if turn % 2 else (bare, app):
            cpu, wall = time.process_time_ns(), time.perf_counter_ns()
            handler(event, LambdaContext())
            cpu_us[handler].append((time.process_time_ns() - cpu) / 1000)
            latencies_us[handler].append((time.perf_counter_ns() - wall) / 1000)
    service_us, bare_us = median(cpu_us[app]), median(cpu_us[bare])
    p50_us, p99_us = median(latencies_us[app]), quantiles(latencies_us[app], n=100)[98]
    return name, calls.total(), service_us, bare_us, service_us / bare_us, p50_us, p99_us


def _example(field: SavedField) -> str:
    return field.values[0] if field.values else field.type.rules.example


def _bare_view(event: Event, content_type: str) -> Handler:
    """Return a handler that only looks up the requested id and returns the cached response body."""
    bodies = {event["queryStringParameters"]["id"]: app(event, LambdaContext())["body"]}

    def handler(event: Event, context: Any) -> dict[str, Any]:
        body = bodies[event["queryStringParameters"]["id"]]
        return {"statusCode": 200, "headers": {"Content-Type": content_type}, "body": body}

    return handler


def _bare_submit() -> Handler:
    """Return a handler that sends the app's AWS requests with boto3. It validates nothing."""
    dynamodb, sqs = boto3.client("dynamodb"), boto3.client("sqs")

    def handler(event: Event, context: Any) -> dict[str, Any]:
        parts: list[bytes] = []

        def add(chunk: bytes, start: int, end: int) -> None:
            parts[-1] += chunk[start:end]

        callbacks: Any = {"on_part_begin": lambda: parts.append(b""), "on_part_data": add}
        MultipartParser(BOUNDARY, callbacks).write(base64.b64decode(event["body"]))
        now = datetime.now(UTC)
        feedback_id, form_id = str(uuid4()), parts[0].decode()
        answers = json.dumps(json.loads(parts[1])).encode()
        dynamodb.update_item(
            TableName="feedback-test-rate-limits",
            Key={"key": {"S": form_id}},
            UpdateExpression="ADD request_count :one SET expires_at = :end",
            ExpressionAttributeValues={":one": {"N": "1"}, ":end": {"N": "1"}},
            ReturnValues="ALL_NEW",
        )
        dynamodb.put_item(
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
            ConditionExpression="attribute_not_exists(#id)",
            ExpressionAttributeNames={"#id": "feedback_id"},
        )
        sqs.send_message_batch(
            QueueUrl="https://sqs.eu-west-1.amazonaws.com/1/feedback-test-feedback",
            Entries=[{"Id": "0", "MessageBody": feedback_id, "MessageGroupId": "x"}],
        )
        return {"statusCode": 204, "headers": {}, "body": ""}

    return handler


def _validation(count: int, *, dependent: bool) -> tuple[str, int, float]:
    """Measure the time to validate a submission to a form with ``count`` fields.

    Args:
        dependent: whether each field depends on one or two earlier fields.

    Returns:
        The name of the form, the number of its dependencies, and the time in milliseconds.
    """
    brand = Place(id=sample_account.BRAND_ID, kind=PlaceKind.BRAND, name="Maison Lumen")
    directory = Directory.of([brand])
    document = {
        "id": _FORM,
        "name": "Measured",
        "language": "en",
        "brandId": brand.id,
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
    # The form exceeds the limits of the size.
    with patch.multiple(form_saving, MAX_FORM_BYTES=10**9, check_listable=lambda *_: None):
        saved = define_contact_form(document, directory, datetime.now(UTC))
    questionnaire = Questionnaire.of(saved)
    answers = [SubmittedAnswer(id=field.id, values=["Yes"]) for field in saved.fields]
    times = []
    for _ in range(200):
        started = time.process_time_ns()
        questionnaire.validate(answers)
        times.append((time.process_time_ns() - started) / 1e6)
    return f"{count} fields", len(saved.field_dependencies), median(times)
