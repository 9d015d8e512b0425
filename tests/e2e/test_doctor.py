"""Tests of the command ``doctor`` on the local cloud, before and after tests break the stage."""

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

from tests.e2e.cloud import Cloud

PROBLEMS = {
    ("tables", "feedback-local-trackers", "DeletionProtectionEnabled is True, expected False."),
    ("queues", "feedback-local-feedback", "VisibilityTimeout is 361, expected 360."),
    ("queues", "feedback-local-listing.fifo", "MessageRetentionPeriod is 600, expected 1209600."),
    ("dead-letter queues", "feedback-local-webhooks", "maxReceiveCount is 3, expected 10."),
    ("functions", "Sweep", "Timeout is 49, expected 50."),
    ("functions", "AssignPositions", "MemorySize is 512, expected 1024."),
    ("event sources", "feedback-local-feedback", "BatchSize is 5, expected 16."),
    (
        "event sources",
        "feedback-local-webhooks",
        "FunctionResponseTypes is [], expected ['ReportBatchItemFailures'].",
    ),
    ("event sources", "feedback-local-imports.fifo", "MaximumConcurrency is 2, expected 20."),
    ("schedules", "Sweep", "No enabled rule invokes the function at rate(1 minute)."),
    ("policies", "ImportCustomers", "The role has the additional permission s3:* on *."),
    ("alarms", "feedback-local-api-errors", "Does not exist."),
    ("alarms", "feedback-local-webhooks-dead", "ActionsEnabled is False, expected True."),
    ("logs", "/aws/lambda/feedback-local-sweep", "retentionInDays is 1, expected 30."),
}


def doctor(cloud: Cloud) -> tuple[int, dict[str, Any]]:
    """Run the command. Return its exit code and its report."""
    result = subprocess.run(
        [sys.executable, "-m", "admin", "doctor", "--json"],
        env=cloud.environment(),
        capture_output=True,
        text=True,
    )
    assert result.stdout, result.stderr
    return result.returncode, json.loads(result.stdout)


def found(report: dict[str, Any]) -> set[tuple[str, str, str]]:
    """Return the check, the resource and the detail of each problem.

    The name of a function is its logical name.
    """
    return {
        (check, short(problem["resource"]), problem["detail"])
        for check, problems in report["problems"].items()
        for problem in problems
    }


def short(resource: str) -> str:
    prefix = "feedback-local-code-"
    return resource.removeprefix(prefix).partition("-")[0] if prefix in resource else resource


def test_doctor_finds_each_problem_of_broken_stage(cloud: Cloud) -> None:
    exit_code, healthy = doctor(cloud)
    assert (exit_code, healthy["problems"]) == (0, {})
    assert {"encryption", "point-in-time recovery", "time to live"} <= set(healthy["skipped"])
    with ExitStack() as broken:
        for breakage in (data, functions, event_sources, permissions, monitoring):
            broken.enter_context(breakage(cloud))
        exit_code, report = doctor(cloud)
    assert exit_code == 1
    assert found(report) == PROBLEMS
    assert doctor(cloud) == (0, healthy)


@contextmanager
def data(cloud: Cloud) -> Iterator[None]:
    dynamodb, sqs = cloud.client("dynamodb"), cloud.client("sqs")
    changes = (
        ("feedback", "VisibilityTimeout", "361"),
        ("listing.fifo", "MessageRetentionPeriod", "600"),
        ("webhooks", "RedrivePolicy", None),
    )
    with ExitStack() as undo:
        table = cloud.resource_name("trackers")
        dynamodb.update_table(TableName=table, DeletionProtectionEnabled=True)
        undo.callback(dynamodb.update_table, TableName=table, DeletionProtectionEnabled=False)
        for queue, attribute, value in changes:
            url = sqs.get_queue_url(QueueName=cloud.resource_name(queue))["QueueUrl"]
            before = sqs.get_queue_attributes(QueueUrl=url, AttributeNames=[attribute])[
                "Attributes"
            ]
            changed = value or json.dumps({**json.loads(before[attribute]), "maxReceiveCount": 3})
            sqs.set_queue_attributes(QueueUrl=url, Attributes={attribute: changed})
            undo.callback(sqs.set_queue_attributes, QueueUrl=url, Attributes=before)
        yield


