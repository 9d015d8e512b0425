"""The app follows its OpenAPI document for generated requests, in process."""

from collections.abc import Iterable
from datetime import UTC, datetime
from http import HTTPStatus
from typing import Any

import pytest
import schemathesis
from chalice.test import Client
from hypothesis import HealthCheck, given, settings

from chalicelib.domain.customers.customer import Customer
from chalicelib.domain.ids import new_id
from chalicelib.storage import customers
from tests import schemathesis_hooks
from tests.web.conftest import ROOT, Partner, new_partner

NOW = datetime(2026, 11, 20, 10, tzinfo=UTC)


def answer(environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
    """Call the app as a WSGI server does."""
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


assert schemathesis_hooks  # the import registers the hooks

described = schemathesis.openapi.from_wsgi("/openapi.json", answer)
partners = described.include(path_regex="^/partners/")
OPERATIONS = [found.ok() for found in partners.get_all_operations()]


@pytest.fixture(scope="module")
def known(client: Client) -> Partner:
    """A partner whose account has customers."""
    partner = new_partner(client)
    for number in range(3):
        customer = Customer(id=new_id(), created_at=NOW, updated_at=NOW, first_name=f"C{number}")
        customers.create(partner.account_id, customer)
    return partner


@pytest.mark.parametrize("mode", schemathesis.GenerationMode)
@pytest.mark.parametrize("operation", [pytest.param(each, id=each.label) for each in OPERATIONS])
def test_responses_follow_the_document(
    operation: schemathesis.APIOperation[Any, Any, Any, Any],
    mode: schemathesis.GenerationMode,
    known: Partner,
) -> None:
    @settings(max_examples=10, suppress_health_check=list(HealthCheck))
    @given(case=operation.as_strategy(generation_mode=mode))
    def follows_the_document(case: schemathesis.Case) -> None:
        case.call_and_validate(headers=known.headers)

    follows_the_document()
