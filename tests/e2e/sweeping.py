"""Run the sweep on the local cloud before the work is due.

Deferred work, and work of a killed function, becomes due only after some minutes.
"""

import subprocess
import sys
import time
from collections.abc import Callable

from tests.e2e.cloud import Cloud
from tests.e2e.public_forms import wait_until

STALLED_S = 8
"""Time in seconds without progress after which only a sweep continues the work."""

_SWEEP = """
import sys
from datetime import timedelta
from chalicelib.domain import clock
from chalicelib.services.customers.request_positions import request_overdue_positions
from chalicelib.services.work.kinds import ALL_WORK
from chalicelib.services.work.sweep import sweep
from chalicelib.storage.dynamodb.work_records import WorkRecords
ahead = timedelta(minutes=int(sys.argv[1]))
overdue, now = WorkRecords.overdue, clock.now
WorkRecords.overdue = lambda records, now, at_once: overdue(records, now + ahead, at_once)
for work in ALL_WORK:
    sweep(work)
clock.now = lambda: now() + ahead
request_overdue_positions()
"""


def sweep(cloud: Cloud, *, minutes_ahead: int = 7) -> None:
    """Requeue all work that becomes due within some minutes, seven by default.

    The new due times do not depend on ``minutes_ahead``, so the next sweep can requeue the same
    work again.
    """
    subprocess.run(
        [sys.executable, "-c", _SWEEP, str(minutes_ahead)], env=cloud.environment(), check=True
    )


def sweep_until_finished(cloud: Cloud, unfinished: Callable[[], int], within_s: float) -> None:
    """Wait until all work is finished. Run a sweep whenever the work stalls.

    Args:
        unfinished: returns the amount of unfinished work.
    """
    before, progress_at = 0, time.monotonic()

    def is_finished() -> bool:
        nonlocal before, progress_at
        count = unfinished()
        if count != before:
            before, progress_at = count, time.monotonic()
        elif count and time.monotonic() > progress_at + STALLED_S:
            # Work that was requeued in vain becomes due up to an hour later.
            sweep(cloud, minutes_ahead=61)
            progress_at = time.monotonic()
        return not count

    wait_until(is_finished, within_s, pause_s=1)
