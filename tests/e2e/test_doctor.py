"""Tests of the command ``doctor`` on the local cloud, before and after tests break the stage."""

import json
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

from tests.admin.command import run
from tests.e2e.cloud import Cloud

PROBLEMS = {
    (
        "drift",
        "feedback-local-trackers",
        "DeletionProtectionEnabled is true, expected false.",
    ),
    ("drift", "feedback-local-feedback", "VisibilityTimeout is 361, expected 360."),
    ("drift", "feedback-local-listing.fifo", "MessageRetentionPeriod is 600, expected 1209600."),
    ("drift", "feedback-local-webhooks", "RedrivePolicy/maxReceiveCount is 3, expected 10."),
    ("drift", "feedback-local-sweep", "Timeout is 49, expected 50."),
    ("drift", "feedback-local-assign_positions", "MemorySize is 512, expected 1024."),
    ("drift", "/aws/lambda/feedback-local-sweep", "RetentionInDays is 1, expected 30."),
    ("event sources", "feedback-local-feedback", "BatchSize is 5, expected 16."),
    (
        "event sources",
        "feedback-local-webhooks",
        "FunctionResponseTypes is [], expected ['ReportBatchItemFailures'].",
    ),
    ("event sources", "feedback-local-imports.fifo", "MaximumConcurrency is 2, expected 20."),
    (
        "functions",
        "feedback-local-send_survey",
        "ReservedConcurrentExecutions is 7, expected None.",
    ),
}


def doctor() -> tuple[int, dict[str, Any]]:
    """Run the command. Return its exit code and its report."""
    result = run("doctor", "--json")
    return result.exit_code, json.loads(result.stdout)


def found(report: dict[str, Any]) -> set[tuple[str, str, str]]:
    """Return the check, the resource and the detail of each problem."""
    return {
        (check, problem["resource"], problem["detail"])
        for check, problems in report["problems"].items()
        for problem in problems
    }


def test_doctor_finds_each_problem_of_broken_stage(cloud: Cloud) -> None:
    exit_code, healthy = doctor()
    assert (exit_code, healthy["problems"]) == (0, {})
    with ExitStack() as broken:
        for breakage in (data, functions, event_sources):
            broken.enter_context(breakage(cloud))
        exit_code, report = doctor()
    assert exit_code == 1
    assert found(report) == PROBLEMS
    assert doctor() == (0, healthy)


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
    client, logs = cloud.client("lambda"), cloud.client("logs")
    update, prefix = client.update_function_configuration, "feedback-local"
    sweep, assign, send = (f"{prefix}-{n}" for n in ("sweep", "assign_positions", "send_survey"))
    group = f"/aws/lambda/{sweep}"
    with ExitStack() as undo:
        update(FunctionName=sweep, Timeout=49)
        undo.callback(update, FunctionName=sweep, Timeout=50)
        update(FunctionName=assign, MemorySize=512)
        undo.callback(update, FunctionName=assign, MemorySize=1024)
        client.put_function_concurrency(FunctionName=send, ReservedConcurrentExecutions=7)
        undo.callback(client.delete_function_concurrency, FunctionName=send)
        logs.put_retention_policy(logGroupName=group, retentionInDays=1)
        undo.callback(logs.put_retention_policy, logGroupName=group, retentionInDays=30)
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
