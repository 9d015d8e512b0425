"""Process the feedback queue: one feedback record per message, one transaction per batch."""

from collections.abc import Collection, Sequence
from enum import Enum

from chalice.app import SQSEvent

from chalicelib.domain.errors import Unavailable
from chalicelib.domain.feedback.feedback import FeedbackPointer
from chalicelib.functions.partial_batch import Message, Response, process_batch
from chalicelib.log import logger
from chalicelib.metrics import metric_fields
from chalicelib.queues import FEEDBACK
from chalicelib.services.feedback.process import defer, record_failure, record_start
from chalicelib.services.feedback.process import process_feedback as process


class _Result(Enum):
    """The result of processing one message. The enum value is the log event."""

    PROCESSED = "feedback processed"
    SKIPPED = "feedback skipped"
    RESCHEDULED = "feedback rescheduled"
    DEFERRED = "feedback deferred"
    PARKED = "feedback parked"


def process_feedback(event: SQSEvent) -> Response:
    """Process the feedback record that each message points to.

    The records of new messages are processed in one transaction. If the transaction fails, each
    record is processed separately, so that one failing record does not block the others. If a
    record fails, the failure is recorded and the record is rescheduled. If the database is
    unavailable, the record is deferred without recording a failure.
    """
    return process_batch(event, FEEDBACK, FeedbackPointer, _process, prepare=_process_new_messages)


def _process_new_messages(
    messages: Sequence[Message[FeedbackPointer]],
) -> Collection[FeedbackPointer]:
    """Process all messages that are not redeliveries in one transaction.

    Return the pointers of the processed messages: none if the transaction fails.
    """
    new = [message.pointer for message in messages if not message.is_redelivery]
    if not new:
        return ()
    try:
        done = process([pointer.feedback_id for pointer in new])
    except Exception as error:
        logger.warning("feedback batch failed", error=type(error).__name__)
        return ()
    logger.info(
        "feedback batch processed", **metric_fields("work", "feedback", parked=0, done=done)
    )
    return new


def _process(message: Message[FeedbackPointer]) -> None:
    pointer = message.pointer
    result = _process_one(pointer.feedback_id, is_redelivery=message.is_redelivery)
    logger.info(
        result.value,
        account_id=pointer.account_id,
        feedback_id=pointer.feedback_id,
        **metric_fields(
            "work",
            "feedback",
            parked=int(result is _Result.PARKED),
            done=int(result is _Result.PROCESSED),
        ),
    )


def _process_one(feedback_id: str, *, is_redelivery: bool) -> _Result:
    try:
        if is_redelivery and record_start(feedback_id):
            return _Result.PARKED
        return _Result.PROCESSED if process([feedback_id]) else _Result.SKIPPED
    except Unavailable:
        defer(feedback_id)
        return _Result.DEFERRED
    except Exception as error:
        logger.exception(
            "feedback raised an exception",
            feedback_id=feedback_id,
            **metric_fields("work", "feedback", exceptions=1),
        )
        is_parked = record_failure(feedback_id, type(error).__name__)
        return _Result.PARKED if is_parked else _Result.RESCHEDULED
