"""Time limits of AWS requests, and the remaining time of the current invocation.

A function must not be stopped while it waits for AWS. Therefore a request is sent only if enough
time is left for the longest possible duration of the request.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from math import inf
from typing import Any, Final

CONNECT_TIMEOUT_S: Final = 1.0
READ_TIMEOUT_S: Final = 2.0
MAX_ATTEMPTS: Final = 2
_MAX_BOTOCORE_PAUSE_S: Final = 1.0
"""Botocore pauses for up to one second after the first throttled attempt."""

MAX_CALL_S: Final = (
    MAX_ATTEMPTS * (CONNECT_TIMEOUT_S + READ_TIMEOUT_S) + (MAX_ATTEMPTS - 1) * _MAX_BOTOCORE_PAUSE_S
)
"""The longest time that a call of an AWS client can take, including botocore's retries."""

MIN_CALL_S: Final = MAX_CALL_S + 1.0
"""The time that must be left to send an AWS request.

After the request, at least one second is left to return a response.
"""

MIN_WORK_S: Final = MAX_CALL_S + MIN_CALL_S
"""The time that must be left to start processing a record. This time includes storing the outcome.
"""

SEND_READ_TIMEOUT_S: Final = 10.0
"""The time-out of reading the response of a provider that sends messages.

It is longer than for other AWS requests, because after a time-out the outcome is unknown.
"""

MAX_SEND_S: Final = CONNECT_TIMEOUT_S + SEND_READ_TIMEOUT_S
"""The maximum time to send one message, in a single attempt."""

REQUEST_RETRY_S: Final = 3.0
"""The maximum time in seconds for all retries of an operation while a client waits for it."""

WORK_RETRY_S: Final = 20.0
"""The maximum time in seconds for all retries of a worker's operation.

If the function has less time left, that time is the limit.
"""


@dataclass(frozen=True)
class _Invocation:
    time_left_s: Callable[[], float] = lambda: inf
    retry_s: float = REQUEST_RETRY_S
    reserve_s: float = MIN_CALL_S


_current: ContextVar[_Invocation] = ContextVar("invocation", default=_Invocation())  # noqa: B039


@contextmanager
def invocation(
    context: Any, *, retry_s: float = REQUEST_RETRY_S, reserve_s: float = MIN_CALL_S
) -> Iterator[None]:
    """Apply the time limits of an invocation inside the ``with`` block.

    Args:
        context: the Lambda context. If the context does not provide the remaining time, there is no
            time-out.
        retry_s: the longest time that one operation spends in pauses between its retries.
        reserve_s: the remaining time below which operations do not retry.
    """
    remaining_ms = getattr(context, "get_remaining_time_in_millis", None)
    left_s = (lambda: remaining_ms() / 1000) if remaining_ms else (lambda: inf)
    token = _current.set(_Invocation(left_s, retry_s, reserve_s))
    try:
        yield
    finally:
        _current.reset(token)


@contextmanager
def reserve(reserve_s: float) -> Iterator[None]:
    """Replace the remaining time below which operations of the ``with`` block do not retry."""
    token = _current.set(replace(_current.get(), reserve_s=reserve_s))
    try:
        yield
    finally:
        _current.reset(token)


def time_left_s() -> float:
    """Return the seconds until Lambda stops the invocation. Outside Lambda, return infinity."""
    return _current.get().time_left_s()


def retry_s() -> float:
    """Return the longest time that one operation may spend in pauses between its retries."""
    return _current.get().retry_s


def has_time_to_retry(pause_s: float) -> bool:
    """Return whether enough time is left for a pause and another attempt of an operation."""
    current = _current.get()
    return current.time_left_s() >= pause_s + current.reserve_s


def has_time_for_work() -> bool:
    """Return whether enough time is left to process another record."""
    return time_left_s() >= MIN_WORK_S


def has_time_for_call() -> bool:
    """Return whether enough time is left for the longest possible AWS request."""
    return time_left_s() >= MIN_CALL_S
