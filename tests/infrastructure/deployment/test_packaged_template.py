"""Tests of the template of the code stack: Chalice packages it, and the project adds settings.

Tests of settings read the template as CloudFormation transforms it.
"""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from botocore.session import get_session

from chalicelib.storage import executions
from infrastructure.deployment import code_package, data_stack, gateway_responses
from infrastructure.deployment.code_template import Options, complete
from infrastructure.deployment.progress import DeploymentError
from infrastructure.functions import FUNCTIONS, PUBLIC_SUBMITS, STAGES, Stage, stage_named
from infrastructure.generate.configuration import policy
from tests.infrastructure.deployment.templates import Template, package_template, transformed

ROOT = Path(__file__).parents[3]
CODE_URI = "s3://bucket/code.zip"
# Resource names contain the stage. The tests compare the names with those in the data stack.
STAGE = "prod"
PROD = stage_named(STAGE)
# The tests run in any supported version, so at least one of their runs builds for another one.
PYTHON = "3.14"

Event = dict[str, Any]


@pytest.fixture(scope="module")
def packaged(tmp_path_factory: pytest.TempPathFactory) -> Template:
    return package_template(tmp_path_factory.mktemp("package"), STAGE, PYTHON)


@pytest.fixture(scope="module")
def template(packaged: Template) -> Template:
    return complete(packaged, PROD, Options(CODE_URI))


@pytest.fixture(scope="module")
def resources(template: Template) -> Template:
    """Return the resources after the SAM transformation."""
    found: Template = transformed(template)["Resources"]
    return found


def properties(resources: Template, kind: str) -> dict[str, dict[str, Any]]:
    return {
        name: resource.get("Properties", {})
        for name, resource in resources.items()
        if resource["Type"] == kind
    }


def changed(packaged: Template, stage: Stage = PROD, **options: Any) -> Template:
    """Return the transformed resources of another stage or with other options."""
    found: Template = transformed(complete(packaged, stage, Options(CODE_URI, **options)))
    resources: Template = found["Resources"]
    return resources


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


def test_functions_have_names_that_alarms_and_log_groups_contain(resources: Template) -> None:
    names = {f["FunctionName"] for f in properties(resources, "AWS::Lambda::Function").values()}
    assert names == {function.deployed_name(STAGE) for function in FUNCTIONS}
    data = json.loads(data_stack.template_body())["Resources"]
    groups = properties(data, "AWS::Logs::LogGroup").values()
    prefix = "/aws/lambda/"
    assert names == {
        group["LogGroupName"]["Fn::Sub"].replace("${Stage}", STAGE).removeprefix(prefix)
        for group in groups
    }


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


def test_event_sources_are_enabled_and_accept_partial_batch_responses(resources: Template) -> None:
    sources = properties(resources, "AWS::Lambda::EventSourceMapping").values()
    assert len(sources) == sum(1 for function in FUNCTIONS if function.queue)
    for source in sources:
        assert source["Enabled"] is True
        assert source["FunctionResponseTypes"] == ["ReportBatchItemFailures"]
    (rule,) = properties(resources, "AWS::Events::Rule").values()
    assert rule["State"] == "ENABLED"


def test_api_has_one_stage(resources: Template) -> None:
    # Without `OpenApiVersion`, SAM creates another stage, which is public and has no limits.
    (stage,) = properties(resources, "AWS::ApiGateway::Stage").values()
    (deployment,) = properties(resources, "AWS::ApiGateway::Deployment").values()
    assert stage["StageName"] == STAGE
    assert "StageName" not in deployment


def test_only_manifest_reserves_concurrency(resources: Template) -> None:
    reserved = {
        function["FunctionName"]: function["ReservedConcurrentExecutions"]
        for function in properties(resources, "AWS::Lambda::Function").values()
        if "ReservedConcurrentExecutions" in function
    }
    assert reserved == {f"feedback-{STAGE}": PROD.reserved_concurrency["api_handler"]}


def test_stage_has_rate_limits_of_manifest(resources: Template) -> None:
    (stage,) = properties(resources, "AWS::ApiGateway::Stage").values()
    limits = PROD.throttling
    assert limits
    assert {
        (setting["ResourcePath"], setting["HttpMethod"]): (
            setting["ThrottlingRateLimit"],
            setting["ThrottlingBurstLimit"],
        )
        for setting in stage["MethodSettings"]
    } == {
        ("/*", "*"): (limits.rate, limits.burst),
        **{
            # CloudFormation requires escaped slashes after the first one.
            (f"/~1{path.strip('/').replace('/', '~1')}", "POST"): (
                limits.submit_rate,
                limits.submit_burst,
            )
            for path in PUBLIC_SUBMITS
        },
    }


