"""Tests of the properties that every table, queue and alarm of the data stack must have."""

import json
import re
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

import boto3
import pytest
from moto import mock_aws

from infrastructure.deployment import data_stack, stacks
from infrastructure.deployment.progress import DeploymentError
from infrastructure.functions import FUNCTIONS

FOURTEEN_DAYS_S = 14 * 24 * 3600
RUNBOOK = Path(__file__).parents[2] / "docs" / "runbook.md"
TEMPLATE: dict[str, Any] = json.loads(data_stack.template_body())
RESOURCES: dict[str, dict[str, Any]] = TEMPLATE["Resources"]


def of_type(kind: str) -> dict[str, dict[str, Any]]:
    return {name: r for name, r in RESOURCES.items() if r["Type"] == kind}


TABLES = of_type("AWS::DynamoDB::Table")
QUEUES = of_type("AWS::SQS::Queue")
ALARMS = of_type("AWS::CloudWatch::Alarm")
DEAD = {
    q["Properties"]["RedrivePolicy"]["deadLetterTargetArn"]["Fn::GetAtt"][0]
    for q in QUEUES.values()
    if "RedrivePolicy" in q["Properties"]
}


def is_fifo(queue: str) -> bool:
    properties = QUEUES[queue]["Properties"]
    assert properties.get("FifoQueue", False) == properties["QueueName"]["Fn::Sub"].endswith(
        ".fifo"
    )
    return bool(properties.get("FifoQueue", False))


def test_every_table_is_billed_on_demand_encrypted_recoverable_and_retained() -> None:
    for table in TABLES.values():
        properties = table["Properties"]
        assert properties["BillingMode"] == "PAY_PER_REQUEST"
        assert properties["SSESpecification"]["SSEEnabled"] is True
        recovery = properties["PointInTimeRecoverySpecification"]
        assert recovery == {"PointInTimeRecoveryEnabled": True}
        assert table["DeletionPolicy"] == "RetainExceptOnCreate"
        assert table["UpdateReplacePolicy"] == "Retain"


def test_table_and_queue_names_contain_stage() -> None:
    for resource in (*TABLES.values(), *QUEUES.values()):
        properties = resource["Properties"]
        name = properties.get("TableName") or properties["QueueName"]
        assert name["Fn::Sub"].startswith("feedback-${Stage}-")


def test_every_queue_retains_messages_for_14_days() -> None:
    assert {q["Properties"]["MessageRetentionPeriod"] for q in QUEUES.values()} == {FOURTEEN_DAYS_S}


def test_every_queue_has_dead_letter_queue_of_same_type() -> None:
    for queue in set(QUEUES) - DEAD:
        redrive = QUEUES[queue]["Properties"]["RedrivePolicy"]
        dead = redrive["deadLetterTargetArn"]["Fn::GetAtt"][0]
        assert is_fifo(queue) == is_fifo(dead)
        # A worker parks a record after eight failures, so the queue must deliver a message more
        # than eight times before it moves the message to the dead-letter queue.
        assert redrive["maxReceiveCount"] > 8


@pytest.mark.parametrize(
    ("metric", "queues"),
    [
        ("ApproximateNumberOfMessagesVisible", DEAD),
        ("ApproximateAgeOfOldestMessage", set(QUEUES) - DEAD),
    ],
)
def test_every_queue_has_alarm(metric: str, queues: set[str]) -> None:
    assert queues <= {
        alarm["Properties"]["Dimensions"][0]["Value"]["Fn::GetAtt"][0]
        for alarm in ALARMS.values()
        if alarm["Properties"].get("MetricName") == metric
    }


def test_every_alarm_notifies_alarm_topic() -> None:
    actions = [alarm["Properties"]["AlarmActions"] for alarm in ALARMS.values()]
    assert actions == [[{"Ref": "AlarmTopic"}]] * len(ALARMS)


def test_runbook_lists_each_alarm_with_its_section() -> None:
    rows = re.findall(r"^\| `([\w*-]+)` \|.*\]\(([\w.]*#[\w-]+)\) \|$", RUNBOOK.read_text(), re.M)
    for alarm in (ALARMS | of_type("AWS::CloudWatch::CompositeAlarm")).values():
        name = alarm["Properties"]["AlarmName"]["Fn::Sub"].removeprefix("feedback-${Stage}-")
        section = next((link for pattern, link in rows if fnmatch(name, pattern)), "missing")
        page = "docs/runbook.md" if section.startswith("#") else "docs/"
        assert alarm["Properties"]["AlarmDescription"].endswith(f"Runbook: {page}{section}"), name


def test_tables_with_secrets_are_encrypted_with_kms_key_of_stage() -> None:
    for table in ("WebhookSecretsTable", "WorkflowsTable"):
        assert TABLES[table]["Properties"]["SSESpecification"] == {
            "SSEEnabled": True,
            "SSEType": "KMS",
            "KMSMasterKeyId": {"Fn::GetAtt": ["SecretsKey", "Arn"]},
        }


def test_kms_key_is_retained_and_usable_only_through_dynamodb() -> None:
    key = RESOURCES["SecretsKey"]
    assert key["UpdateReplacePolicy"] == "Retain"
    assert key["DeletionPolicy"] == "RetainExceptOnCreate"
    assert key["Properties"]["EnableKeyRotation"] is True
    _, use = key["Properties"]["KeyPolicy"]["Statement"]
    assert use["Condition"]["StringEquals"] == {
        "kms:CallerAccount": {"Ref": "AWS::AccountId"},
        "kms:ViaService": {"Fn::Sub": "dynamodb.${AWS::Region}.amazonaws.com"},
    }


