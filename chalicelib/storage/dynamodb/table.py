"""What every table shares: one client for the process, the stage's names, one kind of failure.

Repositories are the only callers. Nothing outside `storage` sees a PynamoDB model or error.
"""

from collections.abc import Iterator
from threading import RLock
from typing import Any, ClassVar, Final

from botocore.exceptions import ClientError, HTTPClientError
from botocore.exceptions import ConnectionError as NoConnection
from pynamodb.connection import Connection
from pynamodb.connection.table import TableConnection
from pynamodb.expressions.condition import Condition
from pynamodb.models import Model

from chalicelib.domain.errors import Unavailable
from chalicelib.settings import settings
from chalicelib.storage.dynamodb.client import ATTEMPTS, dynamodb_client

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


Plain = dict[str, Any]
"""A row's columns: texts, whole numbers, booleans and sets of texts as such, JSON still as text."""


class SharedConnection(Connection):
    """The process's one connection to DynamoDB.

    PynamoDB gives each model a client of its own; one for all saves each further table some 50 ms
    at a cold start, and its TLS handshake. Throttling and unanswered requests become `Unavailable`.
    """

    @property
    def client(self) -> Any:
        """The client, made on first use."""
        if self._client is None:
            self._client = dynamodb_client()
        return self._client

    def dispatch(self, operation_name: str, operation_kwargs: dict[str, Any]) -> Any:
        """Makes a request, without PynamoDB's signals and its question for the capacity used."""
        return self._make_api_call(operation_name, operation_kwargs)

    def _make_api_call(self, operation_name: str, operation_kwargs: dict[str, Any]) -> Any:
        try:
            return super()._make_api_call(operation_name, operation_kwargs)
        except ClientError as error:
            if error.response["Error"]["Code"] in _PASSING_FAILURES:
                raise Unavailable("The database is busy.") from error
            raise
        except (HTTPClientError, NoConnection) as error:
            raise Unavailable("The database does not answer.") from error


_shared: SharedConnection | None = None
_first_use: Final = RLock()


def connection() -> SharedConnection:
    """The process's one connection, made on first use."""
    global _shared
    if _shared is None:
        _shared = SharedConnection(region=settings().region)
    return _shared


def forget_connection() -> None:
    """Makes the next request open a connection anew, for tests that change the world beneath."""
    global _shared
    _shared = None


class Table(Model):
    """A table of this stage. A subclass's ``Meta`` says only its ``name``: ``"customers"``."""

    Meta: Any
    _joined: ClassVar[TableConnection | None] = None

    @classmethod
    def _get_connection(cls) -> TableConnection:
        shared = connection()
        joined = cls._joined
        if joined is None or joined.connection is not shared:
            with _first_use:  # threads may meet a table for the first time together
                joined = cls._joined
                if joined is None or joined.connection is not shared:
                    joined = cls._joined = cls._join(shared)
        return joined

    @classmethod
    def _join(cls, shared: SharedConnection) -> TableConnection:
        cls.Meta.table_name = settings().resource_name(cls.Meta.name)
        cls.Meta.region = settings().region
        cls._connection = None
        of_this_table = super()._get_connection()
        meta_table = of_this_table.get_meta_table()
        if meta_table.table_name not in shared._tables:
            shared.add_meta_table(meta_table)
        of_this_table.connection = shared
        return of_this_table

    @classmethod
    def plain_get(cls, hash_key: str) -> Plain | None:
        """The row as plain values, or None.

        A third of what a model instance costs, for rows of many columns that are only read.
        """
        table = cls._get_connection().get_meta_table()
        key = {table.hash_keyname: {"S": hash_key}}
        answer = connection().dispatch("GetItem", {"TableName": table.table_name, "Key": key})
        return _plain(answer.get("Item"))

    @classmethod
    def plain_query(
        cls,
        hash_key: str,
        condition: Condition | None = None,
        *,
        index: str | None = None,
        consistent: bool = False,
    ) -> Iterator[Plain]:
        """The rows under a hash key of the table or an index as plain values, page by page."""
        table = cls._get_connection().get_meta_table()
        names = {table.get_index_hash_keyname(index) if index else table.hash_keyname: "#0"}
        values: dict[str, Any] = {":0": {"S": hash_key}}
        keys = "#0 = :0"
        if condition is not None:
            keys += f" AND {condition.serialize(names, values)}"
        asked: dict[str, Any] = {
            "TableName": table.table_name,
            "KeyConditionExpression": keys,
            "ExpressionAttributeNames": {placeholder: name for name, placeholder in names.items()},
            "ExpressionAttributeValues": values,
            "ConsistentRead": consistent,
        }
        if index:
            asked["IndexName"] = index
        while True:
            found = connection().dispatch("Query", asked)
            for item in found["Items"]:
                yield _plain(item) or {}
            if not found.get("LastEvaluatedKey"):
                return
            asked["ExclusiveStartKey"] = found["LastEvaluatedKey"]


def _plain(item: dict[str, dict[str, Any]] | None) -> Plain | None:
    if item is None:
        return None
    return {
        name: int(value) if kind == "N" else value
        for name, typed in item.items()
        for kind, value in typed.items()
    }


def read_together(*wanted: tuple[type[Table], str] | tuple[type[Table], str, str]) -> list[Any]:
    """The rows of several tables under these keys, consistently, in one request.

    Each key is a model, a hash key and, where the table has one, a range key. The answer keeps the
    order; None stands for what is not there. At most 100 keys; none asks for nothing.

    Raises:
        Unavailable: some keys stay unread for want of throughput.
    """
    if not wanted:
        return []
    places: dict[tuple[str, str], int] = {}
    asked: dict[str, dict[str, Any]] = {}
    for place, (model, *key) in enumerate(wanted):
        model._get_connection()
        read = model.get_operation_kwargs_from_class(
            key[0], range_key=key[1] if len(key) > 1 else None
        )
        table = asked.setdefault(read["TableName"], {"Keys": [], "ConsistentRead": True})
        table["Keys"].append(read["Key"])
        places[read["TableName"], repr(sorted(read["Key"].items()))] = place
    found: list[Any] = [None] * len(wanted)
    for _ in range(ATTEMPTS):
        answer = connection().dispatch("BatchGetItem", {"RequestItems": asked})
        for table_name, items in answer["Responses"].items():
            schema = connection().get_meta_table(table_name)
            for item in items:
                own_key = {
                    name: item[name] for name in (schema.hash_keyname, schema.range_keyname) if name
                }
                place = places[table_name, repr(sorted(own_key.items()))]
                found[place] = wanted[place][0].from_raw_data(item)
        asked = answer.get("UnprocessedKeys") or {}
        if not asked:
            return found
    raise Unavailable("The database is busy.")


def account_key(account_id: str, own_id: str) -> str:
    """The hash key of a record that only its account may find."""
    return f"{account_id}#{own_id}"
