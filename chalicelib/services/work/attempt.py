"""Run one attempt of work, and record an attempt that ends without an outcome."""

from collections.abc import Callable
from typing import Any, TypeVar

from chalicelib.domain import clock
from chalicelib.domain.errors import Unavailable
from chalicelib.domain.work import Interruption
from chalicelib.log import logger
from chalicelib.metrics import metric_fields
from chalicelib.storage.dynamodb.work_records import WorkRecords

Outcome = TypeVar("Outcome")


def attempt_work(
    records: WorkRecords[Any],
    owner_id: str,
    part: str,
    work: Callable[[], Outcome],
    *,
    is_redelivery: bool = False,
) -> Outcome | Interruption:
    """Call ``work`` and return its outcome. If it raises an exception, reschedule the work record.

    Contention, throttling and too little time defer the record. Each other exception, and a state
    that blocks the work, count as a failure. After the last allowed attempt, the record is parked.

    Args:
        is_redelivery: whether an earlier invocation may have started the work. If it recorded a
            start and no outcome, this counts as a failure.

    Raises:
        Unavailable: the record cannot be rescheduled, because the database is unavailable. SQS
            delivers the message again.
    """
    try:
        if is_redelivery and records.record_start(owner_id, part, clock.now()):
            return Interruption.PARKED
        return work()
    except Exception as error:
        fields: dict[str, Any] = {"owner_id": owner_id, "part": part}
        if isinstance(error, Unavailable):
            logger.warning("work interrupted", work=records.kind, reason=str(error), **fields)
        else:
            logger.exception(
                "work raised an exception",
                **fields,
                **metric_fields("work", records.kind, exceptions=1),
            )
        return records.interrupt(owner_id, part, error, clock.now())
