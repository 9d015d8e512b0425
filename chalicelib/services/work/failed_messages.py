"""Keep failed messages in their queue, or move them to the dead-letter queue."""

from collections.abc import Sequence
from typing import Final

from chalicelib.domain.errors import Unavailable
from chalicelib.log import logger
from chalicelib.outbound.event_sources import accepts_partial_batches
from chalicelib.outbound.queues import change_visibility, delete, send_to_dead_letters
from chalicelib.queues import Queue
from chalicelib.services.caching import cached

REDELIVERY_DELAY_S: Final = 10
"""The visibility time-out of a queue is several minutes, and a FIFO queue delivers no later message
of a group before a failed one. After throttling, the work must continue earlier.
"""


def redeliver_soon(queue: Queue, receipt_handles: Sequence[str]) -> None:
    """Let the queue deliver these messages again after ten seconds.

    One AWS request per ten messages. If it fails, the queue delivers the messages after its
    visibility time-out.
    """
    change_visibility(queue, receipt_handles, REDELIVERY_DELAY_S)


def reject(queue: Queue, body: str) -> bool:
    """Move an invalid message to the dead-letter queue. Return False if it was not sent.

    One AWS request.
    """
    try:
        send_to_dead_letters(queue, body)
    except Unavailable:
        logger.exception("message not rejected", queue=queue.name)
        return False
    return True


@cached(at_most=1)
def returns_failed_messages(queue_arn: str) -> bool | None:
    """Return True if the event source of a queue returns failed messages; None if this is unknown.

    True is cached. One AWS request.
    """
    return accepts_partial_batches(queue_arn) or None


def delete_finished(queue: Queue, receipt_handles: Sequence[str]) -> None:
    """Delete messages from the queue. One AWS request per ten messages.

    If a request fails, the queue delivers the messages again. Processing them again has no effect.
    """
    delete(queue, receipt_handles)
