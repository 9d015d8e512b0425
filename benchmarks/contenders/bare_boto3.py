"""Serve the read endpoints with boto3, without a framework and with as little code as possible."""

import json
from collections.abc import Callable
from typing import Any, Final

from benchmarks.contenders import plain_reads

_READS: Final[dict[str, Callable[[str], Any]]] = {
    "/partners/purchase": plain_reads.read_purchase,
    "/partners/contact-form": plain_reads.read_contact_form,
    "/partners/survey": plain_reads.read_survey,
    "/partners/customer": plain_reads.read_customer,
}
_LISTS: Final[dict[str, Callable[[int, int], Any]]] = {
    "/partners/contact-form/list": plain_reads.list_contact_forms,
    "/partners/survey/list": plain_reads.list_surveys,
    "/partners/customer/list": plain_reads.list_customers,
}


def handler(event: dict[str, Any], context: Any) -> dict[str, Any]:
    """Handle one API Gateway event and return the response."""
    resource = event["resource"]
    if event["httpMethod"] == "GET":
        return _response(200, _READS[resource](event["queryStringParameters"]["id"]))
    body = json.loads(event["body"])
    return _response(201, _LISTS[resource](body.get("limit", 10), body.get("page", 1)))


def _response(status: int, content: Any) -> dict[str, Any]:
    return {
        "statusCode": status,
        "headers": {"Content-Type": "application/json"},
        "body": json.dumps(content),
    }
