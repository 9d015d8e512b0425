"""Repeat the AWS requests of a read with boto3's default client, and return the same response.

This is less work than any handler needs that builds the response from the data.
"""

import json
from functools import cache
from typing import Any, Final

import boto3
from botocore import xform_name

RECORDED: Final[dict[str, tuple[list[tuple[str, Any]], Any]]] = {}
"""The AWS requests, each with its operation, and the content of the response, by path."""
_client: Final = cache(boto3.client)


def record(path: str, requests: list[tuple[str, str]], content: Any) -> None:
    """Remember the requests, each with its operation and its JSON body, and the content."""
    RECORDED[path] = [(xform_name(name), json.loads(body)) for name, body in requests], content


def repeat(path: str) -> Any:
    """Send the requests and return the content."""
    requests, content = RECORDED[path]
    for operation, arguments in requests:
        getattr(_client("dynamodb"), operation)(**arguments)
    return content
