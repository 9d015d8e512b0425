"""Tests of the gateway: it forwards responses from the app and generates error responses itself."""

import pytest

from tests.e2e.cloud import Cloud


def test_gateway_forwards_request_to_app(cloud: Cloud) -> None:
    response = cloud.http.get("/openapi.json")
    assert response.status_code == 200
    assert response.json()["openapi"].startswith("3.1")


@pytest.mark.parametrize(
    ("method", "path", "allowed"),
    [
        ("DELETE", "/openapi.json", {"GET", "HEAD"}),
        ("PUT", "/partners/customer", {"GET", "POST", "PATCH"}),
        ("OPTIONS", "/partners/survey", {"GET"}),
        ("POST", "/public/survey", {"GET", "HEAD", "OPTIONS"}),
    ],
)
def test_other_method_of_known_path_returns_405_with_allowed_methods(
    cloud: Cloud, method: str, path: str, allowed: set[str]
) -> None:
    response = cloud.http.request(method, path)
    assert response.status_code == 405
    assert set(response.headers["allow"].split(", ")) == allowed
    assert response.headers["content-type"] == "application/problem+json"
    assert response.json()["code"] == "method_not_allowed"
    assert response.json()["requestId"] == response.headers["x-request-id"]


def test_unknown_path_returns_problem_details(cloud: Cloud) -> None:
    response = cloud.http.get("/no/such/path")
    assert response.status_code == 404
    assert response.headers["content-type"] == "application/problem+json"
    problem = response.json()
    assert problem.pop("requestId")
    assert problem == {
        "type": "about:blank",
        "title": "Not Found",
        "status": 404,
        "code": "not_found",
        "detail": "There is no such path.",
    }


def test_deployed_policy_has_no_wildcard_action(cloud: Cloud) -> None:
    functions = cloud.client("lambda").list_functions()["Functions"]
    handler = next(f for f in functions if f["FunctionName"] == "feedback-local")
    role = handler["Role"].rsplit("/", 1)[-1]
    iam = cloud.client("iam")
    (name,) = iam.list_role_policies(RoleName=role)["PolicyNames"]
    document = iam.get_role_policy(RoleName=role, PolicyName=name)["PolicyDocument"]
    actions = {action for statement in document["Statement"] for action in statement["Action"]}
    assert "dynamodb:GetItem" in actions
    assert not [action for action in actions if "*" in action]
