"""The function behind the feedback queue: one feedback a message, many at a time."""

from typing import Any

from chalice.app import SQSEvent

from chalicelib.domain.feedback.feedback import FeedbackPointer
from chalicelib.functions.metrics import metric_fields
from chalicelib.functions.queue_messages import is_redelivery, pointer_of
from chalicelib.log import logger
from chalicelib.services.feedback.process import process_feedback as process
from chalicelib.services.feedback.process import record_failure


def process_feedback(event: SQSEvent) -> dict[str, list[dict[str, str]]]:
    """Does what follows from each message's feedback; answers which messages are to come again.

    All are done together; when that fails, one by one, so that none fails with another. One that
    fails is counted and waits in its record; only when not even that can be written is its message
    left on the queue.
    """
    left: list[str] = []
    readable: list[tuple[dict[str, Any], FeedbackPointer]] = []
    for record in event.to_dict()["Records"]:
        pointer = pointer_of(record, FeedbackPointer.from_json)
        if pointer is None:
            left.append(record["messageId"])
        else:
            readable.append((record, pointer))
    fresh = [pointer for record, pointer in readable if not is_redelivery(record)]
    if not _are_done(fresh):
        alone = readable
    else:
        alone = [(record, pointer) for record, pointer in readable if pointer not in fresh]
    for record, pointer in alone:
        if not _is_settled(pointer, interrupted=is_redelivery(record)):
            left.append(record["messageId"])
    return {"batchItemFailures": [{"itemIdentifier": message_id} for message_id in left]}


def _are_done(pointers: list[FeedbackPointer]) -> bool:
    """Whether all of these could be done together."""
    if not pointers:
        return True
    try:
        done = process([pointer.feedback_id for pointer in pointers])
    except Exception as error:
        logger.warning("feedback done one by one", error=type(error).__name__)
        return False
    logger.info("feedback", **metric_fields("feedback", parked=0, done=done))
    return True


def _is_settled(pointer: FeedbackPointer, *, interrupted: bool) -> bool:
    try:
        is_parked, done = _do(pointer, interrupted=interrupted)
    except Exception:
        logger.exception("feedback left on the queue", feedback_id=pointer.feedback_id)
        return False
    logger.info(
        "feedback",
        account_id=pointer.account_id,
        feedback_id=pointer.feedback_id,
        **metric_fields("feedback", parked=int(is_parked), done=done),
    )
    return True


def _do(pointer: FeedbackPointer, *, interrupted: bool) -> tuple[bool, int]:
    if interrupted and record_failure(pointer.feedback_id, "interrupted"):
        return True, 0
    try:
        return False, process([pointer.feedback_id])
    except Exception as error:
        logger.exception("feedback failed", feedback_id=pointer.feedback_id)
        return record_failure(pointer.feedback_id, type(error).__name__), 0
