"""Test that responses of the deployed service conform to the OpenAPI document."""

from typing import Any

import pytest

from tests.e2e.cloud import Cloud

KNOWN = {
    "/partners/purchase": "purchaseId",
    "/partners/contact-form": "contactFormId",
    "/partners/survey": "surveyId",
    "/partners/customer": "customerId",
}
LISTS = ["/partners/contact-form/list", "/partners/survey/list", "/partners/customer/list"]


def test_openapi_server_url_is_gateway_address(openapi_schema: Any, cloud: Cloud) -> None:
    assert openapi_schema.get_base_url() == cloud.base_url


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
