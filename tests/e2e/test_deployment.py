"""Tests of a complete deployment of a second stage to the emulator."""

import json
import subprocess
import sys

import pytest

from infrastructure.deployment.code_package import PROJECT
from infrastructure.functions import FUNCTIONS
from tests.e2e.cloud import Cloud
from tests.e2e.conftest import DEPLOYED_STAGE as STAGE


def stack_outputs(cloud: Cloud) -> dict[str, str]:
    stack = cloud.client("cloudformation").describe_stacks(StackName=f"feedback-{STAGE}-data")
    return {o["OutputKey"]: o["OutputValue"] for o in stack["Stacks"][0]["Outputs"]}


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
def test_bucket_contains_record_of_deployed_resources(cloud: Cloud) -> None:
    s3 = cloud.client("s3")
    bucket = stack_outputs(cloud)["DeploymentBucketName"]
    record = json.loads(s3.get_object(Bucket=bucket, Key=f"{STAGE}.json")["Body"].read())
    assert "rest_api" in {resource["resource_type"] for resource in record["resources"]}
    assert s3.get_bucket_versioning(Bucket=bucket)["Status"] == "Enabled"


@pytest.mark.usefixtures("deployment")
def test_log_groups_expire_after_30_days(cloud: Cloud) -> None:
    groups = cloud.client("logs").describe_log_groups(
        logGroupNamePrefix=f"/aws/lambda/feedback-{STAGE}"
    )["logGroups"]
    assert len(groups) == len(FUNCTIONS)
    assert {group["retentionInDays"] for group in groups} == {30}


def run(cloud: Cloud, script: str) -> str:
    """Run a Python script that sends its AWS requests to the local cloud. Return its output."""
    result = subprocess.run(
        [sys.executable, "-c", script],
        cwd=PROJECT,
        env=cloud.environment(STAGE),
        capture_output=True,
        text=True,
    )
    assert result.returncode == 0, result.stderr
    return result.stdout.strip()


@pytest.mark.usefixtures("deployment")
def test_second_deployment_of_data_stack_changes_nothing(cloud: Cloud) -> None:
    script = (
        "from infrastructure.deployment.data_stack import deploy;"
        f"print([deploy('{STAGE}', alarm_email='team@example.org') for _ in range(2)])"
    )
    assert run(cloud, script) == "['updated', 'unchanged']"


@pytest.mark.usefixtures("deployment")
def test_firewall_is_associated_with_gateway_stage_until_disassociated(cloud: Cloud) -> None:
    web_acl_arn = stack_outputs(cloud)["WebAclArn"]

    def associated() -> list[str]:
        return cloud.client("wafv2").list_resources_for_web_acl(
            WebACLArn=web_acl_arn, ResourceType="API_GATEWAY"
        )["ResourceArns"]

    (stage_arn,) = associated()
    assert stage_arn.endswith(f"/stages/{STAGE}")
    script = (
        "from infrastructure.deployment.gateway_stage import disassociate_web_acl;"
        f"disassociate_web_acl('{web_acl_arn}')"
    )
    run(cloud, script)
    assert associated() == []


@pytest.mark.usefixtures("deployment")
def test_deployment_of_second_stage_does_not_affect_running_stage(cloud: Cloud) -> None:
    assert cloud.http.get("/openapi.json").status_code == 200
