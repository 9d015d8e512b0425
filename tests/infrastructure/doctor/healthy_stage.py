"""Create the resources of the stage ``dev`` that the doctor reads, as a deployment does.

Moto's CloudFormation does not support all of them, so each is created with a request to the
service. CloudFormation itself is replaced: it has detected no drift.
"""

import io
import json
import zipfile
from functools import cache
from typing import Any, Final

import boto3
from botocore.exceptions import ClientError

from chalicelib import __version__
from chalicelib.queues import ALL_QUEUES
from infrastructure.deployment.code_template import PARTIAL_BATCH_RESPONSES
from infrastructure.doctor.deployed import DeployedStage
from infrastructure.functions import (
    FUNCTIONS,
    PUBLIC_SUBMITS,
    Function,
    Throttling,
    stage_named,
)

STAGE: Final = stage_named("dev")
TOPIC: Final = "feedback-dev-alarms"
MESSAGE_EVENTS: Final = "feedback-dev-message-events"
_MESSAGE_EVENTS_QUEUE: Final = f"arn:aws:sqs:eu-west-1:123456789012:{MESSAGE_EVENTS}"


class CloudFormation:
    """A client that has detected drift.

    Attributes:
        states: the state of each stack by name.
        drifts: the resources with drift by the name of their stack.
    """

    def __init__(self) -> None:
        self.states = {f"feedback-dev-{part}": "UPDATE_COMPLETE" for part in ("data", "code")}
        self.drifts: dict[str, list[dict[str, Any]]] = {}
        self._polls = 0

    def describe_stacks(self, StackName: str) -> Any:  # noqa: N803
        if StackName not in self.states:
            missing = {"Code": "ValidationError", "Message": f"{StackName} does not exist"}
            raise ClientError({"Error": missing}, "DescribeStacks")
        return {"Stacks": [{"StackStatus": self.states[StackName]}]}

    def detect_stack_drift(self, StackName: str) -> Any:  # noqa: N803
        return {"StackDriftDetectionId": StackName}

    def describe_stack_drift_detection_status(self, **_: Any) -> Any:
        self._polls += 1
        is_complete = self._polls % 2 == 0
        return {"DetectionStatus": f"DETECTION_{'COMPLETE' if is_complete else 'IN_PROGRESS'}"}

    def describe_stack_resource_drifts(
        self,
        StackName: str,  # noqa: N803
        StackResourceDriftStatusFilters: list[str],  # noqa: N803
        NextToken: str = "0",  # noqa: N803
    ) -> Any:
        number = int(NextToken)
        found = self.drifts.get(StackName, [])
        following = {"NextToken": str(number + 1)} if number + 1 < len(found) else {}
        return {"StackResourceDrifts": found[number : number + 1], **following}


def create_stage() -> None:
    """Create all resources of the stage."""
    _client.cache_clear()
    expected = DeployedStage(STAGE)
    _create_tables(expected)
    topic = _client("sns").create_topic(Name=TOPIC)["TopicArn"]
    _client("sns").subscribe(TopicArn=topic, Protocol="email", Endpoint="a@example.com")
    for queue in ALL_QUEUES:
        fifo = {"FifoQueue": "true"} if queue.is_fifo else {}
        _client("sqs").create_queue(QueueName=expected.resource_name(queue.name), Attributes=fifo)
    _create_message_events()
    role = "arn:aws:iam::123456789012:role/log-text-messages"
    _client("sns").set_sms_attributes(attributes={"DeliveryStatusIAMRole": role})
    for function in FUNCTIONS:
        _create_function(expected, function)
    _client("ssm").put_parameter(
        Name="feedback-dev-public-base-url", Value="https://feedback.example.com", Type="String"
    )
    assert STAGE.throttling
    _create_gateway(STAGE.throttling)


@cache
def _client(service: str) -> Any:
    create: Any = boto3.client
    return create(service)


