"""Tests of partial batch responses, which list the messages that failed."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from functools import partial
from threading import Barrier
from typing import Any

import pytest

from chalicelib.messages import decode, encode
from chalicelib.queues import MAX_RECEIVES, Queue
from chalicelib.services.work.partial_batch import process_batch
from chalicelib.services.work.worker import Message, MessageOutcome, Worker, WorkOutcome
from chalicelib.storage.dynamodb.work_records import WorkRecords, WorkRow
from chalicelib.time_limits import MIN_WORK_S

FIFO = Queue("any.fifo", batch_size=10, max_concurrency=2)
STANDARD = Queue("any", batch_size=10, max_concurrency=2)


class RecordOutcome(WorkOutcome):
    DONE = "done", "record processed"


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
        "eventSourceARN": "arn:aws:sqs:eu-west-1:1:any",
        "attributes": {
            "MessageGroupId": group,
            "ApproximateReceiveCount": str(receive_count),
        },
    }


def failing_on(
    *record_ids: str, processed: list[str]
) -> Callable[[Message[RecordPointer]], MessageOutcome]:
    def process(message: Message[RecordPointer]) -> MessageOutcome:
        processed.append(message.pointer.record_id)
        if message.pointer.record_id in record_ids:
            raise RuntimeError
        return MessageOutcome.DONE

    return process


def worker(
    queue: Queue, run: Callable[[Message[RecordPointer]], MessageOutcome], **options: Any
) -> Worker[RecordPointer]:
    return Worker(queue=queue, parse=partial(decode, RecordPointer), run=run, **options)


def failed(
    batch: list[dict[str, Any]], queue: Queue, run: Any, context: Any = None, **options: Any
) -> list[str]:
    """Process the records and return the ids of the messages that are reported as failed."""
    response = process_batch(worker(queue, run, **options), batch, context)
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


@pytest.mark.parametrize("options", [{}, {"max_concurrency": 10}])
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


class Context:
    """A Lambda context whose remaining time decreases with each processed message."""

    def __init__(self, processed: list[str], left_s: float, message_s: float) -> None:
        self.processed, self.left_s, self.message_s = processed, left_s, message_s

    def get_remaining_time_in_millis(self) -> int:
        return int((self.left_s - len(self.processed) * self.message_s) * 1000)


@pytest.mark.parametrize("queue", [FIFO, STANDARD])
def test_messages_are_returned_unprocessed_if_too_little_time_is_left(queue: Queue) -> None:
    processed: list[str] = []
    context = Context(processed, left_s=MIN_WORK_S + 5, message_s=3)
    records = [record(str(number)) for number in range(1, 5)]
    returned = failed(records, queue, failing_on(processed=processed), context)
    assert (processed, returned) == (["1", "2"], ["3", "4"])


def test_unprocessed_message_is_deleted_on_last_receive() -> None:
    context = Context([], left_s=MIN_WORK_S - 1, message_s=0)
    records = [record("1", receive_count=MAX_RECEIVES - 1), record("2", receive_count=MAX_RECEIVES)]
    assert failed(records, STANDARD, failing_on(processed=[]), context) == ["1"]


@pytest.mark.parametrize(
    ("outcome", "receive_count", "deleted"),
    [
        (MessageOutcome.DONE, 1, True),
        (MessageOutcome.RETURNED, MAX_RECEIVES - 1, False),
        (MessageOutcome.RETURNED, MAX_RECEIVES, True),
        (MessageOutcome.FAILED, MAX_RECEIVES, False),
    ],
)
def test_message_is_deleted_by_outcome(
    outcome: MessageOutcome, receive_count: int, deleted: bool
) -> None:
    records = [record("1", receive_count=receive_count)]
    assert failed(records, STANDARD, lambda _: outcome) == ([] if deleted else ["1"])


@pytest.mark.parametrize(("max_concurrency", "sequential"), [(1, True), (4, False)])
def test_messages_are_processed_concurrently_up_to_limit(
    max_concurrency: int, sequential: bool
) -> None:
    together = Barrier(1 if sequential else 4, timeout=5)

    def run(_: Message[RecordPointer]) -> MessageOutcome:
        together.wait()
        return MessageOutcome.DONE

    records = [record(str(number)) for number in range(4)]
    assert failed(records, STANDARD, run, max_concurrency=max_concurrency) == []


def test_redelivered_messages_whose_start_is_recorded_are_processed_after_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    processed: list[str] = []
    records: Any = WorkRecords("any", WorkRow)
    monkeypatch.setattr(records, "record_start", lambda *_: False)
    options = {
        "records": records,
        "key": lambda pointer: (pointer.record_id, ""),
        "outcomes": RecordOutcome,
        "max_concurrency": 2,
    }
    batch = [record("1", receive_count=2), record("2"), record("3", receive_count=2)]
    assert failed(batch, STANDARD, failing_on(processed=processed), **options) == []
    assert processed == ["2", "1", "3"]


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
