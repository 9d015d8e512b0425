"""Counts the requests that leave for AWS, so that logs show and tests assert the cost.

Every botocore client that the project makes is handed to `count_calls_of`.
"""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

_counter: ContextVar[Counter[str] | None] = ContextVar("aws_calls", default=None)


def count_calls_of(client: Any) -> None:
    """Counts each request that this botocore client sends, retries included."""
    client.meta.events.register("before-send.*.*", _count, unique_id="aws-calls")


@contextmanager
def counted_calls() -> Iterator[Counter[str]]:
    """Requests sent inside the block, by operation: ``{"dynamodb.GetItem": 1}``.

    A block around this one counts them too.
    """
    counter: Counter[str] = Counter()
    token = _counter.set(counter)
    try:
        yield counter
    finally:
        _counter.reset(token)
        around = _counter.get()
        if around is not None:
            around.update(counter)


def _count(event_name: str, **_: Any) -> None:
    counter = _counter.get()
    if counter is not None:
        counter[event_name.removeprefix("before-send.")] += 1
