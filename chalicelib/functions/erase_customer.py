"""Process the queue of erasures: one pass of an erasure per message."""

from typing import Final

from chalice.app import SQSEvent

from chalicelib.domain.erasure import ErasurePointer
from chalicelib.domain.work import Interruption
from chalicelib.functions.partial_batch import Message, Response, process_batch
from chalicelib.log import logger
from chalicelib.metrics import metric_fields
from chalicelib.queues import ERASURES
from chalicelib.services.erasure.erase import attempt_erasure

_LOG_EVENTS: Final = {
    Interruption.DEFERRED: "erasure deferred",
    Interruption.RESCHEDULED: "erasure rescheduled",
    Interruption.PARKED: "erasure parked",
}


def erase_customer(event: SQSEvent) -> Response:
    """Run one pass of the erasure that each message points to.

    A failure is recorded and the erasure is rescheduled. If the database is unavailable, the
    erasure is deferred without recording a failure.
    """
    return process_batch(event, ERASURES, ErasurePointer, _process)


def _process(message: Message[ErasurePointer]) -> None:
    pointer = message.pointer
    result = attempt_erasure(pointer, is_redelivery=message.is_redelivery)
    interruption = result if isinstance(result, Interruption) else None
    logger.info(
        _LOG_EVENTS[interruption] if interruption else "erasure continued",
        account_id=pointer.account_id,
        erasure_id=pointer.erasure_id,
        **metric_fields(
            "work",
            "erasure",
            parked=int(interruption is Interruption.PARKED),
            done=int(interruption is None),
        ),
    )
