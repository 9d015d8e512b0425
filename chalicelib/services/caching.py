"""Cache what changes rarely in process memory for up to a minute: credentials, names, forms."""

import time
from collections.abc import Callable, Hashable
from contextlib import suppress
from threading import Lock
from typing import Any, Final, ParamSpec, TypeVar

from cachetools import TTLCache
from cachetools.keys import hashkey

CACHE_TTL_S: Final = 55
"""Shorter than the promised minute, to leave room for the duration of the request itself."""

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")

_caches: Final[list[TTLCache[Any, Any]]] = []


def wall_clock_s() -> float:
    """Return the wall-clock time in seconds.

    Wall-clock time also advances while Lambda freezes the process; a monotonic clock stops.
    """
    return time.time()


def cached(
    at_most: int, key: Callable[..., Hashable] = hashkey
) -> Callable[[Callable[Arguments, Result]], Callable[Arguments, Result]]:
    """Cache the last ``at_most`` results of a function, each for `CACHE_TTL_S` seconds.

    None is not cached, so a new record is visible as soon as it exists.

    Args:
        key: builds the cache key from the function's arguments. With `id`, the result must keep a
            reference to the argument: otherwise a later object can get the same id.
    """

    def decorate(function: Callable[Arguments, Result]) -> Callable[Arguments, Result]:
        results: TTLCache[Hashable, Result] = TTLCache(
            maxsize=at_most, ttl=CACHE_TTL_S, timer=lambda: wall_clock_s()
        )
        lock = Lock()
        _caches.append(results)

        def cached_function(*args: Arguments.args, **kwargs: Arguments.kwargs) -> Result:
            cache_key = key(*args, **kwargs)
            with lock, suppress(KeyError):
                return results[cache_key]
            result = function(*args, **kwargs)
            if result is not None:
                with lock:
                    results[cache_key] = result
            return result

        return cached_function

    return decorate


def clear_caches() -> None:
    """Empty every cache."""
    for results in _caches:
        results.clear()
