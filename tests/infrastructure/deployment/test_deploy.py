"""Tests that deploy a stage to moto, which neither transforms SAM nor imports REST APIs."""

import io
import json
import re
import zipfile
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import boto3
import pytest
from moto import mock_aws

import app
from infrastructure import functions as manifest
from infrastructure.deployment import (
    code_package,
    code_stack,
    data_stack,
    deploy,
    domain_stack,
    public_base_url,
    stacks,
)
from infrastructure.deployment.code_package import CodePackage
from infrastructure.deployment.lock import deployment_lock
from infrastructure.deployment.progress import DeploymentError
from infrastructure.functions import FUNCTIONS, PUBLIC_SUBMITS, STAGES, Stage
from tests.aws.requests import Request, responding
from tests.infrastructure.deployment.example_policies import forbidden
from tests.infrastructure.deployment.templates import package_template, transformed

BY_NAME = {stage.name: stage for stage in STAGES}
STAGE = replace(BY_NAME["dev"], name="test", python="3.12")


@pytest.fixture
def aws(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.delenv("AWS_ENDPOINT_URL", raising=False)
    monkeypatch.setattr(boto3, "client", cache(boto3.client))
    with mock_aws():
        yield


class App:
    """The app that a deployment packages. Moto gets only what it supports of the template."""

    def __init__(self, folder: Path, template: dict[str, Any]) -> None:
        self.template = template
        self._folder = folder
        self.change(b"first version")

    def change(self, code: bytes) -> None:
        """Replace the code."""
        content = io.BytesIO()
        with zipfile.ZipFile(content, "w") as opened:
            opened.writestr("app.py", code)
        self.archive = self._folder / "code.zip"
        self.archive.write_bytes(content.getvalue())

    def package(self, stage: str, _folder: Path, runtime: Any) -> CodePackage:
        return CodePackage(self.template, self.archive)

    def complete(self, *arguments: Any) -> dict[str, Any]:
        template = transformed(self._complete(*arguments))
        resources = {
            name: resource
            for name, resource in template["Resources"].items()
            if resource["Type"].split("::")[2] in ("Function", "Role", "EventSourceMapping")
        }
        api = {"Type": "AWS::ApiGateway::RestApi", "Properties": {"Name": "feedback"}}
        return template | {"Resources": resources | {"RestAPI": api}}

    _complete = staticmethod(code_stack.complete)


@pytest.fixture(scope="module")
def packaged(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    return package_template(tmp_path_factory.mktemp("package"), STAGE.name, STAGE.python)


@pytest.fixture
def code(packaged: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> App:
    code = App(tmp_path, packaged)
    monkeypatch.setattr(code_package, "package", code.package)
    monkeypatch.setattr(code_package, "source_hash", lambda _: code.archive.read_bytes().hex())
    monkeypatch.setattr(code_stack, "complete", code.complete)
    monkeypatch.setattr(manifest, "STAGES", (STAGE,))
    return code


# Moto does not keep the parameters of a stack that have their default values.
FIRST: dict[str, Any] = {
    "alarm_email": "team@example.org",
    "firewall": "no",
    "domain": "no",
    "boundary": "no",
}


def code_of(function: str) -> str:
    """Return the hash of the code of a deployed function."""
    deployed = boto3.client("lambda").get_function(FunctionName=function)["Configuration"]
    return str(deployed["CodeSha256"])


@pytest.mark.usefixtures("aws")
def test_repeated_deployment_updates_same_resources(
    code: App, capsys: pytest.CaptureFixture[str]
) -> None:
    first = deploy.deploy("test", **FIRST)
    before = code_of("feedback-test-sweep")
    assert deploy.deploy("test") == first
    assert "Code stack: unchanged" in capsys.readouterr().out
    code.change(b"second version")
    assert deploy.deploy("test") == first
    assert "Code stack: updated" in capsys.readouterr().out
    assert code_of("feedback-test-sweep") != before
    names = {f["FunctionName"] for f in boto3.client("lambda").list_functions()["Functions"]}
    assert names == {function.deployed_name("test") for function in FUNCTIONS}
    bucket = data_stack.outputs("test").deployment_bucket
    # The archive of the previous deployment is kept: CloudFormation reads it for a rollback.
    assert len(boto3.client("s3").list_objects_v2(Bucket=bucket)["Contents"]) == 2


@pytest.mark.usefixtures("aws")
def test_policy_of_deployer_allows_every_call(code: App, actions: list[str]) -> None:
    deploy.deploy("test", **FIRST)
    code.change(b"second version")
    deploy.deploy("test")
    deploy.delete_code(STAGE)
    assert len(set(actions)) > 8
    assert forbidden("deployer-policy.json", set(actions)) == []


@pytest.mark.usefixtures("aws", "code")
def test_domain_is_kept_until_it_is_removed(monkeypatch: pytest.MonkeyPatch) -> None:
    deleted: list[str] = []
    served = domain_stack.Progress("served", is_served=True)
    monkeypatch.setattr(domain_stack, "deploy", lambda *_, **__: served)
    monkeypatch.setattr(domain_stack, "delete", deleted.append)
    domain = "https://feedback.example.com"
    first = deploy.deploy("test", **FIRST | {"domain": "feedback.example.com"})
    assert first == f"Stage test: {domain}"
    assert deploy.deploy("test") == first
    assert public_base_url.load("test") == domain
    assert deleted == []
    assert "execute-api" in deploy.deploy("test", domain="no")
    assert "execute-api" in (public_base_url.load("test") or "")
    assert deleted == ["test"]


@pytest.mark.usefixtures("aws")
def test_code_stack_gets_role_of_data_stack_and_watches_alarm_unless_it_is_turned_off(
    code: App, monkeypatch: pytest.MonkeyPatch
) -> None:
    role = "arn:aws:iam::123456789012:role/feedback-test-cloudformation"
    alarm = "arn:aws:cloudwatch:eu-west-1:1:alarm:feedback-test-deployment"
    deployed: list[tuple[str | None, list[str]]] = []
    real, outputs = stacks.deploy, data_stack.outputs

    def record(name: str, *arguments: Any, **options: Any) -> str:
        if name.endswith("-code"):
            deployed.append((options["role"], list(options["alarms"])))
        else:
            assert options["role"] == role
        return real(name, *arguments, **options)

    monkeypatch.setattr(stacks, "deploy", record)
    monkeypatch.setattr(
        data_stack, "outputs", lambda stage: replace(outputs(stage), deployment_alarm=alarm)
    )
    deploy.deploy("test", **FIRST, role=role)
    code.change(b"second version")
    deploy.deploy("test", is_watched=False)
    code.change(b"third version")
    deploy.deploy_code(STAGE)
    assert deployed == [(role, [alarm]), (role, []), (role, [alarm])]


@pytest.mark.usefixtures("aws")
def test_settings_of_data_stack_change_template_of_code(
    code: App, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[tuple[bool, str]] = []

    def complete(packaged: Any, stage: Stage, options: Any) -> Any:
        seen.append((options.has_firewall, options.boundary))
        return code.complete(packaged, stage, options)

    monkeypatch.setattr(code_stack, "complete", complete)
    boundary = "arn:aws:iam::123456789012:policy/boundary"
    deploy.deploy("test", **FIRST)
    deploy.deploy("test", firewall="yes", boundary=boundary)
    deploy.deploy("test")
    deploy.deploy("test", firewall="no", boundary="no")
    assert seen == [(False, ""), (True, boundary), (False, "")]


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


@pytest.mark.usefixtures("aws")
def test_preview_lists_changes_and_changes_nothing(
    actions: list[str],
    code: App,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    new = preview(capsys)
    assert {"Create the stack feedback-test-data", "Create the stack feedback-test-code"} <= new
    assert boto3.client("cloudformation").describe_stacks()["Stacks"] == []

    deploy.deploy("test", **FIRST)
    assert preview(capsys, alarm_email="team@example.org") == set()

    template = tmp_path / "data.yaml"
    template.write_text(f"{data_stack.TEMPLATE.read_text()}\n  Added: {{Type: AWS::SNS::Topic}}\n")
    monkeypatch.setattr(data_stack, "TEMPLATE", template)
    code.change(b"second version")
    actions.clear()
    changed = preview(capsys, **FIRST | {"domain": "feedback.example.com"})
    assert changed >= {
        "Add Added (AWS::SNS::Topic)",
        "Domain: feedback.example.com (now: none)",
        "Modify APIHandler (AWS::Lambda::Function)",
    }
    assert {a for a in actions if not a.partition(":")[2].startswith(READS)} == PREVIEW_WRITES
    assert forbidden("deployer-policy.json", set(actions)) == []


@pytest.mark.usefixtures("aws")
def test_preview_lists_added_and_removed_routes(
    code: App, packaged: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    deployed = json.loads(json.dumps(packaged))
    paths = deployed["Resources"]["RestAPI"]["Properties"]["DefinitionBody"]["paths"]
    paths["/old"] = {"get": paths.pop("/docs")["get"]}
    monkeypatch.setattr(code_stack, "complete", lambda template, *_: template)
    monkeypatch.setattr(stacks, "changes", lambda *_, **__: ["Modify APIHandler"])
    monkeypatch.setattr(stacks, "template_of", lambda _: deployed)
    assert code_stack.changes(STAGE, data_stack.Outputs()) == [
        "Modify APIHandler",
        "Add ANY /docs",
        "Add GET /docs",
        "Remove GET /old",
        "Add HEAD /docs",
    ]


@pytest.mark.usefixtures("aws")
def test_preview_deletes_change_set_that_cloudformation_rejects(actions: list[str]) -> None:
    template = "{Resources: {Topic: {Type: 'AWS::SNS::Topic'}}}"
    stacks.deploy("small", "1", template=template)
    assert stacks.changes("small", template, {}) == []

    def fail(request: Request) -> Any:
        if request.operation == "DescribeChangeSet":
            return {"Status": "FAILED", "StatusReason": "Template error"}
        return request.send()

    with (
        responding(fail),
        pytest.raises(DeploymentError, match="rejected the stack small: Template error"),
    ):
        stacks.changes("small", template, {})
    assert actions.count("cloudformation:CreateChangeSet") == 2
    assert actions.count("cloudformation:DeleteChangeSet") == 2


def test_preview_and_watch_are_chosen_with_yes_or_no(monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[Any] = []
    monkeypatch.setattr(deploy, "preview", lambda *_, **__: started.append("preview"))
    monkeypatch.setattr(
        deploy, "deploy", lambda *_, is_watched, **__: started.append(("deploy", is_watched))
    )
    for options in (["--preview", "yes"], ["--preview", "no"], ["--watch", "no"]):
        assert deploy.main(["--stage", "dev", *options]) == 0
    with pytest.raises(SystemExit):
        deploy.main(["--stage", "dev", "--preview", "true"])
    assert started == ["preview", ("deploy", True), ("deploy", False)]


@pytest.fixture
def actions() -> Iterator[list[str]]:
    """Return a list to which the IAM actions of all AWS requests are appended."""
    actions: list[str] = []

    def record(request: Request) -> Any:
        model = request.client.meta.service_model.operation_model(request.operation)
        is_method = request.service == "apigateway"
        action = model.http["method"] if is_method else request.operation
        actions.append(f"{request.service}:{action}")
        return request.send()

    with responding(record):
        yield actions


@pytest.mark.usefixtures("aws", "code")
def test_code_is_deployed_and_deleted_without_changing_data_stack(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    data_stack.deploy("test", **FIRST)
    assert deploy.deploy_code(STAGE) == deploy.deploy_code(STAGE)
    mappings = boto3.client("lambda").list_event_source_mappings()["EventSourceMappings"]
    assert len(mappings) == sum(1 for function in FUNCTIONS if function.queue)
    assert public_base_url.load("test")
    assert "is deleted" in deploy.delete_code(STAGE)
    assert boto3.client("lambda").list_functions()["Functions"] == []
    assert public_base_url.load("test") is None
    assert data_stack.is_current("test")
    other = tmp_path / "data.yaml"
    other.write_text("Resources: {}")
    monkeypatch.setattr(data_stack, "TEMPLATE", other)
    with pytest.raises(DeploymentError, match=r"differs .* Run make deploy STAGE=test\."):
        deploy.deploy_code(STAGE)
    assert boto3.client("lambda").list_functions()["Functions"] == []


@pytest.mark.usefixtures("aws")
@pytest.mark.parametrize(
    ("action", "message"),
    [
        (deploy.deploy_code, "The stage test has no data stack"),
        (deploy.delete_code, "No code of the stage test is deployed"),
    ],
)
def test_code_of_stage_without_stacks_is_rejected(
    action: Callable[[Stage], str], message: str
) -> None:
    with pytest.raises(DeploymentError, match=message):
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


@pytest.mark.parametrize(
    ("variables", "is_loopback"),
    [
        ({"": "http://127.0.0.1:4566"}, True),
        ({"": "http://[::1]:4566"}, True),
        ({"": "http://localhost:4566"}, True),
        ({}, False),
        ({"": "http://10.0.0.1:4566"}, False),
        ({"": "http://127.0.0.1.example.org"}, False),
        ({"": "https://localhost.example.org"}, False),
        ({"": "http://127.0.0.1:1", "_LAMBDA": "https://lambda.eu-west-1.amazonaws.com"}, False),
    ],
)
def test_emulated_stage_is_deployed_only_to_loopback_address(
    variables: dict[str, str], is_loopback: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("AWS_ENDPOINT_URL", raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(f"AWS_ENDPOINT_URL{name}", value)
    deploy.require_loopback(BY_NAME["dev"])
    for stage in (BY_NAME["test"], BY_NAME["local"]):
        with nullcontext() if is_loopback else pytest.raises(DeploymentError, match="loopback"):
            deploy.require_loopback(stage)


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
