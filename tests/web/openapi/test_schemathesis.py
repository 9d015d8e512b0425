"""Test that the app's responses to requests at limits conform to the OpenAPI document.

The end-to-end tests send random requests.
"""

import importlib
import json
import sys
from collections.abc import Iterable, Iterator
from functools import partial
from http import HTTPStatus
from typing import Any

import pytest
from chalice.test import Client

from chalicelib.web.openapi.routes import DOCUMENT
from tests.web.partner_client import Partner

OPERATIONS = [
    (path, method)
    for path, methods in json.loads(DOCUMENT.read_text(encoding="utf-8"))["paths"].items()
    for method in methods
    if path.startswith("/partners/")
]


def call_app(client: Client, environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
    """Serve the app as a WSGI application, which schemathesis can call."""
    headers = {
        name.removeprefix("HTTP_").replace("_", "-"): value
        for name, value in environ.items()
        if name.startswith("HTTP_") or name == "CONTENT_TYPE"
    }
    query = environ.get("QUERY_STRING")
    response = client.http.request(
        environ["REQUEST_METHOD"],
        environ["PATH_INFO"] + (f"?{query}" if query else ""),
        headers=headers,
        body=environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0)),
    )
    status = HTTPStatus(response.status_code)
    start_response(f"{status.value} {status.phrase}", list(response.headers.items()))
    return [response.body]


@pytest.fixture(scope="module")
def schema(client: Client) -> Iterator[Any]:
    """Load the OpenAPI document from the app.

    Only the worker that runs these tests imports schemathesis, because the import takes seconds.
    """
    importlib.import_module("tests.schemathesis_hooks")  # registers the hooks
    schemathesis = importlib.import_module("schemathesis")
    with pytest.MonkeyPatch.context() as patch:
        # Schemathesis searches for Flask, which is not installed, again for each request.
        patch.setitem(sys.modules, "flask", None)
        yield schemathesis.openapi.from_wsgi("/openapi.json", partial(call_app, client))


@pytest.fixture(scope="module")
def excluded() -> Any:
    """Return the checks that other tests do: every endpoint rejects wrong credentials."""
    checks = importlib.import_module("schemathesis").checks.CHECKS
    return checks.get_by_names(["ignored_auth"])


@pytest.mark.parametrize("mode", ["positive", "negative"])
@pytest.mark.parametrize(("path", "method"), OPERATIONS)
def test_responses_to_requests_at_limits_conform_to_openapi_document(
    schema: Any, excluded: Any, path: str, method: str, mode: str, with_customers: Partner
) -> None:
    generation = importlib.import_module("schemathesis").GenerationMode(mode)
    operation = schema[path][method]
    configuration = schema.config.generation_for(operation=operation, phase="coverage")
    for case in schema.iter_coverage_cases(
        operation, generation_modes=[generation], generation_config=configuration
    ):
        # The gateway rejects requests with other methods.
        if case.method == method.upper():
            case.call_and_validate(headers=with_customers.headers, excluded_checks=excluded)
