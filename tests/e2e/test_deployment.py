"""A complete deployment against the emulator, with a stage of its own."""

import subprocess
import sys
from pathlib import Path

import pytest

from infrastructure.deployment.code_package import PROJECT
from tests.e2e.conftest import Cloud

STAGE = "test"


@pytest.fixture(scope="module")
def deployment(cloud: Cloud, tmp_path_factory: pytest.TempPathFactory) -> str:
    functions = cloud.client("lambda").list_functions()["Functions"]
    if f"feedback-{STAGE}" in {function["FunctionName"] for function in functions}:
        pytest.skip("An earlier run deployed here already, and the emulator takes it only once.")
    records: Path = tmp_path_factory.mktemp("deployed")
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "infrastructure.deployment.deploy",
            "--stage",
            STAGE,
            "--records",
            records,
        ],
        cwd=PROJECT,
        env=cloud.environment(STAGE),
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert (records / f"{STAGE}.json").exists()
    return done.stdout


def test_deployment_prints_the_gateway_url(deployment: str) -> None:
    assert f"Stage {STAGE} is at https://" in deployment


@pytest.mark.usefixtures("deployment")
def test_functions_of_the_stage_exist_with_their_roles(cloud: Cloud) -> None:
    functions = {f["FunctionName"]: f for f in cloud.client("lambda").list_functions()["Functions"]}
    handler = functions[f"feedback-{STAGE}"]
    assert handler["Environment"]["Variables"]["STAGE"] == STAGE
    assert handler["Role"].endswith(f"/feedback-{STAGE}-api_handler")


@pytest.mark.usefixtures("deployment")
def test_event_sources_accept_partial_batch_responses(cloud: Cloud) -> None:
    mappings = cloud.client("lambda").list_event_source_mappings()["EventSourceMappings"]
    of_stage = [m for m in mappings if f":feedback-{STAGE}-" in m["EventSourceArn"]]
    for mapping in of_stage:
        assert mapping["FunctionResponseTypes"] == ["ReportBatchItemFailures"]


@pytest.mark.usefixtures("deployment")
def test_gateway_responses_are_problems(cloud: Cloud) -> None:
    gateway = cloud.client("apigateway")
    answers = [
        gateway.get_gateway_response(restApiId=api["id"], responseType="THROTTLED")
        for api in gateway.get_rest_apis()["items"]
    ]
    assert len(answers) == 2
    for answer in answers:
        assert answer["statusCode"] == "429"
        assert "application/problem+json" in str(answer["responseParameters"])


@pytest.mark.usefixtures("deployment")
def test_running_stage_is_unchanged(cloud: Cloud) -> None:
    assert cloud.http.get("/openapi.json").status_code == 200
