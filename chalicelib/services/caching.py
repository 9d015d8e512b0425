"""Cache rarely changing data, such as credentials and forms, in process memory for a minute."""

import time
from collections.abc import Callable, Hashable
from contextlib import suppress
from threading import Lock
from typing import Any, Final, Generic, ParamSpec, TypeVar

from cachetools import TTLCache
from cachetools.keys import hashkey

CACHE_TTL_S: Final = 55
"""The number of seconds after which a cached result expires.

Changes must take effect within a minute. A request that is in progress when a result expires can
still use the result; the remaining five seconds of the minute allow for this.
"""

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")

_key_of: Final[Callable[..., Hashable]] = hashkey
_caches: Final[list[TTLCache[Any, Any]]] = []


def wall_clock_s() -> float:
    """Return the wall-clock time in seconds.

    Cached data must also expire while Lambda freezes the process. A monotonic clock can stop then.
    """
    return time.time()


class CachedFunction(Generic[Arguments, Result]):
    """A function that caches its results; see `cached`."""

    def __init__(
        self,
        function: Callable[Arguments, Result],
        at_most: int,
        size_of: Callable[[Result], int],
    ) -> None:
        self._function = function
        self._results: TTLCache[Hashable, Result] = TTLCache(
            maxsize=at_most,
            ttl=CACHE_TTL_S,
            timer=lambda: wall_clock_s(),
            getsizeof=lambda result: min(at_most, size_of(result)),
        )
        self._lock = Lock()
        _caches.append(self._results)

    def __call__(self, *args: Arguments.args, **kwargs: Arguments.kwargs) -> Result:
        """Return the cached result, or call the function."""
        result = self.cached(*args, **kwargs)
        return self.refresh(*args, **kwargs) if result is None else result

    def cached(self, *args: Arguments.args, **kwargs: Arguments.kwargs) -> Result | None:
        """Return the cached result, or None if there is none."""
        with self._lock, suppress(KeyError):
            return self._results[_key_of(*args, **kwargs)]
        return None

    def refresh(self, *args: Arguments.args, **kwargs: Arguments.kwargs) -> Result:
        """Call the function and cache the result."""
        result = self._function(*args, **kwargs)
        if result is not None:
            self.store(result, *args, **kwargs)
        return result

    def store(self, result: Result, *args: Arguments.args, **kwargs: Arguments.kwargs) -> None:
        """Cache a result for these arguments that the caller has loaded."""
        with self._lock:
            self._results[_key_of(*args, **kwargs)] = result


def cached(
    at_most: int,
    size_of: Callable[[Any], int] = lambda _: 1,
) -> Callable[[Callable[Arguments, Result]], CachedFunction[Arguments, Result]]:
    """Return a decorator that caches the results of a function for `CACHE_TTL_S` seconds.

    A result of None is not cached, so a new record is visible as soon as it exists.

    Args:
        at_most: the maximum number of cached results, or their maximum total size. The least
            recently used results are removed first.
        size_of: returns the size of a result, at least 1. A result that is larger than ``at_most``
            is cached alone. Default: each result has the size 1.
    """

    return lambda function: CachedFunction(function, at_most, size_of)


def clear_caches() -> None:
    """Remove all results from all caches."""
    for results in _caches:
        results.clear()
