"""Tests of the SAM template: Chalice generates it, and the project adds settings."""

import json
from pathlib import Path
from typing import Any

import pytest
from botocore.session import get_session

from chalicelib.storage import executions
from infrastructure.deployment import code_package, data_stack, gateway_responses
from infrastructure.deployment.progress import DeploymentError

ROOT = Path(__file__).parents[3]
CODE_URI = "s3://bucket/code.zip"
# Resource names contain the stage. The tests compare the names with those in the data stack.
STAGE = "prod"
# The tests run in any supported version, so at least one of their runs builds for another one.
PYTHON = "3.14"

Event = dict[str, Any]


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    folder = tmp_path_factory.mktemp("package")
    code_package.copy_source(folder)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("STAGE", STAGE)
        code_package.run_chalice(
            "package", "--stage", STAGE, "out", folder=folder, python_version=PYTHON
        )
    packaged = json.loads((folder / "out" / "sam.json").read_text())
    return code_package.complete(packaged, CODE_URI)


def functions(template: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {
        name: resource["Properties"]
        for name, resource in template["Resources"].items()
        if resource["Type"] == "AWS::Serverless::Function"
    }


def queue_events(template: dict[str, Any]) -> list[tuple[dict[str, Any], Event]]:
    return [
        (function, event["Properties"])
        for function in functions(template).values()
        for event in function.get("Events", {}).values()
        if event["Type"] == "SQS"
    ]


def queue_properties(event: Event) -> dict[str, Any]:
    arn = event["Queue"]["Fn::Sub"] if isinstance(event["Queue"], dict) else event["Queue"]
    name = arn.rsplit(":", 1)[-1]
    queues = [
        resource["Properties"]
        for resource in json.loads(data_stack.template_body())["Resources"].values()
        if resource["Type"] == "AWS::SQS::Queue"
        and resource["Properties"]["QueueName"]["Fn::Sub"].replace("${Stage}", STAGE) == name
    ]
    assert len(queues) == 1, f"{name} is not a queue of the data stack"
    properties: dict[str, Any] = queues[0]
    return properties


def test_queue_event_sources_accept_partial_batch_responses(template: dict[str, Any]) -> None:
    for _, event in queue_events(template):
        assert event["FunctionResponseTypes"] == ["ReportBatchItemFailures"]


def test_queue_functions_have_no_reserved_concurrency(template: dict[str, Any]) -> None:
    # With reserved concurrency, Lambda throttles invocations, and each throttled invocation
    # increases the receive counts of its messages.
    for function, event in queue_events(template):
        assert "ReservedConcurrentExecutions" not in function
        assert event["ScalingConfig"]["MaximumConcurrency"] >= 2


def test_visibility_timeout_is_at_least_six_function_timeouts(
    template: dict[str, Any],
) -> None:
    for function, event in queue_events(template):
        assert queue_properties(event)["VisibilityTimeout"] >= 6 * function["Timeout"]


def test_webhook_lease_is_between_function_timeout_and_visibility_timeout(
    template: dict[str, Any],
) -> None:
    stages = json.loads((ROOT / ".chalice" / "config.json").read_text())["stages"]
    (visibility_timeout_s,) = (
        queue["VisibilityTimeout"]
        for _, event in queue_events(template)
        if "webhooks" in str((queue := queue_properties(event))["QueueName"])
    )
    for stage in stages.values():
        timeout_s = stage["lambda_functions"]["send_webhook"]["lambda_timeout"]
        assert timeout_s < executions.LEASE.total_seconds() <= visibility_timeout_s


def test_fifo_event_source_has_at_most_10_messages_and_no_batching_window(
    template: dict[str, Any],
) -> None:
    for _, event in queue_events(template):
        if queue_properties(event).get("FifoQueue"):
            assert event["BatchSize"] <= 10
            assert event.get("MaximumBatchingWindowInSeconds", 0) == 0


def test_every_function_has_uploaded_code_and_its_own_role(
    template: dict[str, Any],
) -> None:
    roles = [function["Role"]["Fn::GetAtt"][0] for function in functions(template).values()]
    assert {function["CodeUri"] for function in functions(template).values()} == {CODE_URI}
    assert len(roles) == len(set(roles))


def test_partial_batch_responses_do_not_depend_on_function_name() -> None:
    event = {"Type": "SQS", "Properties": {"Queue": "arn:aws:sqs:x:y:z", "BatchSize": 10}}
    timer = {"Type": "Schedule", "Properties": {"Schedule": "rate(1 minute)"}}
    packaged: dict[str, Any] = {
        "Resources": {
            "AnyName": {
                "Type": "AWS::Serverless::Function",
                "Properties": {"CodeUri": "./x.zip", "Events": {"E": event, "T": timer}},
            }
        }
    }
    completed = functions(code_package.complete(packaged, CODE_URI))["AnyName"]
    assert completed["Events"]["E"]["Properties"] == {
        "Queue": "arn:aws:sqs:x:y:z",
        "BatchSize": 10,
        "FunctionResponseTypes": ["ReportBatchItemFailures"],
    }
    assert completed["Events"]["T"] == timer
    assert packaged["Resources"]["AnyName"]["Properties"]["CodeUri"] == "./x.zip"


def test_gateway_forwards_every_method_of_known_paths(template: dict[str, Any]) -> None:
    (api,) = (
        resource["Properties"]["DefinitionBody"]
        for resource in template["Resources"].values()
        if resource["Type"] == "AWS::Serverless::Api"
    )
    assert len(api["paths"]) > 30
    for methods in api["paths"].values():
        integrations = [each["x-amazon-apigateway-integration"] for each in methods.values()]
        assert "x-amazon-apigateway-any-method" in methods
        assert integrations == [integrations[0]] * len(methods)
    assert len(json.dumps(template)) < 1_000_000, "the largest template that CloudFormation accepts"


def test_gateway_responses_are_problem_details(template: dict[str, Any]) -> None:
    responses = [
        resource["Properties"]
        for resource in template["Resources"].values()
        if resource["Type"] == "AWS::ApiGateway::GatewayResponse"
    ]
    assert len(responses) == len(gateway_responses.RESPONSES)
    for response in responses:
        problem = json.loads(response["ResponseTemplates"]["application/json"])
        assert problem["type"] == "about:blank"
        assert {"title", "detail", "requestId"} <= set(problem)
        assert str(problem["status"]) == response["StatusCode"]
        headers = response["ResponseParameters"]
        assert headers["gatewayresponse.header.X-Content-Type-Options"] == "'nosniff'"


def test_every_gateway_response_type_has_problem_details() -> None:
    gateway = get_session().get_service_model("apigateway")
    kinds = gateway.shape_for("GatewayResponseType").enum
    assert sorted(response.kind for response in gateway_responses.RESPONSES) == sorted(kinds)


def test_copied_source_contains_no_bytecode(tmp_path: Path) -> None:
    code_package.copy_source(tmp_path)
    names = {path.name for path in tmp_path.rglob("*")}
    assert "app.py" in names
    assert "settings.py" in names
    assert "__pycache__" not in names


def test_functions_have_python_of_stage(template: dict[str, Any]) -> None:
    assert {function["Runtime"] for function in functions(template).values()} == {"python3.14"}


def test_source_copy_deletes_removed_files(tmp_path: Path) -> None:
    (tmp_path / "chalicelib").mkdir()
    (tmp_path / "chalicelib" / "gone.py").touch()
    code_package.copy_source(tmp_path)
    assert not (tmp_path / "chalicelib" / "gone.py").exists()


def test_packaging_error_contains_cause(tmp_path: Path) -> None:
    code_package.copy_source(tmp_path)
    (tmp_path / "app.py").write_text("import no_such_module_anywhere\n")
    with pytest.raises(DeploymentError, match="no_such_module_anywhere"):
        code_package.run_chalice("package", "--stage", STAGE, "out", folder=tmp_path)
