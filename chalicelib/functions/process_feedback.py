"""Process the feedback queue: one feedback record per message, one transaction per batch."""

from collections.abc import Collection, Sequence
from typing import Final

from chalice.app import SQSEvent

from chalicelib.domain.feedback.feedback import FeedbackPointer
from chalicelib.functions.partial_batch import Message, Response, process_batch
from chalicelib.log import logger
from chalicelib.metrics import metric_fields
from chalicelib.queues import FEEDBACK
from chalicelib.services.feedback.process import FeedbackOutcome, attempt_feedback
from chalicelib.services.feedback.process import process_feedback as process

_LOG_EVENTS: Final = {
    FeedbackOutcome.PROCESSED: "feedback processed",
    FeedbackOutcome.SKIPPED: "feedback skipped",
    FeedbackOutcome.TO_BE_RETRIED: "feedback rescheduled",
    FeedbackOutcome.DEFERRED: "feedback deferred",
    FeedbackOutcome.PARKED: "feedback parked",
}


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
    outcome = attempt_feedback(pointer.feedback_id, is_redelivery=message.is_redelivery)
    logger.info(
        _LOG_EVENTS[outcome],
        account_id=pointer.account_id,
        feedback_id=pointer.feedback_id,
        **metric_fields(
            "work",
            "feedback",
            parked=int(outcome is FeedbackOutcome.PARKED),
            done=int(outcome is FeedbackOutcome.PROCESSED),
        ),
    )
