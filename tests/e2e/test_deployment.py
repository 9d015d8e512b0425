"""Deploy the stage ``dev`` beside the stage of the local cloud, with the commands of an operator.

The stage is deployed once and deleted at the end. The tests run in any order.
"""

import json
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import httpx
import pytest

from infrastructure.deployment.code_package import PROJECT
from infrastructure.functions import FUNCTIONS, PUBLIC_SUBMITS, stage_named
from infrastructure.tables import table_resources
from tests.docs.aws_commands import run_aws_commands
from tests.docs.blocks import block
from tests.e2e.admin import admin
from tests.e2e.cloud import Cloud
from tests.e2e.test_first_day import run
from tests.waiting import wait_until

STAGE = stage_named("dev")
DATA, CODE = f"feedback-{STAGE.name}-data", f"feedback-{STAGE.name}-code"
PREFIX = f"feedback-{STAGE.name}"
GUIDE = "docs/first-deployment.md"
ACCOUNT, EMULATED_ACCOUNT = "111122223333", "000000000000"


@dataclass(frozen=True)
class Clone:
    """A copy of the project that a test changes.

    Attributes:
        folder: the folder of the copy. It uses the environments of this project.
        endpoint: the URL of the local cloud.
    """

    folder: Path
    endpoint: str

    def run(self, *command: str, **options: Any) -> subprocess.CompletedProcess[str]:
        """Run a command that gets only the URL of the local cloud, and no AWS credentials."""
        environment = {k: v for k, v in os.environ.items() if not k.startswith("AWS_")}
        return subprocess.run(
            command,
            cwd=self.folder,
            env=environment | {"AWS_ENDPOINT_URL": self.endpoint},
            capture_output=True,
            text=True,
            **options,
        )

    def deploy(self, *options: str) -> str:
        """Deploy the stage. Return the output."""
        result = self.run("make", "deploy", f"STAGE={STAGE.name}", *options)
        assert result.returncode == 0, result.stdout + result.stderr
        return result.stdout

    def edit(self, file: str, old: str, new: str) -> None:
        """Replace a text that the file contains."""
        path = self.folder / file
        content = path.read_text()
        assert old in content
        path.write_text(content.replace(old, new))


@pytest.fixture(scope="module")
def clone(cloud: Cloud, tmp_path_factory: pytest.TempPathFactory) -> Clone:
    folder = tmp_path_factory.mktemp("clone") / "project"
    ignored = shutil.ignore_patterns(
        ".git", ".venv", ".tools", ".local", ".build", "__pycache__", ".*_cache", "*.png", "*.jpg"
    )
    shutil.copytree(PROJECT, folder, ignore=ignored, symlinks=True)
    for environment in (".venv", ".tools"):
        (folder / environment).symlink_to(PROJECT / environment)
    return Clone(folder, cloud.endpoint)


@pytest.fixture(scope="module")
def output(clone: Clone, cloud: Cloud) -> Iterator[str]:
    """Deploy the stage as the guide says and return the output. Finally, delete it."""
    permissions = clone.run("bash", "-ec", block(GUIDE, "sed").text)
    assert permissions.returncode == 0, permissions.stderr
    text = block(GUIDE, "aws iam").text.replace("file://", f"file://{clone.folder}/")
    run_aws_commands(text.replace(ACCOUNT, EMULATED_ACCOUNT), cloud.client("iam"))
    text = block(GUIDE, "STAGE=dev ALARM_EMAIL").text.replace(ACCOUNT, EMULATED_ACCOUNT)
    deployed = clone.run("bash", "-ec", text.replace("STAGE=dev", "STAGE=dev FIREWALL=yes"))
    assert deployed.returncode == 0, deployed.stderr
    yield deployed.stdout
    delete_stage(clone, cloud)


@pytest.fixture(scope="module")
def dev(cloud: Cloud, output: str) -> Iterator[Cloud]:
    """Return the deployed stage."""
    (url,) = re.findall(rf"^Stage {STAGE.name}: (http\S+)$", output, re.MULTILINE)
    dev = replace(cloud, demo={"baseUrl": url}, stage=STAGE.name)
    yield dev
    dev.http.close()


def stack_state(cloud: Cloud, name: str) -> str:
    stack = cloud.client("cloudformation").describe_stacks(StackName=name)["Stacks"][0]
    return str(stack["StackStatus"])


def test_deployed_stage_serves_routes_with_names_of_manifest(dev: Cloud) -> None:
    assert dev.http.get("/openapi.json").status_code == 200
    functions = {
        f["FunctionName"]: f
        for f in dev.client("lambda").list_functions()["Functions"]
        if f["FunctionName"].startswith(PREFIX)
    }
    assert functions.keys() == {function.deployed_name(STAGE.name) for function in FUNCTIONS}
    assert len({function["Role"] for function in functions.values()}) == len(FUNCTIONS)
    for function in functions.values():
        assert function["Environment"]["Variables"]["STAGE"] == STAGE.name


