"""Tests that deploy a stage to moto. Chalice runs in the test process."""

import json
import os
import re
import sys
import warnings
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import boto3
import pytest
from botocore.client import BaseClient
from botocore.exceptions import ClientError
from chalice.awsclient import TypedAWSClient
from chalice.cli import cli as chalice
from chalice.config import Config
from moto import mock_aws

import app
from infrastructure import functions as manifest
from infrastructure.deployment import (
    code_package,
    data_stack,
    dependencies,
    deploy,
    domain_stack,
    permissions,
    public_base_url,
    stacks,
    trim,
)
from infrastructure.deployment.lock import deployment_lock
from infrastructure.deployment.progress import DeploymentError
from infrastructure.functions import FUNCTIONS, PUBLIC_SUBMITS, STAGES, Stage, Throttling

BY_NAME = {stage.name: stage for stage in STAGES}
THROTTLING = Throttling(rate=10, burst=20, submit_rate=3, submit_burst=4)
# The app is imported for the stage `test`, so only this stage can be deployed.
STAGE = replace(BY_NAME["test"], is_emulated=False, throttling=THROTTLING, python="3.12")


@pytest.fixture
def aws(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.delenv("AWS_ENDPOINT_URL", raising=False)
    monkeypatch.setattr(boto3, "client", cache(boto3.client))
    with mock_aws():
        yield


def create_api(*_: Any, **__: Any) -> str:
    """Create a REST API with one method. Moto cannot import the OpenAPI document of Chalice."""
    gateway = boto3.client("apigateway")
    api = gateway.create_rest_api(name="feedback")
    root = {"restApiId": api["id"], "resourceId": api["rootResourceId"], "httpMethod": "GET"}
    gateway.put_method(**root, authorizationType="NONE")
    gateway.put_integration(**root, type="MOCK")
    return api["id"]


@pytest.fixture
def chalice_in_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(Path.cwd())  # The Chalice command line changes the working directory.

    def run(*arguments: str, folder: Path, python_version: str = STAGE.python) -> None:
        with monkeypatch.context() as patch, warnings.catch_warnings():
            warnings.filterwarnings("ignore", "You are currently running python")
            patch.setattr(Config, "lambda_python_version", f"python{python_version}")
            patch.setattr(sys, "path", list(sys.path))
            patch.setattr(os, "environ", dict(os.environ))
            chalice(["--project-dir", str(folder), *arguments], obj={}, standalone_mode=False)

    monkeypatch.setattr(TypedAWSClient, "import_rest_api", create_api)
    monkeypatch.setattr(TypedAWSClient, "update_api_from_swagger", lambda *_, **__: None)
    # Chalice reads the app of this process. The packages and modules of the archive do not affect
    # these tests, and to install, compile and compress them takes seconds.
    monkeypatch.setattr(dependencies, "install", lambda *_: None)
    files = tuple(name for name in code_package._DEPLOYED_FILES if name != "chalicelib")
    monkeypatch.setattr(code_package, "_DEPLOYED_FILES", files)
    monkeypatch.setattr(trim, "compile_modules", lambda *_: None)
    monkeypatch.setattr(trim, "compile_templates", lambda *_: None)
    monkeypatch.setattr(code_package, "run_chalice", run)
    monkeypatch.setattr(manifest, "STAGES", (STAGE,))


@pytest.mark.usefixtures("aws", "chalice_in_process")
def test_repeated_deployment_updates_same_resources(monkeypatch: pytest.MonkeyPatch) -> None:
    # Moto does not keep the parameters of a stack that have their default values.
    first_url = deploy.deploy("test", alarm_email="team@example.org", firewall="no")
    monkeypatch.setattr(manifest, "STAGES", (replace(STAGE, tracing=True),))
    assert deploy.deploy("test", alarm_email="team@example.org") == first_url
    assert is_traced()
    disable_event_sources()
    monkeypatch.setattr(manifest, "STAGES", (STAGE,))
    assert deploy.deploy("test") == first_url
    assert len(boto3.client("apigateway").get_rest_apis()["items"]) == 1
    mappings = boto3.client("lambda").list_event_source_mappings()["EventSourceMappings"]
    assert len(mappings) == sum(1 for function in FUNCTIONS if function.queue)
    assert {mapping["State"] for mapping in mappings} == {"Enabled"}
    functions = boto3.client("lambda").list_functions()["Functions"]
    assert {function["Runtime"] for function in functions} == {"python3.12"}
    assert resource_types_of_record() >= {"rest_api", "sqs_event"}
    assert_stage_is_throttled()
    assert not is_traced()


@pytest.mark.usefixtures("aws", "chalice_in_process")
def test_policy_of_deployer_allows_every_call(monkeypatch: pytest.MonkeyPatch) -> None:
    actions = record_actions(monkeypatch)
    deploy.deploy("test")
    deploy.deploy("test")
    assert len(set(actions)) > 25
    assert sorted(action for action in set(actions) if not permissions.allows(action)) == []


@pytest.mark.usefixtures("aws", "chalice_in_process")
def test_domain_is_kept_until_it_is_removed(monkeypatch: pytest.MonkeyPatch) -> None:
    deleted: list[str] = []
    served = domain_stack.Progress("served", is_served=True)
    monkeypatch.setattr(domain_stack, "deploy", lambda *_, **__: served)
    monkeypatch.setattr(domain_stack, "delete", deleted.append)
    # Moto does not keep the parameters of a stack that have their default values.
    options = {"alarm_email": "team@example.org", "firewall": "no"}
    domain = "https://feedback.example.com"
    first = deploy.deploy("test", domain="feedback.example.com", **options)
    assert first == f"Stage test: {domain}"
    assert deploy.deploy("test") == first
    assert public_base_url.load("test") == domain
    assert deleted == []
    assert "execute-api" in deploy.deploy("test", domain="no")
    assert "execute-api" in (public_base_url.load("test") or "")
    assert deleted == ["test"]


READS = ("Describe", "Get", "GET", "List")
PREVIEW_WRITES = {
    "s3:CreateBucket",
    "s3:PutObject",
    "cloudformation:CreateChangeSet",
    "cloudformation:DeleteChangeSet",
}
"""CloudFormation reads a large template from the bucket of the templates."""


def preview(capsys: pytest.CaptureFixture[str], **settings: Any) -> set[str]:
    """Return the changes that a preview prints."""
    capsys.readouterr()
    deploy.preview("test", **settings)
    lines = capsys.readouterr().out.splitlines()
    return {line.strip() for line in lines if line.startswith("  ")}


def add_function(name: str) -> None:
    (function, *_) = boto3.client("lambda").list_functions()["Functions"]
    boto3.client("lambda").create_function(
        FunctionName=name,
        Runtime="python3.12",
        Role=function["Role"],
        Handler="app.app",
        Code={"ZipFile": b"code"},
    )


@pytest.mark.usefixtures("aws", "chalice_in_process")
def test_preview_lists_changes_and_changes_nothing(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    new = preview(capsys)
    assert {"Create the stack feedback-test-data", "feedback-test: Does not exist."} <= new
    assert "Add GET /public/survey" in new
    assert boto3.client("cloudformation").describe_stacks()["Stacks"] == []

    # Moto does not keep the parameters of a stack that have their default values.
    settings = {"alarm_email": "team@example.org", "firewall": "no", "domain": "no"}
    deploy.deploy("test", **settings)
    unchanged = preview(capsys, alarm_email="team@example.org")
    # The API of `create_api` has one route. The policies of the stage are those for the emulator.
    assert {"Add GET /public/survey", "Remove GET /"} <= unchanged
    assert [
        line
        for line in unchanged
        if not line.startswith(("Add ", "Remove ")) and "The role" not in line
    ] == []

    template = tmp_path / "data.yaml"
    template.write_text(f"{data_stack.TEMPLATE.read_text()}\n  Added: {{Type: AWS::SNS::Topic}}\n")
    monkeypatch.setattr(data_stack, "TEMPLATE", template)
    functions = boto3.client("lambda")
    functions.update_function_configuration(FunctionName="feedback-test-sweep", Timeout=3)
    functions.update_function_code(FunctionName="feedback-test-sweep", ZipFile=b"other")
    add_function("feedback-test-renamed")
    add_function("feedback-testing")
    actions = record_actions(monkeypatch)
    changed = preview(capsys, **settings | {"domain": "feedback.example.com"})
    assert changed - unchanged == {
        "Add Added (AWS::SNS::Topic)",
        "Domain: feedback.example.com (now: none)",
        "feedback-test-sweep: The code changes.",
        "feedback-test-sweep: Timeout is 3, expected 50.",
        "feedback-test-renamed: The function is deleted.",
    }
    assert {a for a in actions if not a.partition(":")[2].startswith(READS)} == PREVIEW_WRITES
    assert sorted(action for action in set(actions) if not permissions.allows(action)) == []


@pytest.mark.usefixtures("aws")
def test_preview_deletes_change_set_that_cloudformation_rejects(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    template = "{Resources: {Topic: {Type: 'AWS::SNS::Topic'}}}"
    stacks.deploy("small", "1", template=template)
    actions = record_actions(monkeypatch)
    assert stacks.changes("small", template, {}) == []

    def fail(client: BaseClient, operation: str, arguments: dict[str, Any]) -> Any:
        if operation == "DescribeChangeSet":
            return {"Status": "FAILED", "StatusReason": "Template error"}
        return real(client, operation, arguments)

    real: Any = BaseClient._make_api_call  # type: ignore[attr-defined]
    monkeypatch.setattr(BaseClient, "_make_api_call", fail)
    with pytest.raises(DeploymentError, match="rejected the stack small: Template error"):
        stacks.changes("small", template, {})
    assert actions.count("cloudformation:CreateChangeSet") == 2
    assert actions.count("cloudformation:DeleteChangeSet") == 2


def test_preview_is_chosen_with_yes_or_no(monkeypatch: pytest.MonkeyPatch) -> None:
    started = []
    for name in ("deploy", "preview"):
        monkeypatch.setattr(deploy, name, lambda *_, chosen=name, **__: started.append(chosen))
    assert deploy.main(["--stage", "dev", "--preview", "yes"]) == 0
    assert deploy.main(["--stage", "dev", "--preview", "no"]) == 0
    with pytest.raises(SystemExit):
        deploy.main(["--stage", "dev", "--preview", "true"])
    assert started == ["preview", "deploy"]


def record_actions(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return a list to which the IAM actions of all later AWS requests are appended."""
    real: Any = BaseClient._make_api_call  # type: ignore[attr-defined]
    actions: list[str] = []

    def record(client: BaseClient, operation: str, arguments: dict[str, Any]) -> Any:
        service = client.meta.service_model.service_name
        method = client.meta.service_model.operation_model(operation).http["method"]
        actions.append(f"{service}:{method if service == 'apigateway' else operation}")
        return real(client, operation, arguments)

    monkeypatch.setattr(BaseClient, "_make_api_call", record)
    return actions


def is_traced() -> bool:
    gateway = boto3.client("apigateway")
    (api,) = gateway.get_rest_apis()["items"]
    return gateway.get_stage(restApiId=api["id"], stageName="test").get("tracingEnabled", False)


@pytest.mark.usefixtures("aws", "chalice_in_process")
def test_code_is_deployed_and_deleted_without_changing_data_stack(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    data_stack.deploy("test", alarm_email="team@example.org", firewall="no")
    assert deploy.deploy_code(STAGE) == deploy.deploy_code(STAGE)
    mappings = boto3.client("lambda").list_event_source_mappings()["EventSourceMappings"]
    assert len(mappings) == sum(1 for function in FUNCTIONS if function.queue)
    assert_stage_is_throttled()
    assert "is deleted" in deploy.delete_code(STAGE)
    assert boto3.client("lambda").list_functions()["Functions"] == []
    assert boto3.client("apigateway").get_rest_apis()["items"] == []
    assert data_stack.is_current("test")
    other = tmp_path / "data.yaml"
    other.write_text("Resources: {}")
    monkeypatch.setattr(data_stack, "TEMPLATE", other)
    with pytest.raises(DeploymentError, match=r"differs .* Run make deploy STAGE=test\."):
        deploy.deploy_code(STAGE)
    assert boto3.client("lambda").list_functions()["Functions"] == []


@pytest.mark.usefixtures("aws")
@pytest.mark.parametrize("action", [deploy.deploy_code, deploy.delete_code])
def test_code_of_stage_without_data_stack_is_rejected(action: Callable[[Stage], str]) -> None:
    with pytest.raises(DeploymentError, match="The stage test has no data stack"):
        action(STAGE)
    assert boto3.client("lambda").list_functions()["Functions"] == []


@pytest.mark.usefixtures("aws")
@pytest.mark.parametrize(
    "action",
    [lambda: deploy.deploy("test"), lambda: deploy.deploy_code(STAGE)],
)
def test_second_deployment_at_same_time_changes_nothing(
    action: Callable[[], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(manifest, "STAGES", (STAGE,))
    with deployment_lock("test"), pytest.raises(DeploymentError) as error:
        action()
    message = r"Another deployment of the stage test is running \(\S+@\S+, 20.*delete-parameter"
    assert re.match(message, str(error.value))
    assert boto3.client("cloudformation").describe_stacks()["Stacks"] == []


@pytest.mark.usefixtures("aws")
def test_lock_is_released_after_failure_and_belongs_to_one_stage() -> None:
    for _ in range(2):
        with pytest.raises(DeploymentError, match="no data stack"):
            deploy.deploy_code(STAGE)
    with deployment_lock("test"), deployment_lock("dev"):
        pass


def disable_event_sources() -> None:
    functions = boto3.client("lambda")
    for mapping in functions.list_event_source_mappings()["EventSourceMappings"]:
        functions.update_event_source_mapping(UUID=mapping["UUID"], Enabled=False)


def resource_types_of_record() -> set[str]:
    bucket = data_stack.outputs("test").deployment_bucket
    record = boto3.client("s3").get_object(Bucket=bucket, Key="test.json")["Body"].read()
    return {resource["resource_type"] for resource in json.loads(record)["resources"]}


def assert_stage_is_throttled() -> None:
    gateway = boto3.client("apigateway")
    (api,) = gateway.get_rest_apis()["items"]
    settings = gateway.get_stage(restApiId=api["id"], stageName="test")["methodSettings"]
    limits = {
        method: (setting["throttlingRateLimit"], setting["throttlingBurstLimit"])
        for method, setting in settings.items()
    }
    submits = {f"{path.replace('/', '~1')}/POST": (3.0, 4) for path in PUBLIC_SUBMITS}
    assert limits == {"*/*": (10.0, 20), **submits}


@pytest.mark.usefixtures("aws", "chalice_in_process")
def test_deployment_record_is_saved_when_chalice_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: str, folder: Path, **__: str) -> None:
        deployed = folder / ".chalice" / "deployed"
        deployed.mkdir()
        (deployed / "test.json").write_text('{"resources": []}')
        raise DeploymentError("chalice deploy failed")

    monkeypatch.setattr(code_package, "run_chalice", fail)
    with pytest.raises(DeploymentError, match="chalice deploy failed"):
        deploy.deploy("test")
    bucket = data_stack.outputs("test").deployment_bucket
    saved = boto3.client("s3").get_object(Bucket=bucket, Key="test.json")["Body"].read()
    assert json.loads(saved) == {"resources": []}


@pytest.mark.usefixtures("aws")
def test_deployment_record_is_saved_on_disk_if_bucket_cannot_be_written(tmp_path: Path) -> None:
    record = tmp_path / "deployed" / "dev.json"
    record.parent.mkdir()
    record.write_text("{}")
    fallback = tmp_path / "fallback"
    with pytest.raises(
        DeploymentError, match=r"Copy .*/dev\.json to s3://no-such-bucket/dev\.json"
    ):
        deploy.save_record("no-such-bucket", record, fallback)
    assert (fallback / "dev.json").read_text() == "{}"


@pytest.mark.parametrize("stage", [s for s in STAGES if s.is_emulated], ids=lambda s: s.name)
def test_emulated_stage_cannot_be_deployed_to_aws(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("AWS_ENDPOINT_URL", raising=False)
    with pytest.raises(DeploymentError, match="loopback"):
        deploy.require_loopback(stage)


@pytest.mark.parametrize(
    ("endpoint", "is_loopback"),
    [
        ("http://127.0.0.1:4566", True),
        ("http://[::1]:4566", True),
        ("http://localhost:4566", True),
        ("http://10.0.0.1:4566", False),
        ("http://127.0.0.1.example.org", False),
        ("https://localhost.example.org", False),
    ],
)
def test_emulated_stage_requires_loopback_endpoint(
    endpoint: str, is_loopback: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", endpoint)
    deploy.require_loopback(BY_NAME["dev"])
    if is_loopback:
        deploy.require_loopback(BY_NAME["test"])
    else:
        with pytest.raises(DeploymentError, match="loopback"):
            deploy.require_loopback(BY_NAME["test"])


def test_emulated_stage_cannot_be_deployed_if_one_endpoint_is_on_aws(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:4566")
    monkeypatch.setenv("AWS_ENDPOINT_URL_LAMBDA", "https://lambda.eu-west-1.amazonaws.com")
    with pytest.raises(DeploymentError, match="loopback"):
        deploy.require_loopback(BY_NAME["test"])


@pytest.mark.usefixtures("aws")
def test_stack_without_updates_is_unchanged(monkeypatch: pytest.MonkeyPatch) -> None:
    template = "{Resources: {Topic: {Type: 'AWS::SNS::Topic'}}}"
    stacks.deploy("small", "1", template=template)
    client = boto3.client("cloudformation")

    def update_stack(**_: Any) -> None:
        message = "No updates are to be performed."
        raise ClientError({"Error": {"Code": "ValidationError", "Message": message}}, "UpdateStack")

    monkeypatch.setattr(client, "update_stack", update_stack)
    monkeypatch.setattr(boto3, "client", lambda _: client)
    assert stacks.deploy("small", "1", template=template) == "unchanged"


@pytest.mark.parametrize("stage", STAGES, ids=lambda stage: stage.name)
def test_every_stage_on_aws_has_lower_rate_limit_for_submits(stage: Stage) -> None:
    limits = stage.throttling
    assert (limits is None) == stage.is_emulated
    if limits:
        assert limits.submit_rate * len(PUBLIC_SUBMITS) <= limits.rate
        assert limits.submit_burst < limits.burst or limits.submit_rate < limits.rate


def test_all_public_post_routes_except_unsubscribe_have_limits_of_submits() -> None:
    posts = {path for path, methods in app.app.routes.items() if "POST" in methods}
    public = {path for path in posts if path.startswith("/public/")}
    assert public == {*PUBLIC_SUBMITS, "/public/unsubscribe"}
