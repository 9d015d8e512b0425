"""Process the webhooks queue: one execution per message.

The messages of a batch are processed concurrently.
"""

from collections.abc import Collection, Sequence
from typing import Final

from chalice.app import SQSEvent

from chalicelib.domain.webhooks.execution import ExecutionPointer
from chalicelib.functions.partial_batch import Message, Response, process_batch
from chalicelib.log import logger
from chalicelib.metrics import metric_fields
from chalicelib.queues import WEBHOOKS
from chalicelib.services.webhooks import send as deliveries
from chalicelib.services.webhooks.send import DeliveryOutcome
from chalicelib.time_limits import MIN_CALL_S

_LOG_EVENTS: Final = {
    DeliveryOutcome.SUCCEEDED: "webhook delivered",
    DeliveryOutcome.TO_BE_RETRIED: "webhook rescheduled",
    DeliveryOutcome.FAILED: "webhook failed",
    DeliveryOutcome.STOPPED: "webhook stopped",
    DeliveryOutcome.PARKED: "webhook parked",
    DeliveryOutcome.DEFERRED: "webhook deferred",
    DeliveryOutcome.NOTHING_TO_DO: "webhook skipped",
    DeliveryOutcome.TAKEN_OVER: "webhook claim lost",
}


def send_webhook(event: SQSEvent) -> Response:
    """Make one delivery attempt for the execution that each message points to.

    If the attempt fails, or too little time is left for an attempt, the execution is rescheduled.
    """
    return process_batch(
        event,
        WEBHOOKS,
        ExecutionPointer,
        _process,
        prepare=_prefetch,
        run=deliveries.deliver_concurrently,
        min_time_s=MIN_CALL_S,
    )


def _prefetch(messages: Sequence[Message[ExecutionPointer]]) -> Collection[ExecutionPointer]:
    """Load the workflows and secrets for all messages into the cache.

    The result lists the messages that are finished. It is empty, because no webhook is sent yet.
    """
    try:
        deliveries.prefetch({message.pointer.account_id for message in messages})
    except Exception as error:
        # Continue without the cache: each delivery then loads the data itself and records failures.
        logger.warning("webhook prefetch failed", error=type(error).__name__)
    return ()


def _process(message: Message[ExecutionPointer]) -> None:
    pointer = message.pointer
    outcome = deliveries.attempt_delivery(pointer)
    logger.info(
        _LOG_EVENTS[outcome],
        account_id=pointer.account_id,
        execution_id=pointer.execution_id,
        outcome=outcome.value,
        **metric_fields(
            "work",
            "webhook",
            parked=int(outcome is DeliveryOutcome.PARKED),
            delivered=int(outcome is DeliveryOutcome.SUCCEEDED),
            failed=int(outcome is DeliveryOutcome.FAILED),
        ),
    )