def _create_tables(expected: DeployedStage) -> None:
    for properties in expected.expected_tables.values():
        names = ("TableName", "BillingMode", "KeySchema", "AttributeDefinitions")
        table = {name: properties[name] for name in names}
        if indexes := properties.get("GlobalSecondaryIndexes"):
            table["GlobalSecondaryIndexes"] = indexes
        _client("dynamodb").create_table(**table)


def _create_message_events() -> None:
    sns, sqs = _client("sns"), _client("sqs")
    topic = sns.create_topic(Name=MESSAGE_EVENTS)["TopicArn"]
    publish = _statement("ses.amazonaws.com", "sns:Publish", topic) | {
        "Condition": {"StringEquals": {"AWS:SourceAccount": "123456789012"}}
    }
    send = _statement("sns.amazonaws.com", "sqs:SendMessage", _MESSAGE_EVENTS_QUEUE) | {
        "Condition": {"ArnEquals": {"aws:SourceArn": topic}}
    }
    sns.set_topic_attributes(
        TopicArn=topic, AttributeName="Policy", AttributeValue=json.dumps({"Statement": [publish]})
    )
    url = sqs.get_queue_url(QueueName=MESSAGE_EVENTS)["QueueUrl"]
    sqs.set_queue_attributes(
        QueueUrl=url,
        Attributes={"Policy": json.dumps({"Version": "2012-10-17", "Statement": [send]})},
    )
    sns.subscribe(
        TopicArn=topic,
        Protocol="sqs",
        Endpoint=_MESSAGE_EVENTS_QUEUE,
        Attributes={"RawMessageDelivery": "true"},
    )


def _statement(service: str, action: str, resource: str) -> dict[str, Any]:
    return {
        "Sid": action,
        "Effect": "Allow",
        "Principal": {"Service": service},
        "Action": action,
        "Resource": resource,
    }


def _create_function(expected: DeployedStage, function: Function) -> None:
    functions, iam = _client("lambda"), _client("iam")
    name = expected.function_name(function)
    role = iam.create_role(RoleName=name, AssumeRolePolicyDocument="{}")["Role"]["Arn"]
    functions.create_function(
        FunctionName=name,
        Runtime="python3.13",
        Role=role,
        Handler="app.app",
        Code={"ZipFile": _empty_zip()},
        Timeout=function.timeout_s,
        MemorySize=function.memory_mb,
        Environment={"Variables": {"STAGE": "dev", "VERSION": __version__}},
    )
    if function.queue:
        functions.create_event_source_mapping(
            EventSourceArn="arn:aws:sqs:eu-west-1:123456789012:feedback-dev-" + function.queue.name,
            FunctionName=name,
            BatchSize=function.queue.batch_size,
            MaximumBatchingWindowInSeconds=function.queue.batch_window_s,
            ScalingConfig={"MaximumConcurrency": function.queue.max_concurrency},
            FunctionResponseTypes=PARTIAL_BATCH_RESPONSES,
        )


def _create_gateway(throttling: Throttling) -> None:
    gateway = _client("apigateway")
    api = gateway.create_rest_api(name="feedback")["id"]
    (root,) = gateway.get_resources(restApiId=api)["items"]
    gateway.put_method(
        restApiId=api, resourceId=root["id"], httpMethod="GET", authorizationType="NONE"
    )
    gateway.put_integration(restApiId=api, resourceId=root["id"], httpMethod="GET", type="MOCK")
    gateway.create_deployment(restApiId=api, stageName="dev")
    limits = {"*/*": (throttling.rate, throttling.burst)}
    for path in PUBLIC_SUBMITS:
        method = f"{path.replace('/', '~1')}/POST"
        limits[method] = (throttling.submit_rate, throttling.submit_burst)
    operations = [
        {"op": "replace", "path": f"/{method}/throttling/{name}", "value": str(value)}
        for method, values in limits.items()
        for name, value in zip(("rateLimit", "burstLimit"), values, strict=True)
    ]
    gateway.update_stage(restApiId=api, stageName="dev", patchOperations=operations)


def _empty_zip() -> bytes:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        archive.writestr("app.py", "")
    return content.getvalue()
