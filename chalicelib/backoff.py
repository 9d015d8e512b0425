"""Pause between the attempts of an operation that AWS throttles or that conflicts with another."""

import random
import time
from typing import Final

from chalicelib.time_limits import has_time_to_retry, retry_s

_FIRST_PAUSE_S: Final = 0.01
MAX_PAUSE_S: Final = 0.4


class Backoff:
    """The pauses between the attempts of one operation.

    A pause has a random length. The first takes at most 10 ms. The maximum doubles with each
    attempt, up to 400 ms.
    """

    _next_s = _FIRST_PAUSE_S
    _paused_s = 0.0

    def pause(self) -> bool:
        """Sleep for a random time and return True.

        Return False immediately if the time for retries is used up or too little of the function's
        time is left.
        """
        if self._paused_s + self._next_s > retry_s() or not has_time_to_retry(self._next_s):
            return False
        self._paused_s += self._next_s
        time.sleep(random.uniform(0, self._next_s))  # noqa: S311 - jitter, not a secret
        self._next_s = min(MAX_PAUSE_S, 2 * self._next_s)
        return True
