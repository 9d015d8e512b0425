"""Wait until a condition is true."""

import time
from collections.abc import Callable

WAIT_S = 300
"""Maximum time to wait for a condition, long enough for a slow machine."""


def wait_until(
    evaluate: Callable[[], bool],
    within_s: float = WAIT_S,
    *,
    pause_s: float = 0.3,
    opposite: Callable[[], object] = lambda: None,
) -> None:
    """Wait until the condition returns true; fail after the maximum time.

    Args:
        pause_s: the time in seconds between two evaluations of the condition.
        opposite: returns the recorded outcome that excludes the expected one, or a false value. The
            wait fails immediately if there is one.
    """
    deadline = time.monotonic() + within_s
    while not evaluate():
        outcome = opposite()
        assert not outcome, f"the opposite outcome is recorded: {outcome}"
        assert time.monotonic() < deadline, "the condition did not become true in time"
        time.sleep(pause_s)
