"""Values of the stage that are read from AWS and cached. The TTL is measured in wall-clock time.

The secret of the stage is the key of contact hashes and link signatures. The deployment stores the
public base URL of the API; links in messages use it.
"""

import time
from collections.abc import Callable
from threading import Lock
from typing import Final

from botocore.exceptions import BotoCoreError, ClientError

from chalicelib.aws_calls import aws_client
from chalicelib.domain.errors import Unavailable
from chalicelib.log import logger
from chalicelib.settings import settings

SECRET_NAME: Final = "stage-secret"  # noqa: S105 - a name
PARAMETER_NAME: Final = "public-base-url"
"""The name of the parameter with the public base URL."""

RETRY_AFTER_S: Final = 60
"""The seconds until an expired value is read again after a failed read."""


class StageValue:
    """A cached value of the stage.

    If an expired value cannot be read again, it stays in use, and the next attempt to read it
    follows after `RETRY_AFTER_S` seconds.

    Args:
        service: the AWS service that stores the value.
        load: reads the value.
        ttl_s: the number of seconds for which the value is cached.
    """

    def __init__(self, service: str, load: Callable[[], str], ttl_s: float) -> None:
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
            return self._load()
        except (BotoCoreError, ClientError) as error:
            raise Unavailable(f"A value of the stage cannot be read ({self._service}).") from error


def stage_secret() -> bytes:
    """Return the secret of the stage, cached for an hour. One AWS request if it is not cached.

    Raises:
        Unavailable: this process never read the secret, and it cannot be read.
    """
    return _secret().encode()


def forget_stage_secret() -> None:
    """Discard the cached secret. Tests use this to replace the AWS endpoint."""
    _secret.forget()


def public_base_url() -> str:
    """Return the base URL without a trailing slash. The setting for a custom domain overrides it.

    One AWS request if it is not cached.

    Raises:
        Unavailable: this process never read the URL, and it cannot be read.
    """
    return settings().public_base_url or _stored_url()


def _load_secret() -> str:
    name = settings().resource_name(SECRET_NAME)
    response = aws_client("secretsmanager").get_secret_value(SecretId=name)
    return str(response["SecretString"])


def _load_url() -> str:
    name = settings().resource_name(PARAMETER_NAME)
    response = aws_client("ssm").get_parameter(Name=name)
    return str(response["Parameter"]["Value"])


_secret: Final = StageValue("secretsmanager", _load_secret, ttl_s=3600)
_stored_url: Final = StageValue("ssm", _load_url, ttl_s=60)