def test_webhook_secrets_table_deletes_expired_secrets() -> None:
    assert TABLES["WebhookSecretsTable"]["Properties"]["TimeToLiveSpecification"] == {
        "AttributeName": "expires_at",
        "Enabled": True,
    }


def test_deployment_bucket_is_private_and_retained_with_all_archives() -> None:
    bucket = RESOURCES["DeploymentBucket"]
    assert bucket["DeletionPolicy"] == "RetainExceptOnCreate"
    # A rollback reads the archive of the previous deployment again.
    assert "LifecycleConfiguration" not in bucket["Properties"]
    assert set(bucket["Properties"]["PublicAccessBlockConfiguration"].values()) == {True}


def test_dashboard_shows_metrics_of_stage() -> None:
    body = RESOURCES["Dashboard"]["Properties"]["DashboardBody"]["Fn::Sub"]
    widgets = json.loads(body)["widgets"]
    names = {metric[1] for widget in widgets for metric in widget["properties"]["metrics"]}
    assert names >= {"Count", "5XXError", "Throttles", "Latency", "delivered", "failed", "parked"}
    assert set(re.findall(r"\$\{(.+?)\}", body)) == {"Stage", "AWS::Region"}
    queues = {queue["Properties"]["QueueName"]["Fn::Sub"] for queue in QUEUES.values()}
    shown = {
        metric[3]
        for w in widgets
        for metric in w["properties"]["metrics"]
        if metric[0] == "AWS/SQS"
    }
    assert shown == queues
    (conflicts,) = [
        widget["properties"]["metrics"]
        for widget in widgets
        if widget["properties"]["title"] == "Transaction conflicts"
    ]
    named = {metric[3].removeprefix("feedback-${Stage}-") for metric in conflicts}
    written = {"customers", "customer-pairs", "counters", "contact-forms", "surveys", "imports"}
    assert {metric[1] for metric in conflicts} == {"TransactionConflict"}
    assert written < named


@pytest.fixture
def aws(monkeypatch: pytest.MonkeyPatch) -> Any:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "test")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "eu-west-1")
    monkeypatch.delenv("AWS_ENDPOINT_URL", raising=False)
    with mock_aws():
        yield


@pytest.mark.usefixtures("aws")
def test_second_deployment_of_data_stack_changes_nothing() -> None:
    assert data_stack.deploy("test") == "created"
    tables = boto3.client("dynamodb").list_tables()["TableNames"]
    assert len(tables) == len(TABLES)
    assert {name.startswith("feedback-test-") for name in tables} == {True}
    assert data_stack.deploy("test") == "unchanged"


@pytest.mark.usefixtures("aws")
@pytest.mark.parametrize("region", ["eu-west-1", "us-east-1"])
def test_template_over_cloudformation_size_limit_is_uploaded_to_bucket(
    region: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_DEFAULT_REGION", region)
    monkeypatch.setenv("AWS_REGION", region)
    template = "{Resources: {Topic: {Type: 'AWS::SNS::Topic', Properties: {TopicName: %s}}}}"
    monkeypatch.setattr(stacks, "MAX_INLINE_BYTES", len(template) - 2)
    assert stacks.deploy("large", "1", template=template % "one") == "created"
    assert stacks.deploy("large", "2", template=template % "two") == "updated"
    topics = boto3.client("sns").list_topics()["Topics"]
    assert [topic["TopicArn"].rpartition(":")[2] for topic in topics] == ["two"]


@pytest.mark.usefixtures("aws")
def test_stack_rejected_by_cloudformation_raises_error() -> None:
    template = data_stack.TEMPLATE.read_text()
    with pytest.raises(DeploymentError, match=r"CloudFormation rejected the stack small: .*Stage"):
        stacks.deploy("small", "1", template=template)


def test_alarms_watch_failed_webhooks_failed_surveys_and_deferred_surveys() -> None:
    watched = {
        (alarm["Properties"]["MetricName"], dimension["Value"])
        for alarm in ALARMS.values()
        for dimension in alarm["Properties"].get("Dimensions", ())
        if dimension["Name"] == "work"
    }
    assert watched >= {
        ("failed", "webhook"),
        ("failed", "solicitation"),
        ("deferred", "solicitation"),
    }


def test_deployment_in_production_watches_errors_of_gateway_and_functions() -> None:
    alarm = RESOURCES["DeploymentAlarm"]
    assert alarm["Condition"] == "IsProduction"
    watched = re.findall(r'ALARM\("\$\{(\w+)\}"\)', alarm["Properties"]["AlarmRule"]["Fn::Sub"])
    metrics = {
        name: (properties["Namespace"], properties["MetricName"])
        for name in watched
        if (properties := RESOURCES[name]["Properties"])
    }
    assert metrics.pop("GatewayErrorsAlarm") == ("AWS/ApiGateway", "5XXError")
    assert len(metrics) == len(FUNCTIONS)
    assert set(metrics.values()) == {("AWS/Lambda", "Errors")}
    output = TEMPLATE["Outputs"]["DeploymentAlarmArn"]
    assert output["Value"] == {"Fn::GetAtt": ["DeploymentAlarm", "Arn"]}
