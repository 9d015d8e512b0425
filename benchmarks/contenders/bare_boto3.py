"""Serve the read endpoints with boto3, without a framework and with as little code as possible."""

import json
from typing import Any

from benchmarks.contenders.plain_reads import LISTS, READS
from benchmarks.contenders.recorded_reads import RECORDED, repeat


def handler(event: dict[str, Any], context: Any) -> dict[str, Any]:
    """Handle one API Gateway event and return the response."""
    resource = event["resource"]
    if resource in RECORDED:
        return _response(200 if event["httpMethod"] == "GET" else 201, repeat(resource))
    if event["httpMethod"] == "GET":
        return _response(200, READS[resource](event["queryStringParameters"]["id"]))
    body = json.loads(event["body"])
    return _response(201, LISTS[resource](body.get("limit", 10), body.get("page", 1)))


def _response(status: int, content: Any) -> dict[str, Any]:
    return {
        "statusCode": status,
        "headers": {"Content-Type": "application/json"},
        "body": json.dumps(content),
    }