def test_gateway_has_responses_limits_and_firewall_of_template(dev: Cloud) -> None:
    response = dev.http.get("/unknown")
    assert response.status_code == 404
    assert response.headers["Content-Type"] == "application/problem+json"
    rest_api = dev.base_url.split("/")[4]
    gateway = dev.client("apigateway")
    (stage,) = gateway.get_stages(restApiId=rest_api)["item"]
    assert stage["stageName"] == STAGE.name
    limits = {
        method.replace("~1", "/").strip("/"): setting["throttlingRateLimit"]
        for method, setting in stage["methodSettings"].items()
    }
    assert STAGE.throttling
    submits = {f"{p.strip('/')}/POST": STAGE.throttling.submit_rate for p in PUBLIC_SUBMITS}
    assert limits == {"*/*": STAGE.throttling.rate, **submits}
    firewall = dev.client("wafv2")
    (acl,) = firewall.list_web_acls(Scope="REGIONAL")["WebACLs"]
    (arn,) = firewall.list_resources_for_web_acl(WebACLArn=acl["ARN"], ResourceType="API_GATEWAY")[
        "ResourceArns"
    ]
    assert arn.endswith(f"/restapis/{rest_api}/stages/{STAGE.name}")


def test_event_sources_are_enabled_with_partial_batch_responses(dev: Cloud) -> None:
    mappings = dev.client("lambda").list_event_source_mappings()["EventSourceMappings"]
    of_stage = [m for m in mappings if f":{PREFIX}-" in m["EventSourceArn"]]
    assert len(of_stage) == sum(1 for function in FUNCTIONS if function.queue)
    for mapping in of_stage:
        assert mapping["State"] == "Enabled"
        assert mapping["FunctionResponseTypes"] == ["ReportBatchItemFailures"]
        assert f":function:{PREFIX}-" in mapping["FunctionArn"]


def test_alarms_on_queries_and_log_groups_exist(dev: Cloud) -> None:
    alarms = dev.client("cloudwatch").describe_alarms(AlarmNamePrefix=f"{PREFIX}-table-")
    assert {alarm["AlarmName"] for alarm in alarms["MetricAlarms"]} == {
        f"{PREFIX}-table-errors",
        f"{PREFIX}-table-throttles",
    }
    groups = dev.client("logs").describe_log_groups(logGroupNamePrefix=f"/aws/lambda/{PREFIX}")
    expiries = {group["logGroupName"]: group["retentionInDays"] for group in groups["logGroups"]}
    names = {function.deployed_name(STAGE.name) for function in FUNCTIONS}
    assert expiries == {f"/aws/lambda/{name}": 30 for name in names}


def test_survey_page_accepts_feedback_that_queue_processes(dev: Cloud, tmp_path: Path) -> None:
    account = admin(dev, "account", "create", "Second stage")
    ids = {"ACCOUNT": account}
    run(dev, tmp_path, "definition new store ACCOUNT", ids)
    ids["FIRST_SURVEY"] = re.findall(
        r"^id: (\S+)$", (tmp_path / "first-survey.yaml").read_text(), re.MULTILINE
    )[0]
    shown = run(dev, tmp_path, "survey enable FIRST_SURVEY", ids)
    (link,) = [line for line in shown.splitlines() if line.startswith(dev.base_url)]
    page = dev.http.get(link, follow_redirects=True)
    assert page.status_code == 200
    assert "text/html" in page.headers["Content-Type"]
    view = dev.http.get("/public/survey", params={"survey": ids["FIRST_SURVEY"]}).json()
    values = {"NPS": "9", "LONG_TEXT": "Lovely evening.", "TEXT": "Lovely evening."}
    answers = [
        {"id": field["id"], "values": [values[field["type"]]]}
        for field in view["fields"]
        if field["type"] in values
    ]
    parts = {"id": ids["FIRST_SURVEY"], "fields": json.dumps(answers)}
    response = dev.http.post(
        "/public/survey/submit", files={name: (None, value) for name, value in parts.items()}
    )
    assert response.status_code == 201, response.text
    wait_until(
        lambda: json.loads(admin(dev, "account", "stats", account, "--json"))["feedback"] == 1
    )