@contextmanager
def functions(cloud: Cloud) -> Iterator[None]:
    client, events = cloud.client("lambda"), cloud.client("events")
    sweep, assign = function(cloud, "Sweep"), function(cloud, "AssignPositions")
    (rule,) = events.list_rule_names_by_target(TargetArn=sweep["FunctionArn"])["RuleNames"]
    update = client.update_function_configuration
    with ExitStack() as undo:
        update(FunctionName=sweep["FunctionName"], Timeout=49)
        undo.callback(update, FunctionName=sweep["FunctionName"], Timeout=50)
        update(FunctionName=assign["FunctionName"], MemorySize=512)
        undo.callback(update, FunctionName=assign["FunctionName"], MemorySize=1024)
        events.disable_rule(Name=rule)
        undo.callback(events.enable_rule, Name=rule)
        yield


@contextmanager
def event_sources(cloud: Cloud) -> Iterator[None]:
    client = cloud.client("lambda")
    mappings = {
        mapping["EventSourceArn"].rpartition(":")[2]: mapping
        for mapping in client.list_event_source_mappings()["EventSourceMappings"]
    }
    with ExitStack() as undo:
        for queue, change in {
            "feedback": {"BatchSize": 5},
            "webhooks": {"FunctionResponseTypes": []},
            "imports.fifo": {"ScalingConfig": {"MaximumConcurrency": 2}},
        }.items():
            mapping = mappings[cloud.resource_name(queue)]
            before = {name: mapping[name] for name in change}
            client.update_event_source_mapping(UUID=mapping["UUID"], **change)
            undo.callback(client.update_event_source_mapping, UUID=mapping["UUID"], **before)
        yield


@contextmanager
def permissions(cloud: Cloud) -> Iterator[None]:
    iam = cloud.client("iam")
    policy = {
        "RoleName": function(cloud, "ImportCustomers")["Role"].rpartition("/")[2],
        "PolicyName": "too-much",
    }
    statement = {"Effect": "Allow", "Action": "s3:*", "Resource": "*"}
    document = {"Version": "2012-10-17", "Statement": [statement]}
    iam.put_role_policy(**policy, PolicyDocument=json.dumps(document))
    try:
        yield
    finally:
        iam.delete_role_policy(**policy)


@contextmanager
def monitoring(cloud: Cloud) -> Iterator[None]:
    cloudwatch, logs = cloud.client("cloudwatch"), cloud.client("logs")
    alarm_name, silenced = (
        cloud.resource_name("api-errors"),
        [cloud.resource_name("webhooks-dead")],
    )
    (alarm,) = cloudwatch.describe_alarms(AlarmNames=[alarm_name])["MetricAlarms"]
    accepted = cloudwatch.meta.service_model.operation_model("PutMetricAlarm").input_shape.members
    group = "/aws/lambda/feedback-local-sweep"
    with ExitStack() as undo:
        cloudwatch.delete_alarms(AlarmNames=[alarm_name])
        settings = {name: value for name, value in alarm.items() if name in accepted}
        undo.callback(cloudwatch.put_metric_alarm, **settings)
        cloudwatch.disable_alarm_actions(AlarmNames=silenced)
        undo.callback(cloudwatch.enable_alarm_actions, AlarmNames=silenced)
        logs.put_retention_policy(logGroupName=group, retentionInDays=1)
        undo.callback(logs.put_retention_policy, logGroupName=group, retentionInDays=30)
        yield


def function(cloud: Cloud, logical_name: str) -> dict[str, Any]:
    """Return the configuration of a function of the running stage."""
    (found_function,) = [
        configuration
        for configuration in cloud.client("lambda").list_functions()["Functions"]
        if configuration["FunctionName"].startswith(f"feedback-local-code-{logical_name}-")
    ]
    result: dict[str, Any] = found_function
    return result
