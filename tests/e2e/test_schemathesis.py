"""Test that responses of the deployed service conform to the OpenAPI document."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests import schemathesis_hooks
from tests.e2e.cloud import Cloud

# The header Allow also names HEAD and OPTIONS, which the document does not list as operations.
NOT_CHECKED = "allow_header_conformance"

KNOWN = {
    "/partners/purchase": "purchaseId",
    "/partners/contact-form": "contactFormId",
    "/partners/survey": "surveyId",
    "/partners/customer": "customerId",
}
LISTS = ["/partners/contact-form/list", "/partners/survey/list", "/partners/customer/list"]


def test_openapi_server_url_is_gateway_address(openapi_schema: Any, cloud: Cloud) -> None:
    assert openapi_schema.get_base_url() == cloud.base_url


def test_responses_to_generated_requests_conform_to_openapi(
    cloud: Cloud, credentials: dict[str, str], tmp_path: Path
) -> None:
    sent = [part for name, value in credentials.items() for part in ("-H", f"{name}: {value}")]
    result = subprocess.run(
        [
            str(Path(sys.executable).with_name("schemathesis")),
            *("run", f"{cloud.base_url}/openapi.json", *sent),
            *("--phases", "examples"),
            "--continue-on-failure",
            *("--checks", "all", "--exclude-checks", NOT_CHECKED),
        ],
        cwd=tmp_path,
        env=os.environ | {"SCHEMATHESIS_HOOKS": str(schemathesis_hooks.__file__)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert result.returncode == 0, result.stdout


@pytest.mark.parametrize(("path", "name"), KNOWN.items())
def test_responses_with_demo_resources_conform_to_openapi(
    openapi_schema: Any, cloud: Cloud, credentials: dict[str, str], path: str, name: str
) -> None:
    case = openapi_schema[path]["GET"].Case(query={"id": cloud.demo[name]})
    assert case.call_and_validate(headers=credentials).status_code == 200


@pytest.mark.parametrize("path", LISTS)
def test_list_pages_conform_to_openapi(
    openapi_schema: Any, credentials: dict[str, str], path: str
) -> None:
    page = total = 1
    while page <= total:
        case = openapi_schema[path]["POST"].Case(
            body={"limit": 100, "page": page}, media_type="application/json"
        )
        response = case.call_and_validate(headers=credentials)
        assert response.status_code == 201
        total = response.json()["meta"]["totalPages"]
        page += 1


@pytest.mark.parametrize("missing", ["X-API-KEY", "X-API-SECRET"])
def test_request_with_one_credential_header_is_rejected(
    openapi_schema: Any, credentials: dict[str, str], missing: str
) -> None:
    headers = {name: value for name, value in credentials.items() if name != missing}
    for method, path in (("GET", "/partners/customer"), ("POST", "/partners/customer/batch")):
        case = openapi_schema[path][method].Case()
        response = case.call(headers=headers)
        case.operation.validate_response(response)
        assert response.status_code == 401