def test_chalice_commands_find_deployed_code(clone: Clone, dev: Cloud) -> None:
    options = ("--stage", STAGE.name)
    url = clone.run("bin/chalice", "url", *options)
    assert url.stdout.strip() == dev.base_url, url.stderr
    event = json.dumps({"time": "2026-11-20T10:00:00Z", "version": "0", "account": "1"})
    names = ("region", "detail", "detail-type", "source", "id", "resources")
    event = json.dumps({**json.loads(event), **dict.fromkeys(names, "")})
    invoked = clone.run("bin/chalice", "invoke", "-n", "sweep", *options, input=event)
    assert invoked.returncode == 0, invoked.stderr
    logs = clone.run("bin/chalice", "logs", "-n", "sweep", *options)
    assert "overdue work requeued" in logs.stdout, logs.stderr


def test_second_deployment_changes_nothing(clone: Clone, dev: Cloud) -> None:
    output = clone.deploy()
    assert output.count("unchanged") == 2
    assert f"Stage {STAGE.name}: {dev.base_url}\n" in output
    deployed = clone.run("bin/chalice", "deploy", "--stage", STAGE.name)
    assert "Code stack: unchanged" in deployed.stdout, deployed.stderr


ROUTES = "chalicelib/web/openapi/routes.py"


def test_changed_view_is_deployed_and_failed_deployment_is_rolled_back(
    clone: Clone, dev: Cloud
) -> None:
    clone.edit(ROUTES, '"/docs"', '"/guide"')
    responses = "infrastructure/deployment/gateway_responses.py"
    clone.edit(responses, '"There is no such path."', '"Nothing is here."')
    preview = clone.deploy("PREVIEW=yes")
    for line in ("Add GET /guide", "Remove GET /docs", "Modify APIHandler (AWS::Lambda::Function)"):
        assert f"  {line}\n" in preview
    assert dev.http.get("/docs").status_code == 200

    output = clone.deploy()
    assert "Code stack: updated" in output
    assert f"Stage {STAGE.name}: {dev.base_url}\n" in output
    assert dev.http.get("/guide").status_code == 200
    missing = dev.http.get("/docs")
    assert (missing.status_code, missing.json()["detail"]) == (404, "Nothing is here.")

    # The archive of the functions is missing.
    clone.edit(ROUTES, '"/guide"', '"/broken"')
    clone.edit("infrastructure/deployment/code_stack.py", "s3.put_object(", "dict(")
    result = clone.run("make", "deploy", f"STAGE={STAGE.name}")
    assert result.returncode != 0
    assert f"The stack {CODE} failed: " in result.stderr
    assert "Failed to fetch code from s3://" in result.stderr
    assert "CloudFormation has restored the previous state of the stack." in result.stderr
    assert stack_state(dev, CODE) == "UPDATE_ROLLBACK_COMPLETE"
    assert dev.http.get("/guide").status_code == 200
    assert dev.http.get("/broken").status_code == 404

    clone.edit("infrastructure/deployment/code_stack.py", "dict(Bucket=", "s3.put_object(Bucket=")
    assert "Code stack: updated" in clone.deploy()
    assert dev.http.get("/broken").status_code == 200


def test_stopped_stage_is_not_deployed(clone: Clone, dev: Cloud) -> None:
    functions = dev.client("lambda")
    name = f"{PREFIX}-sweep"
    dev.client("ssm").put_parameter(
        Name=f"{PREFIX}-deployment", Value="stopped by operator@host, now", Type="String"
    )
    result = clone.run("make", "deploy", f"STAGE={STAGE.name}")
    assert result.returncode != 0
    assert "is stopped by operator@host, now. Start it with stage start." in result.stderr
    functions.put_function_concurrency(FunctionName=name, ReservedConcurrentExecutions=0)
    admin(dev, "stage", "start")
    assert "ReservedConcurrentExecutions" not in functions.get_function_concurrency(
        FunctionName=name
    )
    assert "Code stack: unchanged" in clone.deploy()


def test_doctor_finds_no_problem_in_deployed_stage(clone: Clone, dev: Cloud) -> None:
    command = block(GUIDE, "stage dev doctor").text
    result = subprocess.run(
        ["bash", "-ec", command],
        cwd=clone.folder,
        env=dev.environment(),
        capture_output=True,
        text=True,
    )
    assert result.returncode == 0, result.stdout + result.stderr
    assert " 0 problems." in result.stdout


def test_deployment_of_stage_does_not_affect_stage_of_local_cloud(cloud: Cloud, dev: Cloud) -> None:
    assert cloud.http.get("/openapi.json").status_code == 200
    assert httpx.get(f"{cloud.base_url}/guide", trust_env=False).status_code == 404


