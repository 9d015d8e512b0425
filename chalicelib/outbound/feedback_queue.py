"""The queue of feedback that is to be worked on."""

from collections.abc import Sequence
from typing import Final

from chalicelib.domain.feedback.feedback import FeedbackPointer
from chalicelib.outbound.queues import Message, send

QUEUE: Final = "feedback"


def queue_feedback(pointers: Sequence[FeedbackPointer]) -> int:
    """Queues pointers to feedback; answers how many the queue took. Never raises."""
    return send(QUEUE, [_message(pointer) for pointer in pointers])


def _message(pointer: FeedbackPointer) -> Message:
    return Message(
        body=pointer.to_json(),
        group=pointer.account_id,
    )
