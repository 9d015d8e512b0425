"""Tests of the service URL in the OpenAPI document and on the documentation page."""

import json
from typing import Any

import pytest
from chalice.app import Request

from chalicelib.web.openapi.routes import request_base_url

pytestmark = pytest.mark.usefixtures("docs")

EVENT: dict[str, Any] = {
    "headers": {"Host": "elsewhere.example.com"},
    "multiValueHeaders": {},
    "multiValueQueryStringParameters": None,
    "pathParameters": None,
    "body": None,
    "stageVariables": None,
    "isBase64Encoded": False,
}


def body_of(
    path: str, context: dict[str, str], path_parameters: dict[str, str] | None = None
) -> str:
    """Invoke the API function with this gateway context in the event. Return the response body."""
    from app import app

    event = {
        **EVENT,
        "pathParameters": path_parameters,
        "requestContext": {"resourcePath": path, "httpMethod": "GET", **context},
    }
    body: str = app(event, None)["body"]
    return body


@pytest.mark.parametrize(
    ("context", "address"),
    [
        ({"path": "/openapi.json"}, "/"),
        (
            {
                "path": "/prod/openapi.json",
                "domainName": "a1b2.execute-api.eu-west-1.amazonaws.com",
            },
            "https://a1b2.execute-api.eu-west-1.amazonaws.com/prod",
        ),
        (
            {"path": "/openapi.json", "domainName": "feedback.example.com", "apiId": "a1b2"},
            "https://feedback.example.com",
        ),
        (
            {"path": "/local/openapi.json", "apiId": "a1b2"},
            "/restapis/a1b2/local/_user_request_",
        ),
    ],
)
def test_server_address_is_derived_from_gateway_context(
    context: dict[str, str], address: str
) -> None:
    request_context = {"resourcePath": "/openapi.json", "httpMethod": "GET", **context}
    assert request_base_url(Request({**EVENT, "requestContext": request_context})) == address


DOMAIN = {"domainName": "a1b2.execute-api.eu-west-1.amazonaws.com"}


def test_openapi_document_and_docs_page_contain_server_address() -> None:
    address = "https://a1b2.execute-api.eu-west-1.amazonaws.com/prod"
    document = json.loads(body_of("/openapi.json", {"path": "/prod/openapi.json", **DOMAIN}))
    assert document["servers"] == [{"url": address}]
    assert f"BASE_URL='{address}'" in body_of("/docs", {"path": "/prod/docs", **DOMAIN})
    path = "/prod/docs/guide-integrating"
    guide = body_of("/docs/{tag}", {"path": path, **DOMAIN}, {"tag": "guide-integrating"})
    assert f"BASE_URL='{address}'" in guide


@pytest.mark.parametrize("host", ["127.0.0.1:4566", "localhost:8000", "[::1]", "localhost"])
def test_docs_page_contains_loopback_host_of_request(
    monkeypatch: pytest.MonkeyPatch, host: str
) -> None:
    monkeypatch.setitem(EVENT, "headers", {"Host": host})
    page = body_of("/docs", {"path": "/local/docs", "apiId": "a1b2"})
    assert f"BASE_URL='http://{host}/restapis/a1b2/local/_user_request_'" in page
    assert f"BASE_URL='http://{host}'" in body_of("/docs", {"path": "/docs"})


@pytest.mark.parametrize("host", ["localhost.example.com", "localhost:1@example.com", "127.0.0.1'"])
def test_page_ignores_host_that_is_not_loopback(monkeypatch: pytest.MonkeyPatch, host: str) -> None:
    monkeypatch.setitem(EVENT, "headers", {"Host": host})
    assert "BASE_URL='…'" in body_of("/docs", {"path": "/docs"})


def test_docs_page_contains_placeholder_for_other_host() -> None:
    page = body_of("/docs", {"path": "/local/docs", "apiId": "a1b2"})
    assert "BASE_URL='…/restapis/a1b2/local/_user_request_'" in page
