"""Run the sweeper, which a schedule starts every minute."""

from collections.abc import Callable
from functools import partial
from typing import Any, Final

from chalicelib.concurrency import map_concurrently
from chalicelib.domain.work import Swept
from chalicelib.log import logger
from chalicelib.metrics import metric_fields
from chalicelib.services.customers.request_positions import request_overdue_positions
from chalicelib.services.feedback.retention import anonymize_old_feedback
from chalicelib.services.work.kinds import ALL_WORK
from chalicelib.services.work.sweep import sweep
from chalicelib.time_limits import MIN_WORK_S, WORK_RETRY_S, invocation

_EVENTS: Final = {
    "listing": "overdue positions requested",
    "retention": "old feedback anonymized",
}


def run_sweeper(context: Any) -> None:
    """Requeue overdue work of every kind until none is left or the function's time runs out.

    The kinds are swept concurrently, so that a failure or a backlog of one kind does not block the
    others. At the same time, positions for unlisted customers are requested once for each account,
    and feedback that is older than the retention period of its account is anonymized, up to a
    maximum number of records per invocation. If one part fails, the exception is raised after the
    other parts have run.

    Args:
        context: the Lambda context.
    """
    parts: dict[str, Callable[[], Swept]] = {
        work.records.kind: partial(sweep, work) for work in ALL_WORK
    }
    parts["listing"] = request_overdue_positions
    parts["retention"] = anonymize_old_feedback
    with invocation(context, retry_s=WORK_RETRY_S, reserve_s=MIN_WORK_S):
        errors = map_concurrently(lambda kind: _run(kind, parts[kind]), list(parts), len(parts))
    for error in errors:
        if error:
            raise error


def _run(kind: str, part: Callable[[], Swept]) -> Exception | None:
    """Run a part of the sweep, and log its result. Return its exception, if any."""
    try:
        swept = part()
    except Exception as error:
        logger.exception("sweep failed", work=kind)
        return error
    event = _EVENTS.get(kind, "overdue work requeued")
    metrics = metric_fields("work", kind, swept=swept.records, oldest=swept.oldest_s)
    logger.info(event, **metrics)
    return swept.error
