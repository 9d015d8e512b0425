"""The function of every minute: whatever is overdue goes back on its queue."""

from typing import Final

from chalice.app import CloudWatchEvent

from chalicelib.functions.measuring import measured
from chalicelib.log import logger
from chalicelib.services.kinds_of_work import ALL_WORK
from chalicelib.services.sweep import sweep as sweep_work

_TIME_TO_STOP_MS: Final = 10_000


def sweep(event: CloudWatchEvent) -> None:
    """Sweeps every kind of work; one kind's failure does not keep the others from their turn."""

    def has_time_left() -> bool:
        remaining = getattr(event.context, "get_remaining_time_in_millis", None)
        return remaining is None or remaining() > _TIME_TO_STOP_MS

    failures = []
    for work in ALL_WORK:
        try:
            swept = sweep_work(work, has_time_left)
        except Exception as error:
            logger.exception("sweep failed", work=work.records.kind)
            failures.append(error)
            continue
        logger.info("sweep", **measured(work.records.kind, swept=swept))
    if failures:
        raise failures[0]
