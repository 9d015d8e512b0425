"""Partial batch responses: the messages that a function reports as failed."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Any

import pytest
from chalice.app import SQSEvent

from chalicelib.functions.partial_batch import Message, process_batch
from chalicelib.messages import decode, encode
from chalicelib.queues import Queue
from chalicelib.services.webhooks.send import deliver_concurrently

FIFO = Queue("any.fifo", batch_size=10, max_concurrency=2)
STANDARD = Queue("any", batch_size=10, max_concurrency=2)


@dataclass(frozen=True)
class RecordPointer:
    account_id: str
    record_id: str
    parts: tuple[str, ...] = ()


def record(message_id: str, group: str = "a", receive_count: int = 1) -> dict[str, Any]:
    """Return an SQS record in the format in which Lambda passes it to a function."""
    return {
        "messageId": message_id,
        "body": encode(RecordPointer(group, message_id)),
        "attributes": {
            "MessageGroupId": group,
            "ApproximateReceiveCount": str(receive_count),
        },
    }


def failing_on(*record_ids: str, processed: list[str]) -> Callable[[Message[RecordPointer]], None]:
    def process(message: Message[RecordPointer]) -> None:
        processed.append(message.pointer.record_id)
        if message.pointer.record_id in record_ids:
            raise RuntimeError

    return process


def failed(records: list[dict[str, Any]], queue: Queue, *args: Any, **options: Any) -> list[str]:
    """Process the records and return the ids of the messages that are reported as failed."""
    event = SQSEvent({"Records": records}, None)
    response = process_batch(event, queue, RecordPointer, *args, **options)
    return [failure["itemIdentifier"] for failure in response["batchItemFailures"]]


def test_fifo_failure_also_fails_later_messages_of_same_group() -> None:
    processed: list[str] = []
    records = [record("1"), record("2"), record("3", "b"), record("4"), record("5", "b")]
    assert failed(records, FIFO, failing_on("2", processed=processed)) == ["2", "4"]
    assert processed == ["1", "2", "3", "5"]


def test_invalid_fifo_message_also_fails_later_messages_of_same_group() -> None:
    processed: list[str] = []
    records = [record("1"), record("2") | {"body": "{"}, record("3"), record("4", "b")]
    assert failed(records, FIFO, failing_on(processed=processed)) == ["2", "3"]
    assert processed == ["1", "4"]


@pytest.mark.parametrize("options", [{}, {"run": deliver_concurrently}])
def test_standard_queue_reports_only_messages_that_failed(options: dict[str, Any]) -> None:
    processed: list[str] = []
    records = [record("1"), record("2"), record("3") | {"body": "[]"}, record("4")]
    assert failed(records, STANDARD, failing_on("2", processed=processed), **options) == ["2", "3"]
    assert sorted(processed) == ["1", "2", "4"]


def test_message_that_prepare_has_processed_is_not_processed_again() -> None:
    processed: list[str] = []

    def prepare(messages: Sequence[Message[RecordPointer]]) -> Collection[RecordPointer]:
        return [message.pointer for message in messages if not message.is_redelivery]

    records = [record("1"), record("2", receive_count=2)]
    assert failed(
        records, STANDARD, failing_on("1", "2", processed=processed), prepare=prepare
    ) == ["2"]
    assert processed == ["2"]


def test_decoded_pointer_equals_encoded_pointer() -> None:
    pointer = RecordPointer("a", "r", ("x", "y"))
    assert encode(pointer) == '{"accountId": "a", "recordId": "r", "parts": ["x", "y"]}'
    assert decode(RecordPointer, encode(pointer)) == pointer


@pytest.mark.parametrize(
    "body",
    [
        "",
        "[]",
        "7",
        "[" * 100_000,
        '{"accountId": "a", "parts": []}',
        '{"accountId": "a", "recordId": "", "parts": []}',
        '{"accountId": "a", "recordId": 7, "parts": []}',
        '{"accountId": "a", "recordId": "r", "parts": [7]}',
    ],
)
def test_invalid_message_body_is_rejected(body: str) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 - any
        decode(RecordPointer, body)
