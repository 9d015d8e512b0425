"""The secret of the stage, from Secrets Manager. It keys the hashes of contacts and signs links."""

import time
from functools import cache
from threading import Lock
from typing import Any, Final

from botocore.exceptions import BotoCoreError, ClientError
from botocore.session import get_session

from chalicelib.aws_calls import client_config, count_calls_of
from chalicelib.domain.errors import Unavailable
from chalicelib.settings import settings

SECRET_NAME: Final = "stage-secret"  # noqa: S105 - a name
_TTL_S: Final = 3600

_lock: Final = Lock()
_cached: tuple[bytes, float] | None = None


def stage_secret() -> bytes:
    """Return the secret of the stage, cached for an hour. One AWS request if it is not cached.

    Raises:
        Unavailable: Secrets Manager throttles or does not respond.
    """
    global _cached
    with _lock:
        if _cached is None or not 0 <= time.time() - _cached[1] < _TTL_S:
            _cached = (_load(), time.time())
        return _cached[0]


def forget_stage_secret() -> None:
    """Discard the cached secret and the client. Tests use this to replace the AWS endpoint."""
    global _cached
    _cached = None
    _client.cache_clear()


def _load() -> bytes:
    try:
        response = _client().get_secret_value(SecretId=settings().resource_name(SECRET_NAME))
    except (BotoCoreError, ClientError) as error:
        raise Unavailable("The secret of the stage cannot be read.") from error
    return str(response["SecretString"]).encode()


@cache
def _client() -> Any:
    client = get_session().create_client(
        "secretsmanager", region_name=settings().region, config=client_config()
    )
    count_calls_of(client)
    return client
