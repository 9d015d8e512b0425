"""Process a batch of queue messages and build the partial batch response.

The response lists the failed messages. The queue redelivers them and, after ten receives, moves
them to the dead-letter queue. A message fails only if it is invalid, if its outcome could not be
recorded, or if too little time was left to start it. Any other failure is recorded in the work
record, and the sweeper requeues the record. Failed messages of work with a record are redelivered
after seconds, so that throttling does not block a FIFO queue until the visibility time-out ends.
"""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Any, Final

from chalicelib.concurrency import map_concurrently
from chalicelib.domain.errors import Unavailable
from chalicelib.log import logger
from chalicelib.outbound.queues import change_visibility, send_to_dead_letters
from chalicelib.services.work.worker import Message, MessageOutcome, Worker, attempt
from chalicelib.time_limits import WORK_RETRY_S, invocation, time_left_s

Record = dict[str, Any]
Received = tuple[Record, Message[Any] | MessageOutcome]

_REDELIVERY_DELAY_S: Final = 10
"""The visibility time-out of a queue is several minutes, and a FIFO queue delivers no later message
of a group before a failed one. After throttling, the work must continue earlier.
"""


def process_batch(
    worker: Worker[Any], records: Sequence[Record], context: Any
) -> dict[str, list[dict[str, str]]]:
    """Process each message of a batch. Return a partial batch response that lists failed messages.

    On a FIFO queue, if a message fails, the later messages of its group fail too, to preserve their
    order. If too little time is left, the remaining messages are not processed and fail. If the
    queue would then move such a message to the dead-letter queue, the message is deleted instead,
    unless it is the only copy of its work. The same applies if the database is unavailable.

    One AWS request per ten failed messages.

    Args:
        records: the messages, in the format in which Lambda passes them to the function.
        context: the Lambda context.
    """
    with invocation(context, retry_s=WORK_RETRY_S, reserve_s=worker.min_time_s):
        batch = [(record, _receive(worker, record)) for record in records]
        prepared = worker.prepare([each for _, each in batch if isinstance(each, Message)])
        failed_groups: set[str] = set()

        def is_done(received: Received) -> bool:
            record, message = received
            group = str(record.get("attributes", {}).get("MessageGroupId"))
            if group in failed_groups and worker.queue.is_fifo:
                return False
            if isinstance(message, MessageOutcome):
                done = _is_deleted(worker, record, message)
            else:
                done = message.pointer in prepared or _process(worker, record, message)
            if not done:
                failed_groups.add(group)
            return done

        results = zip(batch, _for_all(worker, is_done, batch), strict=True)
        failed = [record for (record, _), done in results if not done]
        handles = [handle for record in failed if (handle := record.get("receiptHandle"))]
        if handles and not worker.is_only_copy:
            # If the request fails, the queue delivers the messages after its visibility time-out.
            change_visibility(worker.queue, handles, _REDELIVERY_DELAY_S)
    return {"batchItemFailures": [{"itemIdentifier": record["messageId"]} for record in failed]}


def _receive(worker: Worker[Any], record: Record) -> Message[Any] | MessageOutcome:
    """Return the message, or what happens to it if it is invalid or needs no processing."""
    try:
        pointer = worker.parse(record["body"])
    except ValueError:
        logger.error("invalid message", message_id=record["messageId"])
        return MessageOutcome.REJECTED if worker.rejects_invalid else MessageOutcome.FAILED
    if pointer is None:
        return MessageOutcome.DONE
    attributes = record.get("attributes", {})
    sent_ms = attributes.get("SentTimestamp")
    return Message(
        pointer,
        receive_count=int(attributes.get("ApproximateReceiveCount", 1)),
        sent_at=datetime.fromtimestamp(int(sent_ms) / 1000, UTC) if sent_ms else None,
    )


def _for_all(
    worker: Worker[Any], is_done: Callable[[Received], bool], batch: Sequence[Received]
) -> list[bool]:
    """Process the messages, concurrently if the worker allows it.

    A redelivered message may have stopped the function. Redelivered messages whose start is
    recorded are processed one by one after the others: if such a message stops the function again,
    no other message has been started that would count this as a failure.
    """
    if worker.max_concurrency == 1:
        return [is_done(received) for received in batch]
    together = [
        received
        for received in batch
        if not (worker.records and isinstance(received[1], Message) and received[1].is_redelivery)
    ]
    results = map_concurrently(is_done, together, worker.max_concurrency)
    by_id = dict(zip(map(id, together), results, strict=True))
    return [by_id[id(each)] if id(each) in by_id else is_done(each) for each in batch]


def _process(worker: Worker[Any], record: Record, message: Message[Any]) -> bool:
    """Attempt the work of a message. Return whether the queue deletes the message."""
    if time_left_s() < worker.min_time_s:
        return _is_dropped(worker, record, message)
    try:
        outcome = attempt(worker, message)
    except Exception as error:
        if isinstance(error, Unavailable) and not worker.is_only_copy:
            return _is_dropped(worker, record, message)
        described = worker.described(message.pointer)
        logger.exception("message failed", message_id=record["messageId"], **described)
        return False
    if outcome is MessageOutcome.RETURNED:
        return message.is_last_receive
    return _is_deleted(worker, record, outcome)


def _is_dropped(worker: Worker[Any], record: Record, message: Message[Any]) -> bool:
    """Log that a message was not processed. Return whether the queue deletes it anyway."""
    is_dropped = message.is_last_receive and not worker.is_only_copy
    logger.info(
        "message not processed",
        dropped=is_dropped,
        message_id=record["messageId"],
        **worker.described(message.pointer),
    )
    return is_dropped


def _is_deleted(worker: Worker[Any], record: Record, outcome: object) -> bool:
    """Move a rejected message to the dead-letter queue. Return whether the queue deletes it."""
    if outcome is not MessageOutcome.REJECTED:
        return outcome is not MessageOutcome.FAILED
    try:
        send_to_dead_letters(worker.queue, record["body"])
    except Unavailable:
        logger.exception("message not rejected", queue=worker.queue.name)
        return False
    return True
