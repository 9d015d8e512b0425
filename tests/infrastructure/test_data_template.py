"""Properties that every table, queue and alarm of the data stack must have."""

from typing import Any

import boto3
import pytest
from cfnlint.decode import cfn_yaml
from moto import mock_aws

from infrastructure.deployment import data_stack, stacks
from infrastructure.deployment.progress import DeploymentError

FOURTEEN_DAYS_S = 14 * 24 * 3600
RESOURCES: dict[str, dict[str, Any]] = cfn_yaml.load(str(data_stack.TEMPLATE))["Resources"]


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


@pytest.mark.parametrize("table", TABLES)
def test_table_is_on_demand_encrypted_and_recoverable(table: str) -> None:
    properties = TABLES[table]["Properties"]
    assert properties["BillingMode"] == "PAY_PER_REQUEST"
    assert properties["SSESpecification"]["SSEEnabled"] is True
    assert properties["PointInTimeRecoverySpecification"] == {"PointInTimeRecoveryEnabled": True}


@pytest.mark.parametrize("table", TABLES)
def test_table_is_retained_after_stack_deletion(table: str) -> None:
    assert TABLES[table]["DeletionPolicy"] == "RetainExceptOnCreate"
    assert TABLES[table]["UpdateReplacePolicy"] == "Retain"


@pytest.mark.parametrize("resource", [*TABLES, *QUEUES])
def test_table_and_queue_names_contain_stage(resource: str) -> None:
    properties = RESOURCES[resource]["Properties"]
    name = properties.get("TableName") or properties["QueueName"]
    assert name["Fn::Sub"].startswith("feedback-${Stage}-")


@pytest.mark.parametrize("queue", QUEUES)
def test_queue_retains_messages_for_14_days(queue: str) -> None:
    assert QUEUES[queue]["Properties"]["MessageRetentionPeriod"] == FOURTEEN_DAYS_S


@pytest.mark.parametrize("queue", sorted(set(QUEUES) - DEAD))
def test_queue_has_dead_letter_queue_of_same_type(queue: str) -> None:
    redrive = QUEUES[queue]["Properties"]["RedrivePolicy"]
    dead = redrive["deadLetterTargetArn"]["Fn::GetAtt"][0]
    assert is_fifo(queue) == is_fifo(dead)
    # A worker parks a record after eight failures, so the queue must deliver a message more than
    # eight times before it moves the message to the dead-letter queue.
    assert redrive["maxReceiveCount"] > 8


@pytest.mark.parametrize(
    ("queue", "metric"),
    [(q, "ApproximateNumberOfMessagesVisible") for q in sorted(DEAD)]
    + [(q, "ApproximateAgeOfOldestMessage") for q in sorted(set(QUEUES) - DEAD)],
)
def test_every_queue_has_alarm(queue: str, metric: str) -> None:
    watched = [
        (alarm["Properties"]["Dimensions"][0]["Value"]["Fn::GetAtt"][0])
        for alarm in ALARMS.values()
        if alarm["Properties"].get("MetricName") == metric
    ]
    assert queue in watched


@pytest.mark.parametrize("alarm", ALARMS)
def test_every_alarm_notifies_alarm_topic(alarm: str) -> None:
    assert ALARMS[alarm]["Properties"]["AlarmActions"] == [{"Ref": "AlarmTopic"}]


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
def test_stack_is_updated_when_its_content_changes() -> None:
    template = "{Resources: {Topic: {Type: 'AWS::SNS::Topic', Properties: {TopicName: %s}}}}"
    assert stacks.deploy("small", "1", template=template % "one") == "created"
    assert stacks.is_current("small", "1")
    assert not stacks.is_current("small", "2")
    assert stacks.deploy("small", "2", template=template % "two") == "updated"
    assert stacks.is_current("small", "2")


@pytest.mark.usefixtures("aws")
def test_stack_rejected_by_cloudformation_raises_error() -> None:
    template = data_stack.TEMPLATE.read_text()
    with pytest.raises(DeploymentError, match=r"CloudFormation rejected the stack small: .*Stage"):
        stacks.deploy("small", "1", template=template)
