"""Retry AWS requests while a resource is busy."""

import time
from collections.abc import Callable

_TIMEOUT_S = 120
_PAUSE_S = 2


def retry_while(error: type[Exception], request: Callable[[], object]) -> None:
    """Send a request. Repeat the request while it raises this error, for at most two minutes."""
    deadline = time.monotonic() + _TIMEOUT_S
    while True:
        try:
            request()
        except error:
            if time.monotonic() > deadline:
                raise
            time.sleep(_PAUSE_S)
        else:
            return
