"""Run the sweep on the local cloud with a clock that is ahead.

Deferred work, and work of a killed function, becomes due only after some minutes.
"""

import subprocess
import sys

from tests.e2e.cloud import Cloud

_SWEEP = """
import sys
from datetime import timedelta
from chalicelib.domain import clock
real = clock.now
clock.now = lambda: real() + timedelta(minutes=int(sys.argv[1]))
from chalicelib.services.customers.request_positions import request_overdue_positions
from chalicelib.services.work.kinds import ALL_WORK
from chalicelib.services.work.sweep import sweep
for work in ALL_WORK:
    sweep(work)
request_overdue_positions(lambda: True)
"""


def sweep(cloud: Cloud, *, minutes_ahead: int = 7) -> None:
    """Requeue all work that becomes due within some minutes, seven by default."""
    subprocess.run(
        [sys.executable, "-c", _SWEEP, str(minutes_ahead)], env=cloud.environment(), check=True
    )