def delete_stage(clone: Clone, cloud: Cloud) -> None:
    """Delete the stage. Check that only what is retained is left, and delete this too."""
    result = clone.run("bin/chalice", "delete", "--stage", STAGE.name)
    assert result.returncode == 0, result.stderr
    assert stack_state(cloud, DATA).endswith("_COMPLETE")
    cloud.client("cloudformation").delete_stack(StackName=DATA)
    delete_role(cloud)
    wait_until(lambda: not [name for name in stacks(cloud) if name.startswith(PREFIX)])
    assert remaining(cloud) == {
        *(f"table {PREFIX}-{name}" for name in table_resources()),
        *(f"queue {PREFIX}-{name}" for name in queue_names()),
        f"secret {PREFIX}-stage-secret",
        "bucket",
    }
    delete_retained(cloud)


def stacks(cloud: Cloud) -> list[str]:
    listed = cloud.client("cloudformation").list_stacks()["StackSummaries"]
    return [s["StackName"] for s in listed if s["StackStatus"] != "DELETE_COMPLETE"]


def queue_names() -> set[str]:
    queues = [function.queue for function in FUNCTIONS if function.queue]
    return {name for queue in queues for name in (queue.name, queue.dead_letter_name)}


def tables(cloud: Cloud) -> list[str]:
    pages = cloud.client("dynamodb").get_paginator("list_tables").paginate()
    return [name for page in pages for name in page["TableNames"] if name.startswith(PREFIX)]


def buckets(cloud: Cloud) -> list[str]:
    return [
        bucket["Name"]
        for bucket in cloud.client("s3").list_buckets()["Buckets"]
        if bucket["Name"].startswith(DATA)
    ]


def queue_urls(cloud: Cloud) -> list[str]:
    return list(cloud.client("sqs").list_queues(QueueNamePrefix=PREFIX).get("QueueUrls", []))


def remaining(cloud: Cloud) -> set[str]:
    """Return the names of the resources of the stage."""
    listed = {
        "function": ("lambda", "list_functions", "Functions", "FunctionName"),
        "source": ("lambda", "list_event_source_mappings", "EventSourceMappings", "FunctionArn"),
        "role": ("iam", "list_roles", "Roles", "RoleName"),
        "rule": ("events", "list_rules", "Rules", "Name"),
        "alarm": ("cloudwatch", "describe_alarms", "MetricAlarms", "AlarmName"),
        "logs": ("logs", "describe_log_groups", "logGroups", "logGroupName"),
        "topic": ("sns", "list_topics", "Topics", "TopicArn"),
        "parameter": ("ssm", "describe_parameters", "Parameters", "Name"),
        "secret": ("secretsmanager", "list_secrets", "SecretList", "Name"),
        "acl": ("wafv2", "list_web_acls", "WebACLs", "Name"),
    }
    found = {
        f"{kind} {item[name]}"
        for kind, (service, operation, items, name) in listed.items()
        for item in everything(cloud.client(service), operation, items)
        if PREFIX in item[name]
    }
    gateway = cloud.client("apigateway")
    for api in gateway.get_rest_apis()["items"]:
        names = {stage["stageName"] for stage in gateway.get_stages(restApiId=api["id"])["item"]}
        found |= {f"api {api['id']}"} if STAGE.name in names else set()
    found |= {f"table {name}" for name in tables(cloud)}
    found |= {f"queue {url.rpartition('/')[2]}" for url in queue_urls(cloud)}
    return found | {"bucket" for _ in buckets(cloud)}


def everything(client: Any, operation: str, items: str) -> Iterator[dict[str, Any]]:
    arguments = {"Scope": "REGIONAL"} if operation == "list_web_acls" else {}
    if not client.can_paginate(operation):
        yield from getattr(client, operation)(**arguments)[items]
        return
    for page in client.get_paginator(operation).paginate(**arguments):
        yield from page[items]


def delete_role(cloud: Cloud) -> None:
    """Delete the role and the policies that the guide creates."""
    iam, policy = cloud.client("iam"), f"arn:aws:iam::{EMULATED_ACCOUNT}:policy/{PREFIX}"
    name = f"{PREFIX}-cloudformation"
    iam.detach_role_policy(RoleName=name, PolicyArn=f"{policy}-cloudformation")
    iam.delete_role(RoleName=name)
    for suffix in ("cloudformation", "deployer"):
        iam.delete_policy(PolicyArn=f"{policy}-{suffix}")


def delete_retained(cloud: Cloud) -> None:
    for table in tables(cloud):
        cloud.client("dynamodb").delete_table(TableName=table)
    for url in queue_urls(cloud):
        cloud.client("sqs").delete_queue(QueueUrl=url)
    secrets, s3 = cloud.client("secretsmanager"), cloud.client("s3")
    secrets.delete_secret(SecretId=f"{PREFIX}-stage-secret", ForceDeleteWithoutRecovery=True)
    for bucket in buckets(cloud):
        for item in s3.list_objects_v2(Bucket=bucket).get("Contents", []):
            s3.delete_object(Bucket=bucket, Key=item["Key"])
        s3.delete_bucket(Bucket=bucket)
