"""Create the botocore clients of the process, and count the AWS requests that they send.

The request log contains the counts, and tests check them.
"""

import os
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from threading import Lock
from typing import Any, Final

from botocore.config import Config
from botocore.session import get_session

from chalicelib import __version__
from chalicelib.settings import settings
from chalicelib.time_limits import CONNECT_TIMEOUT_S, MAX_ATTEMPTS, READ_TIMEOUT_S

_USER_AGENT: Final = f"feedback-platform/{__version__}"
"""A fixed user agent saves time, because botocore otherwise builds a user agent for each request.
"""

_counter: ContextVar[Counter[str] | None] = ContextVar("aws_calls", default=None)
_session: Final = cache(get_session)
_lock: Final = Lock()

_EMULATOR_TIMEOUT_FACTOR: Final = 10
"""The factor by which the time-outs are multiplied for requests to the emulator.

The emulator and all functions share the processors of one machine, so responses can be slow.
"""


def client_config() -> Config:
    """Return the configuration of all AWS clients. On AWS, no call exceeds `MAX_CALL_S`."""
    factor = _EMULATOR_TIMEOUT_FACTOR if os.environ.get("AWS_ENDPOINT_URL") else 1
    return Config(
        parameter_validation=False,
        connect_timeout=CONNECT_TIMEOUT_S * factor,
        read_timeout=READ_TIMEOUT_S * factor,
        max_pool_connections=50,
        retries={"mode": "standard", "total_max_attempts": MAX_ATTEMPTS},
        user_agent=_USER_AGENT,
    )


@cache
def aws_client(service: str) -> Any:
    """Return the client of an AWS service, created on first use."""
    return create_client(service)


def create_client(service: str, config: Config | None = None) -> Any:
    """Create a client of an AWS service for the region of this process.

    Its requests are counted, including retries. All clients share one session, because creating a
    session takes longer than creating a client.
    """
    with _lock:  # a session is not safe for concurrent threads
        client = _session().create_client(
            service, region_name=settings().region, config=config or client_config()
        )
    client.meta.events.register("before-send.*.*", _count)
    return client


def forget_clients() -> None:
    """Discard the session and the clients. Tests use this to replace the AWS endpoint."""
    _session.cache_clear()
    aws_client.cache_clear()


@contextmanager
def counted_calls() -> Iterator[Counter[str]]:
    """Count the AWS requests of the ``with`` block by operation: ``{"dynamodb.GetItem": 1}``.

    If ``with`` blocks are nested, the outer block also counts the requests of the inner block.
    """
    counter: Counter[str] = Counter()
    token = _counter.set(counter)
    try:
        yield counter
    finally:
        _counter.reset(token)
        enclosing = _counter.get()
        if enclosing is not None:
            enclosing.update(counter)


def _count(event_name: str, **_: Any) -> None:
    counter = _counter.get()
    if counter is not None:
        counter[event_name.removeprefix("before-send.")] += 1
