"""Run the sweep on the local cloud before the work is due.

Deferred work, and work of a killed function, becomes due only after some minutes.
"""

import time
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from chalicelib.domain import clock
from chalicelib.services.caching import clear_caches
from chalicelib.services.customers.request_positions import request_overdue_positions
from chalicelib.services.work.kinds import ALL_WORK
from chalicelib.services.work.sweep import sweep as sweep_work
from chalicelib.storage.dynamodb.work_records import WorkRecords
from tests.e2e.cloud import Cloud
from tests.waiting import wait_until

STALLED_S = 8
"""Time in seconds without progress after which only a sweep continues the work."""


def sweep(*, minutes_ahead: int = 7) -> None:
    """Requeue all work that becomes due within some minutes, seven by default.

    The new due times do not depend on ``minutes_ahead``, so the next sweep can requeue the same
    work again.
    """
    ahead, overdue, now = timedelta(minutes=minutes_ahead), WorkRecords.overdue, clock.now
    clear_caches()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            WorkRecords,
            "overdue",
            lambda records, now, at_once: overdue(records, now + ahead, at_once),
        )
        for work in ALL_WORK:
            sweep_work(work)
        patch.setattr(clock, "now", lambda: now() + ahead)
        request_overdue_positions()


def end_waits(cloud: Cloud, table: str, attribute: str) -> None:
    """Move a time until which work waits to the past, for all rows of a table.

    Args:
        attribute: ``leased_until`` if all claiming functions are dead; ``not_before`` for delays.
    """
    dynamodb, name = cloud.client("dynamodb"), cloud.resource_name(table)
    schema = dynamodb.describe_table(TableName=name)["Table"]["KeySchema"]
    waiting = {"TableName": name, "FilterExpression": f"attribute_exists({attribute})"}
    for page in dynamodb.get_paginator("scan").paginate(**waiting):
        for row in page["Items"]:
            _change(
                dynamodb,
                TableName=name,
                Key={key["AttributeName"]: row[key["AttributeName"]] for key in schema},
                UpdateExpression=f"SET {attribute} = :now",
                ConditionExpression=f"{attribute} = :before",
                ExpressionAttributeValues={
                    ":now": {"N": str(int(time.time()) - 1)},
                    ":before": row[attribute],
                },
            )


def _change(dynamodb: Any, **update: Any) -> None:
    """Update a row if the condition is true. Repeat the request after an injected conflict."""
    while True:
        try:
            dynamodb.update_item(**update)
        except dynamodb.exceptions.TransactionConflictException:
            continue
        except dynamodb.exceptions.ConditionalCheckFailedException:
            return
        return


def sweep_until_finished(
    unfinished: Callable[[], int],
    within_s: float,
    when_stalled: Callable[[], object] = lambda: None,
) -> None:
    """Wait until all work is finished. Run a sweep whenever the work stalls.

    Args:
        unfinished: returns the amount of unfinished work.
        when_stalled: is called before the sweep.
    """
    before, progress_at = 0, time.monotonic()

    def is_finished() -> bool:
        nonlocal before, progress_at
        count = unfinished()
        if count != before:
            before, progress_at = count, time.monotonic()
        elif count and time.monotonic() > progress_at + STALLED_S:
            when_stalled()
            # Work that was requeued in vain becomes due up to an hour later.
            sweep(minutes_ahead=61)
            progress_at = time.monotonic()
        return not count

    wait_until(is_finished, within_s, pause_s=1)
