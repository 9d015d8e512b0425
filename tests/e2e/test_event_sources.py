"""Tests of an event source that does not accept partial batch responses."""

import time
from collections.abc import Callable

from infrastructure.deployment.code_package import PARTIAL_BATCH_RESPONSES
from tests.e2e.cloud import TIMEOUT_S, Cloud

BODIES = ["{", '{"eventType": "Delivery"}']
"""A message that fails, and a message that needs no processing."""


def wait_until(is_true: Callable[[], bool]) -> None:
    deadline = time.monotonic() + TIMEOUT_S
    while not is_true():
        assert time.monotonic() < deadline
        time.sleep(0.2)


def test_failed_message_returns_to_queue_of_event_source_without_setting(cloud: Cloud) -> None:
    sqs, functions, logs = map(cloud.client, ("sqs", "lambda", "logs"))
    name = cloud.resource_name("message-events")
    url = sqs.get_queue_url(QueueName=name)["QueueUrl"]
    mapping = next(
        mapping
        for mapping in functions.list_event_source_mappings()["EventSourceMappings"]
        if mapping["EventSourceArn"].endswith(f":{name}")
    )
    mapping_id = mapping["UUID"]
    log_group = "/aws/lambda/" + mapping["FunctionArn"].rsplit(":", 1)[-1]
    started_ms = int(time.time() * 1000)

    def in_queue() -> int:
        names = ["ApproximateNumberOfMessages", "ApproximateNumberOfMessagesNotVisible"]
        counts = sqs.get_queue_attributes(QueueUrl=url, AttributeNames=names)["Attributes"]
        return sum(map(int, counts.values()))

    def has_raised() -> bool:
        if not logs.describe_log_groups(logGroupNamePrefix=log_group)["logGroups"]:
            return False
        pages = logs.get_paginator("filter_log_events").paginate(
            logGroupName=log_group, startTime=started_ms
        )
        return any(
            "MessagesFailed" in event["message"] for page in pages for event in page["events"]
        )

    functions.update_event_source_mapping(UUID=mapping_id, FunctionResponseTypes=[])
    try:
        entries = [{"Id": str(n), "MessageBody": body} for n, body in enumerate(BODIES)]
        sqs.send_message_batch(QueueUrl=url, Entries=entries)
        wait_until(lambda: has_raised() and in_queue() == 1)
    finally:
        functions.update_event_source_mapping(
            UUID=mapping_id, FunctionResponseTypes=PARTIAL_BATCH_RESPONSES
        )
        sqs.purge_queue(QueueUrl=url)
