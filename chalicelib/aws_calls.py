"""What all botocore clients of the project share: a name, and that their requests are counted.

Logs show and tests assert the cost. Every client is handed to `count_calls_of`.
"""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Final

AGENT: Final = "feedback-platform/1.0"
"""Who asks. A text that is given spares botocore the making of a longer one for each request."""

_counter: ContextVar[Counter[str] | None] = ContextVar("aws_calls", default=None)


def count_calls_of(client: Any) -> None:
    """Counts each request that this botocore client sends, retries included."""
    client.meta.events.register("before-send.*.*", _count, unique_id="aws-calls")


def keep_one_endpoint(client: Any) -> None:
    """Spares this botocore client working out for each request an endpoint that never changes.

    Rules make it from the region and the client's settings, and from an account that an ARN or the
    credentials name; these clients name tables and queues otherwise, and any account's requests may
    go to the region's own endpoint. Botocore does without rules where a service has none.
    """
    client._ruleset_resolver = None


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
