"""Change when a queue delivers failed messages again, or move them to the dead-letter queue."""

from collections.abc import Sequence
from typing import Final

from chalicelib.domain.errors import Unavailable
from chalicelib.log import logger
from chalicelib.outbound.queues import change_visibility, send_to_dead_letters
from chalicelib.queues import Queue

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
