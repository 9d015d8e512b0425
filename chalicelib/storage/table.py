"""What every table shares: one DynamoDB client for the process, the stage's names, one kind of failure.

Repositories are the only callers. Nothing outside `storage` sees a PynamoDB model or error.
"""

from typing import Any, ClassVar, Final, cast

from botocore.exceptions import (
    ClientError,
    ConnectionError,
    ConnectTimeoutError,
    HTTPClientError,
    ReadTimeoutError,
)
from pynamodb.connection import Connection
from pynamodb.connection.table import TableConnection
from pynamodb.models import Model

from chalicelib.aws_calls import count_calls_of
from chalicelib.domain.errors import Unavailable
from chalicelib.settings import settings

_PASSING_FAILURES: Final = frozenset(
    {
        "InternalServerError",
        "ProvisionedThroughputExceededException",
        "RequestLimitExceeded",
        "ServiceUnavailable",
        "ThrottlingException",
        "TransactionInProgressException",
    }
)
_CONNECT_TIMEOUT_S: Final = 1.0
_READ_TIMEOUT_S: Final = 4.0
_ATTEMPTS: Final = 3


class SharedConnection(Connection):
    """The process's one connection to DynamoDB.

    PynamoDB gives each model a client of its own; one for all saves each further table some 50 ms
    at a cold start, and its TLS handshake. Throttling and unanswered requests become `Unavailable`.
    """

    @property
    def client(self) -> Any:
        """The botocore client, made on first use and counted."""
        fresh = self._client is None
        client = super().client
        if fresh:
            count_calls_of(client)
        return client

    def _make_api_call(self, operation_name: str, operation_kwargs: dict[str, Any]) -> dict[str, Any]:
        try:
            return super()._make_api_call(operation_name, operation_kwargs)
        except ClientError as error:
            if error.response["Error"]["Code"] in _PASSING_FAILURES:
                raise Unavailable("The database is busy.") from error
            raise
        except (ConnectionError, ConnectTimeoutError, HTTPClientError, ReadTimeoutError) as error:
            raise Unavailable("The database does not answer.") from error


_shared: SharedConnection | None = None


def connection() -> SharedConnection:
    """The process's one connection, made on first use."""
    global _shared
    if _shared is None:
        _shared = SharedConnection(
            region=settings().region,
            connect_timeout_seconds=_CONNECT_TIMEOUT_S,
            read_timeout_seconds=_READ_TIMEOUT_S,
            max_retry_attempts=_ATTEMPTS - 1,
            max_pool_connections=10,
        )
    return _shared


def forget_connection() -> None:
    """Makes the next request open a connection anew, for tests that change the world beneath."""
    global _shared
    _shared = None


class Table(Model):
    """A table of this stage. A subclass's ``Meta`` says only its ``name``: ``"customers"``."""

    Meta: ClassVar[Any]

    @classmethod
    def _get_connection(cls) -> TableConnection:
        shared = connection()
        if cls._connection is None or cls._connection.connection is not shared:
            cls.Meta.table_name = settings().resource_name(cls.Meta.name)
            cls.Meta.region = settings().region
            cls._connection = None
            of_this_table = super()._get_connection()
            meta_table = of_this_table.get_meta_table()
            if meta_table.table_name not in shared._tables:
                shared.add_meta_table(meta_table)
            of_this_table.connection = shared
        return cast(TableConnection, cls._connection)


def account_key(account_id: str, own_id: str) -> str:
    """The hash key of a record that only its account may find."""
    return f"{account_id}#{own_id}"
