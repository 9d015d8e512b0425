"""The queue of feedback that is to be worked on."""

import json
from collections.abc import Sequence
from typing import Final

from chalicelib.domain.feedback.feedback import FeedbackPointer
from chalicelib.outbound.queues import Message, send

QUEUE: Final = "feedback"


def queue_feedback(pointers: Sequence[FeedbackPointer]) -> int:
    """Queues pointers to feedback; answers how many the queue took. Never raises."""
    return send(QUEUE, [_message(pointer) for pointer in pointers])


def pointer_in(body: str) -> FeedbackPointer:
    """The pointer that a message's body holds.

    Raises:
        ValueError, KeyError, TypeError: it holds none.
    """
    document = json.loads(body)
    pointer = FeedbackPointer(account_id=document["accountId"], feedback_id=document["feedbackId"])
    if not all(isinstance(part, str) and part for part in vars(pointer).values()):
        raise TypeError("the pointer's parts are texts")
    return pointer


def _message(pointer: FeedbackPointer) -> Message:
    return Message(
        body=json.dumps({"accountId": pointer.account_id, "feedbackId": pointer.feedback_id}),
        group=pointer.account_id,
    )
