"""The function behind the webhooks queue: one execution a message, all of a batch side by side."""

from collections.abc import Callable
from typing import Any

from chalice.app import SQSEvent

from chalicelib.domain.errors import Unavailable
from chalicelib.domain.webhooks.execution import ExecutionPointer
from chalicelib.functions.metrics import metric_fields
from chalicelib.functions.queue_messages import pointer_of
from chalicelib.functions.time_left import time_left_s
from chalicelib.log import logger
from chalicelib.services.webhooks import send as deliveries
from chalicelib.services.webhooks.send import DeliveryOutcome


def send_webhook(event: SQSEvent) -> dict[str, list[dict[str, str]]]:
    """Makes an attempt for each message; answers which messages are to come again.

    What failed waits in its record, and so does what there is no time left for. A message comes
    again only when it cannot be read, or when not even the failure could be written.
    """

    def outcome_of(pointer: ExecutionPointer) -> DeliveryOutcome | None:
        return _outcome_of(pointer, lambda: time_left_s(event))

    left: list[str] = []
    readable: list[tuple[str, ExecutionPointer]] = []
    for record in event.to_dict()["Records"]:
        pointer = pointer_of(record, ExecutionPointer.from_json)
        if pointer is None:
            left.append(record["messageId"])
        else:
            readable.append((record["messageId"], pointer))
    pointers = [pointer for _, pointer in readable]
    _prefetch(pointers)
    outcomes = deliveries.deliver_concurrently(outcome_of, pointers) if pointers else []
    for (message_id, pointer), outcome in zip(readable, outcomes, strict=True):
        if outcome is None:
            left.append(message_id)
            continue
        logger.info(
            "webhook",
            account_id=pointer.account_id,
            execution_id=pointer.execution_id,
            outcome=outcome.value,
            **_counted(outcome),
        )
    return {"batchItemFailures": [{"itemIdentifier": message_id} for message_id in left]}


def _prefetch(pointers: list[ExecutionPointer]) -> None:
    try:
        deliveries.prefetch({pointer.account_id for pointer in pointers})
    except Exception as error:
        # Each delivery tries again for itself, and counts its own failure.
        logger.warning("workflows or secrets out of reach", error=type(error).__name__)


def _outcome_of(
    pointer: ExecutionPointer, time_left_s: Callable[[], float]
) -> DeliveryOutcome | None:
    """What came of a delivery; None when its message is to come again.

    What the database is too busy for waits in its record, and is not held against it.
    """
    try:
        return deliveries.send_webhook(pointer, time_left_s)
    except Unavailable as error:
        logger.warning("webhook waits", execution_id=pointer.execution_id, reason=str(error))
        return DeliveryOutcome.TO_BE_RETRIED
    except Exception as error:
        logger.exception("webhook failed", execution_id=pointer.execution_id)
        return _noted(pointer, type(error).__name__)


def _noted(pointer: ExecutionPointer, reason: str) -> DeliveryOutcome | None:
    try:
        is_parked = deliveries.record_failure(pointer.execution_id, reason)
    except Exception:
        logger.exception("webhook left on the queue", execution_id=pointer.execution_id)
        return None
    return DeliveryOutcome.PARKED if is_parked else DeliveryOutcome.TO_BE_RETRIED


def _counted(outcome: DeliveryOutcome) -> dict[str, Any]:
    return metric_fields(
        "webhook",
        parked=int(outcome is DeliveryOutcome.PARKED),
        delivered=int(outcome is DeliveryOutcome.SUCCEEDED),
        failed=int(outcome is DeliveryOutcome.FAILED),
    )
