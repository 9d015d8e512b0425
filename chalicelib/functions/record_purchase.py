"""Process the purchases queue: record one purchase per message, and request a survey.

The messages of a batch are processed concurrently.
"""

from typing import Final

from chalice.app import SQSEvent

from chalicelib.domain.errors import InputTooLarge, InvalidInput
from chalicelib.functions.partial_batch import Message, Response, process_batch
from chalicelib.log import logger
from chalicelib.messages import encode
from chalicelib.metrics import metric_fields
from chalicelib.queues import PURCHASES
from chalicelib.services.purchases import queued
from chalicelib.services.purchases.record import PurchaseMessage
from chalicelib.services.purchases.record import record_purchase as record

_MAX_LOGGED_ERRORS: Final = 10
_MAX_LOGGED_ID: Final = 255


def record_purchase(event: SQSEvent) -> Response:
    """Record the purchase that each message contains.

    An invalid message moves to the dead-letter queue immediately, and an alarm fires. If the
    database is unavailable, the queue redelivers the message.
    """
    return process_batch(
        event,
        PURCHASES,
        PurchaseMessage,
        _process,
        run=queued.process_concurrently,
        reject=_reject,
        has_record=False,
    )


def _process(message: Message[PurchaseMessage]) -> None:
    pointer = message.pointer
    try:
        purchase = record(
            pointer.account_id, pointer.purchase, solicit=True, sent_at=message.sent_at
        )
    except (InvalidInput, InputTooLarge) as error:
        logger.error(
            "purchase rejected",
            account_id=pointer.account_id,
            external_id=_external_id(pointer),
            errors=_reasons(error),
        )
        _reject(encode(pointer))
        return
    logger.info(
        "purchase recorded",
        account_id=pointer.account_id,
        purchase_id=purchase.id,
        **metric_fields("work", "purchase", recorded=1),
    )


def _external_id(pointer: PurchaseMessage) -> str | None:
    external_id = pointer.purchase.get("externalId")
    return external_id[:_MAX_LOGGED_ID] if isinstance(external_id, str) else None


def _reasons(error: InvalidInput | InputTooLarge) -> list[str]:
    if isinstance(error, InputTooLarge):
        return [str(error)]
    return [f"{e.pointer} {e.code}" for e in error.errors[:_MAX_LOGGED_ERRORS]]


def _reject(body: str) -> bool:
    queued.reject_purchase(body)
    return True
