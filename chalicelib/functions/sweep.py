"""Requeue overdue work. A schedule invokes this function every minute."""

from collections.abc import Callable
from functools import partial
from typing import Any

from chalice.app import CloudWatchEvent

from chalicelib.concurrency import map_concurrently
from chalicelib.domain.work import Swept
from chalicelib.log import logger
from chalicelib.metrics import metric_fields
from chalicelib.services.customers.request_positions import request_overdue_positions
from chalicelib.services.feedback.retention import anonymize_old_feedback
from chalicelib.services.work.kinds import ALL_WORK, KindOfWork
from chalicelib.services.work.sweep import sweep as sweep_work
from chalicelib.time_limits import MIN_WORK_S, WORK_RETRY_S, invocation, time_left_s


def sweep(event: CloudWatchEvent) -> None:
    """Requeue overdue work of every kind until none is left or the function's time runs out.

    The kinds are swept concurrently, so that a failure or a backlog of one kind does not block the
    others. At the same time, positions for unlisted customers are requested once for each account.
    Feedback that is older than the retention period of its account is anonymized afterwards, up to
    a maximum number of records per invocation. If one part fails, the exception is raised after the
    other parts have run.
    """
    parts: list[Callable[[], Exception | None]] = [
        *(partial(_sweep_kind, kind) for kind in ALL_WORK),
        _sweep_listing,
    ]
    with invocation(event.context, retry_s=WORK_RETRY_S, reserve_s=MIN_WORK_S):
        errors = map_concurrently(lambda part: part(), parts, len(parts))
        errors.append(_anonymize_old_feedback())
    for error in errors:
        if error:
            raise error


def _sweep_kind(work: KindOfWork) -> Exception | None:
    kind = work.records.kind
    try:
        swept = sweep_work(work, lambda: time_left_s() >= MIN_WORK_S)
    except Exception as error:
        logger.exception("sweep failed", work=kind)
        return error
    logger.info("overdue work requeued", **_metrics(kind, swept))
    return None


def _sweep_listing() -> Exception | None:
    try:
        swept = request_overdue_positions(lambda: time_left_s() >= MIN_WORK_S)
    except Exception as error:
        logger.exception("sweep failed", work="listing")
        return error
    logger.info("overdue positions requested", **_metrics("listing", swept))
    return None


def _metrics(kind: str, swept: Swept) -> dict[str, Any]:
    return metric_fields("work", kind, swept=swept.records, oldest=swept.oldest_s)


def _anonymize_old_feedback() -> Exception | None:
    try:
        anonymized = anonymize_old_feedback(lambda: time_left_s() >= MIN_WORK_S)
    except Exception as error:
        logger.exception("sweep failed", work="retention")
        return error
    logger.info("old feedback anonymized", **metric_fields("work", "retention", swept=anonymized))
    return None
