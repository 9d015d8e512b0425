"""Create the complete stage ``dev`` on moto, in the state that a deployment produces.

Moto's CloudFormation ignores alarms, encryption, recovery and time to live, and Chalice does not
run on moto. Therefore this module creates each resource of the template and of the manifest
with a request to the AWS service.
"""

import io
import json
import zipfile
from functools import cache
from typing import Any, Final

import boto3

from chalicelib import __version__
from infrastructure import generate
from infrastructure.deployment import gateway_stage
from infrastructure.deployment.code_package import PARTIAL_BATCH_RESPONSES
from infrastructure.doctor.deployed import DeployedStage
from infrastructure.functions import FUNCTIONS, Function, Throttling, stage_named

STAGE: Final = stage_named("dev")
TOPIC: Final = "feedback-dev-alarms"
MESSAGE_EVENTS: Final = "feedback-dev-message-events"
_MESSAGE_EVENTS_QUEUE: Final = f"arn:aws:sqs:eu-west-1:123456789012:{MESSAGE_EVENTS}"


def create_stage() -> None:
    """Create all resources of the stage."""
    _client.cache_clear()
    expected = DeployedStage(STAGE)
    _create_tables(expected)
    _create_queues(expected)
    topic = _client("sns").create_topic(Name=TOPIC)["TopicArn"]
    _client("sns").subscribe(TopicArn=topic, Protocol="email", Endpoint="a@example.com")
    _create_message_events()
    role = "arn:aws:iam::123456789012:role/log-text-messages"
    _client("sns").set_sms_attributes(attributes={"DeliveryStatusIAMRole": role})
    for alarm in expected.template.of_type("AWS::CloudWatch::Alarm"):
        if "MetricName" in alarm:
            _client("cloudwatch").put_metric_alarm(**{**alarm, **_actions(topic)})
        else:
            _create_query_alarm({**alarm, **_actions(topic)})
    for group in expected.template.of_type("AWS::Logs::LogGroup"):
        name, days = group["LogGroupName"], group["RetentionInDays"]
        _client("logs").create_log_group(logGroupName=name)
        _client("logs").put_retention_policy(logGroupName=name, retentionInDays=days)
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
    kms, dynamodb = _client("kms"), _client("dynamodb")
    key = kms.create_key()["KeyMetadata"]["Arn"]
    kms.create_alias(AliasName="alias/feedback-dev-secrets", TargetKeyId=key)
    for name, properties in expected.expected_tables.items():
        table = dict(properties)
        del table["PointInTimeRecoverySpecification"]
        ttl = table.pop("TimeToLiveSpecification", None)
        encryption = {"Enabled": True, "SSEType": "KMS"}
        if "KMSMasterKeyId" in table["SSESpecification"]:
            encryption["KMSMasterKeyId"] = key
        dynamodb.create_table(**{**table, "SSESpecification": encryption})
        dynamodb.update_continuous_backups(
            TableName=name,
            PointInTimeRecoverySpecification={"PointInTimeRecoveryEnabled": True},
        )
        if ttl:
            dynamodb.update_time_to_live(TableName=name, TimeToLiveSpecification=ttl)


def _create_queues(expected: DeployedStage) -> None:
    sqs = _client("sqs")
    # A dead-letter queue must exist before the queue that refers to it.
    for name, properties in sorted(
        expected.expected_queues.items(), key=lambda item: "RedrivePolicy" in item[1]
    ):
        attributes = {
            key: str(value).lower() if isinstance(value, bool) else str(value)
            for key, value in properties.items()
            if key not in ("QueueName", "RedrivePolicy")
        }
        redrive = properties.get("RedrivePolicy")
        if redrive:
            target = f"arn:aws:sqs:eu-west-1:123456789012:{redrive['deadLetterTargetArn']}"
            attributes["RedrivePolicy"] = json.dumps({**redrive, "deadLetterTargetArn": target})
        sqs.create_queue(QueueName=name, Attributes=attributes)


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


def _create_query_alarm(alarm: dict[str, Any]) -> None:
    metrics = [
        {**metric, "ReturnData": metric.get("ReturnData", True)} for metric in alarm["Metrics"]
    ]
    _client("cloudwatch").put_metric_alarm(**{**alarm, "Metrics": metrics})


def _create_function(expected: DeployedStage, function: Function) -> None:
    functions, iam = _client("lambda"), _client("iam")
    name = expected.function_name(function)
    role_name = f"feedback-dev-{function.name}"
    role = iam.create_role(RoleName=role_name, AssumeRolePolicyDocument="{}")["Role"]["Arn"]
    policy = json.dumps(generate.policy(function, STAGE))
    iam.put_role_policy(RoleName=role_name, PolicyName=role_name, PolicyDocument=policy)
    arn = functions.create_function(
        FunctionName=name,
        Runtime="python3.13",
        Role=role,
        Handler="app.app",
        Code={"ZipFile": _empty_zip()},
        Timeout=function.timeout_s,
        MemorySize=function.memory_mb,
        Environment={"Variables": {"STAGE": "dev", "VERSION": __version__}},
    )["FunctionArn"]
    if function.queue:
        functions.create_event_source_mapping(
            EventSourceArn="arn:aws:sqs:eu-west-1:123456789012:feedback-dev-" + function.queue.name,
            FunctionName=name,
            BatchSize=function.queue.batch_size,
            MaximumBatchingWindowInSeconds=function.queue.batch_window_s,
            ScalingConfig={"MaximumConcurrency": function.queue.max_concurrency},
            FunctionResponseTypes=PARTIAL_BATCH_RESPONSES,
        )
    if function.schedule:
        events = _client("events")
        events.put_rule(Name=name, ScheduleExpression=function.schedule)
        events.put_targets(Rule=name, Targets=[{"Id": "1", "Arn": arn}])


def _create_gateway(throttling: Throttling) -> None:
    gateway = _client("apigateway")
    api = gateway.create_rest_api(name="feedback")["id"]
    (root,) = gateway.get_resources(restApiId=api)["items"]
    gateway.put_method(
        restApiId=api, resourceId=root["id"], httpMethod="GET", authorizationType="NONE"
    )
    gateway.put_integration(restApiId=api, resourceId=root["id"], httpMethod="GET", type="MOCK")
    gateway.create_deployment(restApiId=api, stageName="dev")
    gateway_stage.throttle(api, "dev", throttling)


def _actions(topic: str) -> dict[str, list[str]]:
    return {"AlarmActions": [topic], "OKActions": [topic]}


def _empty_zip() -> bytes:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        archive.writestr("app.py", "")
    return content.getvalue()
