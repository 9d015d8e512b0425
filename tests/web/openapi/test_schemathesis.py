"""Test that the app's responses to generated requests conform to the OpenAPI document."""

from collections.abc import Iterable
from http import HTTPStatus
from typing import Any

import pytest
import schemathesis
from chalice.test import Client
from hypothesis import HealthCheck, given, settings

from tests import schemathesis_hooks
from tests.web.partner_client import ROOT, Partner


def call_app(environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
    """Serve the app as a WSGI application, which schemathesis can call."""
    from app import app

    headers = {
        name.removeprefix("HTTP_").replace("_", "-"): value
        for name, value in environ.items()
        if name.startswith("HTTP_") or name == "CONTENT_TYPE"
    }
    query = environ.get("QUERY_STRING")
    with Client(app, stage_name="test", project_dir=str(ROOT)) as client:
        response = client.http.request(
            environ["REQUEST_METHOD"],
            environ["PATH_INFO"] + (f"?{query}" if query else ""),
            headers=headers,
            body=environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0)),
        )
    status = HTTPStatus(response.status_code)
    start_response(f"{status.value} {status.phrase}", list(response.headers.items()))
    return [response.body]


assert schemathesis_hooks  # importing the module registers the hooks

openapi_schema = schemathesis.openapi.from_wsgi("/openapi.json", call_app)
partners = openapi_schema.include(path_regex="^/partners/")
OPERATIONS = [operation_result.ok() for operation_result in partners.get_all_operations()]


each_mode = pytest.mark.parametrize("mode", schemathesis.GenerationMode)
each_operation = pytest.mark.parametrize(
    "operation", [pytest.param(operation, id=operation.label) for operation in OPERATIONS]
)


@each_mode
@each_operation
def test_responses_to_generated_requests_conform_to_openapi_document(
    operation: schemathesis.APIOperation[Any, Any, Any, Any],
    mode: schemathesis.GenerationMode,
    with_customers: Partner,
) -> None:
    @settings(max_examples=10, suppress_health_check=list(HealthCheck))
    @given(case=operation.as_strategy(generation_mode=mode))
    def call_and_validate(case: schemathesis.Case) -> None:
        case.call_and_validate(headers=with_customers.headers)

    call_and_validate()


@each_mode
@each_operation
def test_responses_to_requests_at_limits_conform_to_openapi_document(
    operation: schemathesis.APIOperation[Any, Any, Any, Any],
    mode: schemathesis.GenerationMode,
    with_customers: Partner,
) -> None:
    configuration = openapi_schema.config.generation_for(operation=operation, phase="coverage")
    for case in openapi_schema.iter_coverage_cases(
        operation, generation_modes=[mode], generation_config=configuration
    ):
        # The gateway rejects requests with other methods.
        if case.method == operation.method.upper():
            case.call_and_validate(headers=with_customers.headers)