def test_stage_on_emulator_has_no_rate_limits(packaged: Template) -> None:
    resources = changed(packaged, stage_named("local"))
    (stage,) = properties(resources, "AWS::ApiGateway::Stage").values()
    assert "MethodSettings" not in stage


@pytest.mark.parametrize(("is_traced", "mode"), [(True, "Active"), (False, "PassThrough")])
def test_tracing_of_functions_and_gateway_is_set(
    packaged: Template, is_traced: bool, mode: str
) -> None:
    resources = changed(packaged, replace(PROD, tracing=is_traced))
    functions = properties(resources, "AWS::Lambda::Function").values()
    assert {function["TracingConfig"]["Mode"] for function in functions} == {mode}
    (stage,) = properties(resources, "AWS::ApiGateway::Stage").values()
    assert stage["TracingEnabled"] is is_traced


@pytest.mark.parametrize("is_traced", [True, False])
def test_functions_may_write_traces_only_if_stage_is_traced(is_traced: bool) -> None:
    statements = policy(FUNCTIONS[0], replace(PROD, tracing=is_traced))["Statement"]
    actions = {action for statement in statements for action in statement["Action"]}
    assert ("xray:PutTraceSegments" in actions) == is_traced


def test_web_acl_is_associated_with_stage_of_api(packaged: Template) -> None:
    resources = changed(packaged, has_firewall=True)
    (association,) = properties(resources, "AWS::WAFv2::WebACLAssociation").values()
    (stage,) = [n for n, r in resources.items() if r["Type"] == "AWS::ApiGateway::Stage"]
    # The reference to the stage makes CloudFormation create the stage first.
    assert association["ResourceArn"]["Fn::Sub"].endswith(f"/${{RestAPI}}/stages/${{{stage}}}")
    assert association["WebACLArn"] == {"Fn::GetAtt": ["WebAcl", "Arn"]}


def test_stage_without_firewall_has_no_web_acl(resources: Template) -> None:
    assert not [r["Type"] for r in resources.values() if "WAFv2" in r["Type"]]


@pytest.mark.parametrize("boundary", ["", "arn:aws:iam::123456789012:policy/boundary"])
def test_roles_of_functions_have_boundary(packaged: Template, boundary: str) -> None:
    roles = properties(changed(packaged, boundary=boundary), "AWS::IAM::Role").values()
    assert len(roles) == len(FUNCTIONS)
    assert {role.get("PermissionsBoundary", "") for role in roles} == {boundary}


def test_gateway_responses_are_problem_details(template: Template) -> None:
    responses = definition(template)["x-amazon-apigateway-gateway-responses"]
    assert len(responses) == len(gateway_responses.RESPONSES)
    for response in responses.values():
        problem = json.loads(response["responseTemplates"]["application/json"])
        assert problem["type"] == "about:blank"
        assert {"title", "detail", "requestId"} <= set(problem)
        assert str(problem["status"]) == response["statusCode"]
        headers = response["responseParameters"]
        assert headers["gatewayresponse.header.X-Content-Type-Options"] == "'nosniff'"


def definition(template: Template) -> Template:
    found: Template = template["Resources"]["RestAPI"]["Properties"]["DefinitionBody"]
    return found


def test_changed_gateway_response_deploys_api_again(
    packaged: Template, resources: Template, monkeypatch: pytest.MonkeyPatch
) -> None:
    def deployments(resources: Template) -> set[str]:
        return set(properties(resources, "AWS::ApiGateway::Deployment"))

    assert deployments(changed(packaged)) == deployments(resources)
    monkeypatch.setitem(gateway_responses.RESPONSES, "THROTTLED", (429, "Another text."))
    assert deployments(changed(packaged)).isdisjoint(deployments(resources))


def test_template_contains_settings_of_every_stage(packaged: Template) -> None:
    for stage in STAGES:
        template = complete(packaged, stage, Options(CODE_URI))
        names = {function["FunctionName"] for function in functions(template).values()}
        assert names == {function.deployed_name(stage.name) for function in FUNCTIONS}
    assert packaged["Resources"]["APIHandler"]["Properties"]["CodeUri"] == "./deployment.zip"


def test_every_gateway_response_type_has_problem_details() -> None:
    gateway = get_session().get_service_model("apigateway")
    kinds = gateway.shape_for("GatewayResponseType").enum
    assert sorted(gateway_responses.RESPONSES) == sorted(kinds)


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
