"""Test that the app responds to requests with errors as the examples of the document show."""

import inspect
import json
from typing import Any

import httpx
import pytest
from chalice.test import Client

from chalicelib.domain.accounts.account import Permission
from chalicelib.web.openapi.operation import OPERATIONS as DECLARED
from chalicelib.web.openapi.operation import Operation, permissions_of
from chalicelib.web.openapi.routes import DOCUMENT
from tests.web.partner_client import Partner, new_partner, with_permissions

Json = dict[str, Any]

PATHS = json.loads(DOCUMENT.read_text(encoding="utf-8"))["paths"]
OTHER_STATE = {
    ("post", "/partners/customer", "404"),
    ("get", "/public/survey", "403"),
    ("post", "/public/survey/submit", "403"),
}
"""Errors that need other records: an erased customer, a private survey."""
CASES = [
    (method, path, status)
    for path, methods in PATHS.items()
    for method, operation in methods.items()
    for status, described in operation["responses"].items()
    if status in ("400", "401", "403", "404", "415")
    and "application/problem+json" in described["content"]
    and "{" not in path
    and (method, path, status) not in OTHER_STATE
]


@pytest.fixture(scope="module")
def partner(client: Client) -> Partner:
    """Create an account without records. Its key has all permissions."""
    return new_partner(client, *Permission)


def declared_operation(path: str, method: str) -> Operation:
    from app import app

    return DECLARED[inspect.unwrap(app.routes[path][method.upper()].view_function)]


def request_with_error(path: str, method: str, operation: Json, status: str) -> httpx.Request:
    """Return a request that gets a response with this status if the account has no records."""
    required = [each for each in operation["parameters"] if each["required"]]
    query = {each["name"]: each["example"] for each in required}
    content: Json = {}
    for media_type, described in operation.get("requestBody", {}).get("content", {}).items():
        declared = declared_operation(path, method)
        body = next(iter(described["examples"].values()))["value"]
        if status == "400":
            body = declared.get("invalid", {"cursor": "x"})
        if media_type == "application/json":
            content = {"json": body}
        else:
            texts = {k: v if isinstance(v, str) else json.dumps(v) for k, v in body.items()}
            content = {"files": {name: (None, text) for name, text in texts.items()}}
    if status == "400" and not content:
        query = {}
    request = httpx.Request(method, f"https://service{path}", params=query, **content)
    if status == "415":
        request.headers["content-type"] = "text/plain"
    return request


@pytest.mark.parametrize(("method", "path", "status"), CASES)
def test_error_example_is_response_of_app(
    partner: Partner, method: str, path: str, status: str
) -> None:
    operation = PATHS[path][method]
    credentials = partner.headers
    if status == "401":
        credentials = credentials | {"X-API-SECRET": "wrong"}
    if status == "403":
        *_, missing = permissions_of(declared_operation(path, method))
        others = [each for each in Permission if each.value != missing]
        credentials = with_permissions(partner, *others).headers
    request = request_with_error(path, method, operation, status)
    response = partner.client.http.request(
        method.upper(),
        request.url.raw_path.decode(),
        headers=dict(request.headers) | credentials,
        body=request.read(),
    )
    shown = operation["responses"][status]["content"]["application/problem+json"]["example"]
    assert json.loads(response.body) | {"requestId": shown["requestId"]} == shown
