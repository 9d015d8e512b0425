"""Answers that a warm function may hold for up to a minute: credentials, names, forms."""

import time
from collections.abc import Callable
from threading import Lock
from typing import Any, Final, ParamSpec, TypeVar

from cachetools import TTLCache
from cachetools.keys import hashkey

CACHE_TTL_S: Final = 55
"""Less than the minute that is promised, so that the time of the request itself fits in."""

Asked = ParamSpec("Asked")
Answer = TypeVar("Answer")

_all: Final[list[TTLCache[Any, Any]]] = []


def monotonic() -> float:
    """Seconds on a clock that only goes forward; tests move it."""
    return time.monotonic()


def cached(at_most: int) -> Callable[[Callable[Asked, Answer]], Callable[Asked, Answer]]:
    """Holds the last ``at_most`` answers of a function, each for `CACHE_TTL_S` seconds.

    None is not held: what does not exist yet is seen as soon as it does.
    """

    def decorate(function: Callable[Asked, Answer]) -> Callable[Asked, Answer]:
        answers: TTLCache[Any, Answer] = TTLCache(
            maxsize=at_most, ttl=CACHE_TTL_S, timer=lambda: monotonic()
        )
        lock = Lock()
        _all.append(answers)

        def ask(*args: Asked.args, **kwargs: Asked.kwargs) -> Answer:
            key = hashkey(*args, *kwargs.items())
            with lock:
                if key in answers:
                    return answers[key]
            answer = function(*args, **kwargs)
            if answer is not None:
                with lock:
                    answers[key] = answer
            return answer

        return ask

    return decorate


def clear_caches() -> None:
    """Makes every held answer be asked for again."""
    for answers in _all:
        answers.clear()
