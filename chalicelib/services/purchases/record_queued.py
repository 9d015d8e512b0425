"""Record the purchases of the purchases queue, and request surveys. Reject invalid purchases."""

from functools import partial
from typing import Final

from chalicelib.domain.errors import InputTooLarge, InvalidInput
from chalicelib.log import logger
from chalicelib.messages import decode
from chalicelib.metrics import metric_fields
from chalicelib.queues import PURCHASES
from chalicelib.services.purchases.record import PurchaseMessage, record_purchase
from chalicelib.services.work.worker import Message, MessageOutcome, Worker

_MAX_LOGGED_ERRORS: Final = 10
_MAX_LOGGED_ID: Final = 255


def _record(message: Message[PurchaseMessage]) -> MessageOutcome:
    pointer = message.pointer
    try:
        purchase = record_purchase(
            pointer.account_id, pointer.purchase, solicit=True, sent_at=message.sent_at
        )
    except (InvalidInput, InputTooLarge) as error:
        logger.error(
            "purchase rejected",
            account_id=pointer.account_id,
            external_id=_external_id(pointer),
            errors=_reasons(error),
        )
        return MessageOutcome.REJECTED
    logger.info(
        "purchase recorded",
        account_id=pointer.account_id,
        purchase_id=purchase.id,
        **metric_fields("work", "purchase", recorded=1),
    )
    return MessageOutcome.DONE


def _external_id(pointer: PurchaseMessage) -> str | None:
    external_id = pointer.purchase.get("externalId")
    return external_id[:_MAX_LOGGED_ID] if isinstance(external_id, str) else None


def _reasons(error: InvalidInput | InputTooLarge) -> list[str]:
    if isinstance(error, InputTooLarge):
        return [str(error)]
    return [f"{e.pointer} {e.code}" for e in error.errors[:_MAX_LOGGED_ERRORS]]


WORKER: Final = Worker(
    queue=PURCHASES,
    parse=partial(decode, PurchaseMessage),
    run=_record,
    max_concurrency=5,
    is_only_copy=True,
    rejects_invalid=True,
)
