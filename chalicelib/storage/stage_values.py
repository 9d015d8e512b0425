"""Values of the stage that are read from AWS and cached. The TTL is measured in wall-clock time."""

import time
from collections.abc import Callable
from threading import Lock
from typing import Any, Final

from botocore.exceptions import BotoCoreError, ClientError

from chalicelib.aws_calls import aws_client
from chalicelib.domain.errors import Unavailable
from chalicelib.log import logger

RETRY_AFTER_S: Final = 60
"""The seconds until an expired value is read again after a failed read."""


class StageValue:
    """A cached value of the stage.

    If an expired value cannot be read again, it stays in use, and the next attempt to read it
    follows after `RETRY_AFTER_S` seconds.

    Args:
        service: the AWS service that stores the value.
        load: reads the value with a client of the service.
        ttl_s: the number of seconds for which the value is cached.
    """

    def __init__(self, service: str, load: Callable[[Any], str], ttl_s: float) -> None:
        self._service = service
        self._load = load
        self._ttl_s = ttl_s
        self._lock = Lock()
        self._cached: tuple[str, float] | None = None

    def __call__(self) -> str:
        """Return the value. One AWS request if it is not cached.

        Raises:
            Unavailable: this process never read the value, and the service throttles or does not
                respond, or has no such value.
        """
        with self._lock:
            if self._cached is None:
                self._cached = (self._read(), time.time())
            elif not 0 <= time.time() - self._cached[1] < self._ttl_s:
                self._cached = self._refreshed(self._cached[0])
            return self._cached[0]

    def forget(self) -> None:
        """Discard the cached value. Tests use this to replace the AWS endpoint."""
        self._cached = None

    def _refreshed(self, expired: str) -> tuple[str, float]:
        try:
            return self._read(), time.time()
        except Unavailable:
            logger.warning("expired value of the stage used", service_name=self._service)
            return expired, time.time() - self._ttl_s + min(RETRY_AFTER_S, self._ttl_s)

    def _read(self) -> str:
        try:
            return self._load(aws_client(self._service))
        except (BotoCoreError, ClientError) as error:
            raise Unavailable(f"A value of the stage cannot be read ({self._service}).") from error
