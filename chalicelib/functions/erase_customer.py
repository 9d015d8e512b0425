"""Process the queue of erasures: one pass of an erasure per message."""

from enum import Enum

from chalice.app import SQSEvent

from chalicelib.domain.erasure import ErasurePointer
from chalicelib.domain.errors import Unavailable
from chalicelib.functions.partial_batch import Message, Response, process_batch
from chalicelib.log import logger
from chalicelib.metrics import metric_fields
from chalicelib.queues import ERASURES
from chalicelib.services.erasure.erase import (
    continue_erasure,
    defer,
    record_failure,
    record_start,
)


class _Result(Enum):
    """The result of processing one message. The enum value is the log event."""

    CONTINUED = "erasure continued"
    RESCHEDULED = "erasure rescheduled"
    DEFERRED = "erasure deferred"
    PARKED = "erasure parked"


def erase_customer(event: SQSEvent) -> Response:
    """Run one pass of the erasure that each message points to.

    A failure is recorded and the erasure is rescheduled. If the database is unavailable, the
    erasure is deferred without recording a failure.
    """
    return process_batch(event, ERASURES, ErasurePointer, _process)


def _process(message: Message[ErasurePointer]) -> None:
    pointer = message.pointer
    result = _process_one(pointer, is_redelivery=message.is_redelivery)
    logger.info(
        result.value,
        account_id=pointer.account_id,
        erasure_id=pointer.erasure_id,
        **metric_fields(
            "work",
            "erasure",
            parked=int(result is _Result.PARKED),
            done=int(result is _Result.CONTINUED),
        ),
    )


def _process_one(pointer: ErasurePointer, *, is_redelivery: bool) -> _Result:
    try:
        if is_redelivery and record_start(pointer):
            return _Result.PARKED
        continue_erasure(pointer)
    except Unavailable:
        defer(pointer)
        return _Result.DEFERRED
    except Exception as error:
        logger.exception(
            "erasure raised an exception",
            erasure_id=pointer.erasure_id,
            **metric_fields("work", "erasure", exceptions=1),
        )
        is_parked = record_failure(pointer, type(error).__name__)
        return _Result.PARKED if is_parked else _Result.RESCHEDULED
    return _Result.CONTINUED
