"""Tests of an event source that does not accept partial batch responses."""

import time
from collections.abc import Callable
from typing import Any

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
    sqs, functions = cloud.client("sqs"), cloud.client("lambda")
    name = cloud.resource_name("message-events")
    url = sqs.get_queue_url(QueueName=name)["QueueUrl"]
    mapping_id = next(
        mapping["UUID"]
        for mapping in functions.list_event_source_mappings()["EventSourceMappings"]
        if mapping["EventSourceArn"].endswith(f":{name}")
    )

    def in_queue() -> int:
        names = ["ApproximateNumberOfMessages", "ApproximateNumberOfMessagesNotVisible"]
        counts = sqs.get_queue_attributes(QueueUrl=url, AttributeNames=names)["Attributes"]
        return sum(map(int, counts.values()))

    def last_result() -> Any:
        return functions.get_event_source_mapping(UUID=mapping_id)["LastProcessingResult"]

    functions.update_event_source_mapping(UUID=mapping_id, FunctionResponseTypes=[])
    try:
        entries = [{"Id": str(n), "MessageBody": body} for n, body in enumerate(BODIES)]
        sqs.send_message_batch(QueueUrl=url, Entries=entries)
        wait_until(lambda: in_queue() == 1 and last_result() == "FAILED")
    finally:
        functions.update_event_source_mapping(
            UUID=mapping_id, FunctionResponseTypes=PARTIAL_BATCH_RESPONSES
        )
        sqs.purge_queue(QueueUrl=url)
