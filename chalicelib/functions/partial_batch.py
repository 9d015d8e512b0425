"""Process a batch of queue messages and build the partial batch response.

The response lists the failed messages. The queue redelivers them and, after ten receives, moves
them to the dead-letter queue. A message is listed only if it is invalid or if its outcome could not
be recorded. All other failures are recorded in the work record, and the sweeper queues the work
again.
"""

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Generic

from chalice.app import SQSEvent

from chalicelib.log import logger
from chalicelib.messages import PointerT, decode
from chalicelib.queues import Queue

Record = dict[str, Any]
Response = dict[str, list[dict[str, str]]]


@dataclass(frozen=True)
class Message(Generic[PointerT]):
    """A valid message of a batch.

    Attributes:
        pointer: the content of the message.
        is_redelivery: whether the queue delivered the message before. In that case, an earlier
            invocation may have started the work.
    """

    pointer: PointerT
    is_redelivery: bool


def process_batch(
    event: SQSEvent,
    queue: Queue,
    pointer_type: type[PointerT],
    process: Callable[[Message[PointerT]], None],
    *,
    prepare: Callable[[Sequence[Message[PointerT]]], Collection[PointerT]] = lambda _: (),
    run: Callable[[Callable[[Any], bool], Sequence[Any]], Iterable[bool]] = map,
) -> Response:
    """Process each message of a batch. Return a partial batch response that lists failed messages.

    On a FIFO queue, if a message fails, the later messages of its group fail too, to preserve their
    order.

    Args:
        process: processes one message. If it raises an exception, the message fails.
        prepare: is called first, with all valid messages. It returns the pointers of the work that
            it finished; ``process`` is not called for these messages.
        run: calls a function for each message, like `map`. For a FIFO queue, it must call the
            function in message order.
    """
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
        if message and (message.pointer in prepared or _succeeds(process, message, record)):
            return True
        failed_groups.add(group)
        return False

    results = zip(batch, run(is_done, batch), strict=True)
    failed = [record["messageId"] for (record, _), done in results if not done]
    return {"batchItemFailures": [{"itemIdentifier": message_id} for message_id in failed]}


def _message(record: Record, pointer_type: type[PointerT]) -> Message[PointerT] | None:
    try:
        pointer = decode(pointer_type, record["body"])
    except ValueError:
        logger.error("invalid message", message_id=record["messageId"])
        return None
    receive_count = int(record.get("attributes", {}).get("ApproximateReceiveCount", 1))
    return Message(pointer, is_redelivery=receive_count > 1)


def _succeeds(
    process: Callable[[Message[PointerT]], None], message: Message[PointerT], record: Record
) -> bool:
    try:
        process(message)
    except Exception:
        logger.exception(
            "message failed",
            message_id=record["messageId"],
            account_id=message.pointer.account_id,
        )
        return False
    return True
