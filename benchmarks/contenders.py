"""Minimal handlers that send the same AWS requests as the app, with boto3 and with two frameworks.

They repeat requests that the app sent, and return the attributes of the rows as JSON. They check
and convert nothing, so any handler that builds a response needs more.
"""

import base64
import json
import time
import zlib
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any, Final
from uuid import uuid4

import boto3
from botocore import xform_name
from python_multipart.multipart import MultipartParser

from benchmarks.gateway_event import BOUNDARY, SUBMIT

Handler = Callable[[dict[str, Any], Any], dict[str, Any]]
Requests = list[tuple[str, bytes]]
"""AWS requests to DynamoDB, each with its operation and its JSON body."""

_recorded: Final[dict[str, list[tuple[str, Any]]]] = {}
_client: Final = cache(boto3.client)


def remember(path: str, requests: Requests) -> None:
    """Repeat these requests when this process receives a request to the path."""
    _recorded[path] = [(xform_name(name), json.loads(body)) for name, body in requests]


def _rows(path: str) -> list[Any]:
    client = _client("dynamodb")
    responses = [getattr(client, name)(**arguments) for name, arguments in _recorded[path]]
    return [
        {name: _content(*value.items()) for name, value in item.items()}
        for response in responses
        for item in _items(response)
    ]


def _items(response: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield from response.get("Items", ())
    for found in response.get("Responses", {}).values():
        yield from found
    if "Item" in response:
        yield response["Item"]


def _content(value: tuple[str, Any]) -> Any:
    kind, content = value
    return json.loads(zlib.decompress(content)) if kind == "B" else content


def bare() -> Handler:
    """Return a handler without a framework."""

    def handler(event: dict[str, Any], _: Any) -> dict[str, Any]:
        content = _submit(event) if event["path"] == SUBMIT else _rows(event["path"])
        headers = {"Content-Type": "application/json"}
        return {"statusCode": 200, "headers": headers, "body": json.dumps(content)}

    return handler


def _submit(event: dict[str, Any]) -> str:
    """Count the request, store the answers and queue the feedback."""
    parts: list[bytes] = []

    def add(chunk: bytes, start: int, end: int) -> None:
        parts[-1] += chunk[start:end]

    callbacks: Any = {"on_part_begin": lambda: parts.append(b""), "on_part_data": add}
    MultipartParser(BOUNDARY, callbacks).write(base64.b64decode(event["body"]))
    form_id, answers = parts
    form, feedback, now = {"S": form_id.decode()}, str(uuid4()), int(time.time())
    _client("dynamodb").update_item(
        TableName="feedback-test-rate-limits",
        Key={"key": form},
        UpdateExpression="ADD request_count :one SET expires_at = :end",
        ExpressionAttributeValues={":one": {"N": "1"}, ":end": {"N": "1"}},
        ReturnValues="ALL_NEW",
    )
    item = {
        "feedback_id": {"S": feedback},
        "form_id": form,
        "document": {"B": zlib.compress(json.dumps(json.loads(answers)).encode())},
        "created_at": {"S": str(now)},
        "state": {"S": "PENDING"},
        "work_shard": {"S": "open-0"},
        "due_at": {"N": str(now + 120)},
    }
    _client("dynamodb").put_item(
        TableName="feedback-test-feedback",
        Item=item,
        ConditionExpression="attribute_not_exists(#id)",
        ExpressionAttributeNames={"#id": "feedback_id"},
    )
    _client("sqs").send_message_batch(
        QueueUrl="https://sqs.eu-west-1.amazonaws.com/1/feedback-test-feedback",
        Entries=[{"Id": "0", "MessageBody": feedback, "MessageGroupId": "x"}],
    )
    return feedback


def fastapi() -> Handler:
    """Return a handler with FastAPI behind Mangum.

    The view is a coroutine although it blocks: a Lambda function serves one request at a time, so
    FastAPI's thread pool would only add cost.
    """
    from fastapi import FastAPI
    from fastapi.responses import JSONResponse
    from mangum import Mangum

    api = FastAPI()

    @api.api_route("/{path:path}", methods=["GET", "POST"])
    async def view(path: str) -> JSONResponse:
        return JSONResponse(_rows(f"/{path}"))

    return Mangum(api, lifespan="off")


def powertools() -> Handler:
    """Return a handler with the REST resolver of Powertools for AWS Lambda."""
    from aws_lambda_powertools.event_handler import APIGatewayRestResolver

    resolver = APIGatewayRestResolver()
    resolver.route("/partners/.+", ["GET", "POST"])(lambda: _rows(resolver.current_event.path))
    return resolver.resolve
