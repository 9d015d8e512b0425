"""Process a batch of queue messages and build the partial batch response.

The response lists the failed messages. The queue redelivers them and, after ten receives, moves
them to the dead-letter queue. A message fails only if it is invalid, if its outcome could not be
recorded, or if too little time was left to start it. Any other failure is recorded in the work
record, and the sweeper requeues the record. Failed messages of work with a record are redelivered
after seconds, so that throttling does not block a FIFO queue until the visibility time-out ends.
"""

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Generic

from chalice.app import SQSEvent

from chalicelib.domain.errors import Unavailable
from chalicelib.log import logger
from chalicelib.messages import PointerT, decode
from chalicelib.queues import MAX_RECEIVES, Queue
from chalicelib.services.work.redeliver import redeliver_soon
from chalicelib.time_limits import MIN_WORK_S, WORK_RETRY_S, invocation, time_left_s

Record = dict[str, Any]
Response = dict[str, list[dict[str, str]]]


@dataclass(frozen=True)
class Message(Generic[PointerT]):
    """A valid message of a batch.

    Attributes:
        pointer: the content of the message.
        receive_count: the number of times that the queue delivered the message.
        sent_at: the time at which the message was sent; None if the event does not contain it.
    """

    pointer: PointerT
    receive_count: int
    sent_at: datetime | None = None

    @property
    def is_redelivery(self) -> bool:
        """Whether an earlier invocation received the message and may have started the work."""
        return self.receive_count > 1


def process_batch(
    event: SQSEvent,
    queue: Queue,
    pointer_type: type[PointerT],
    process: Callable[[Message[PointerT]], None],
    *,
    prepare: Callable[[Sequence[Message[PointerT]]], Collection[PointerT]] = lambda _: (),
    run: Callable[[Callable[[Any], bool], Sequence[Any]], Iterable[bool]] = map,
    reject: Callable[[str], bool] = lambda _: False,
    has_record: bool = True,
    min_time_s: float = MIN_WORK_S,
) -> Response:
    """Process each message of a batch. Return a partial batch response that lists failed messages.

    On a FIFO queue, if a message fails, the later messages of its group fail too, to preserve their
    order. If too little time is left, the remaining messages are not processed and fail. If the
    queue would then move such a message to the dead-letter queue, the message is dropped instead,
    because the sweeper requeues its work. The same applies if ``process`` raises `Unavailable`.

    Args:
        process: processes one message. If it raises an exception, the message fails.
        prepare: called first, with all valid messages. It returns the pointers of messages that
            need no further processing; ``process`` is not called for these.
        run: applies a function to all messages. For a FIFO queue, it must do so in order.
        reject: called with the body of an invalid message. It returns whether the message needs no
            further processing; otherwise, the message fails.
        has_record: whether the work of a message has a record that the sweeper requeues. A message
            without a record is never dropped.
        min_time_s: the remaining time that ``process`` needs. If less time is left, operations do
            not retry.
    """
    with invocation(event.context, retry_s=WORK_RETRY_S, reserve_s=min_time_s):
        batch: list[tuple[Record, Message[PointerT] | None]] = [
            (record, _message(record, pointer_type)) for record in event.to_dict()["Records"]
        ]
        prepared = prepare([message for _, message in batch if message])
        failed_groups: set[str] = set()

        def is_done(entry: tuple[Record, Message[PointerT] | None]) -> bool:
            record, message = entry
            group = str(record.get("attributes", {}).get("MessageGroupId"))
            if queue.is_fifo and group in failed_groups:
                return False
            if message and message.pointer in prepared:
                return True
            if message and time_left_s() < min_time_s:
                return _leave_to_sweeper(message, record) if has_record else False
            if message and _succeeds(process, message, record, has_record=has_record):
                return True
            if message is None and reject(record["body"]):
                return True
            failed_groups.add(group)
            return False

        results = zip(batch, run(is_done, batch), strict=True)
        failed = [record for (record, _), done in results if not done]
        if has_record:
            redeliver_soon(queue, [handle for r in failed if (handle := r.get("receiptHandle"))])
    return {"batchItemFailures": [{"itemIdentifier": record["messageId"]} for record in failed]}


def _leave_to_sweeper(message: Message[PointerT], record: Record) -> bool:
    """Return True if the message is deleted, False if SQS delivers it again.

    Too little time is left to process the message, or the database is unavailable. The message is
    deleted after its last receive, because the sweeper requeues the work record.
    """
    is_last_receive = message.receive_count >= MAX_RECEIVES
    logger.info(
        "message not processed",
        message_id=record["messageId"],
        account_id=message.pointer.account_id,
        dropped=is_last_receive,
    )
    return is_last_receive


def _message(record: Record, pointer_type: type[PointerT]) -> Message[PointerT] | None:
    try:
        pointer = decode(pointer_type, record["body"])
    except ValueError:
        logger.error("invalid message", message_id=record["messageId"])
        return None
    attributes = record.get("attributes", {})
    sent_ms = attributes.get("SentTimestamp")
    return Message(
        pointer,
        receive_count=int(attributes.get("ApproximateReceiveCount", 1)),
        sent_at=datetime.fromtimestamp(int(sent_ms) / 1000, UTC) if sent_ms else None,
    )


def _succeeds(
    process: Callable[[Message[PointerT]], None],
    message: Message[PointerT],
    record: Record,
    *,
    has_record: bool,
) -> bool:
    try:
        process(message)
    except Exception as error:
        if has_record and isinstance(error, Unavailable):
            return _leave_to_sweeper(message, record)
        logger.exception(
            "message failed",
            message_id=record["messageId"],
            account_id=message.pointer.account_id,
        )
        return False
    return True
