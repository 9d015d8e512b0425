"""A complete deployment of a second stage to the emulator."""

import pytest

from tests.e2e.cloud import Cloud
from tests.e2e.conftest import DEPLOYED_STAGE as STAGE


def test_deployment_prints_gateway_url(deployment: str) -> None:
    assert f"Stage {STAGE}: https://" in deployment


@pytest.mark.usefixtures("deployment")
def test_every_function_of_stage_has_its_own_role(cloud: Cloud) -> None:
    functions = {f["FunctionName"]: f for f in cloud.client("lambda").list_functions()["Functions"]}
    handler = functions[f"feedback-{STAGE}"]
    assert handler["Environment"]["Variables"]["STAGE"] == STAGE
    assert handler["Role"].endswith(f"/feedback-{STAGE}-api_handler")


@pytest.mark.usefixtures("deployment")
def test_queue_event_sources_accept_partial_batch_responses(cloud: Cloud) -> None:
    mappings = cloud.client("lambda").list_event_source_mappings()["EventSourceMappings"]
    of_stage = [m for m in mappings if f":feedback-{STAGE}-" in m["EventSourceArn"]]
    for mapping in of_stage:
        assert mapping["FunctionResponseTypes"] == ["ReportBatchItemFailures"]


@pytest.mark.usefixtures("deployment")
def test_gateway_responses_are_problem_details(cloud: Cloud) -> None:
    gateway = cloud.client("apigateway")
    responses = [
        gateway.get_gateway_response(restApiId=api["id"], responseType="THROTTLED")
        for api in gateway.get_rest_apis()["items"]
    ]
    assert len(responses) == 2
    for response in responses:
        assert response["statusCode"] == "429"
        assert "application/problem+json" in str(response["responseParameters"])


@pytest.mark.usefixtures("deployment")
def test_deployment_of_second_stage_does_not_affect_running_stage(cloud: Cloud) -> None:
    assert cloud.http.get("/openapi.json").status_code == 200
