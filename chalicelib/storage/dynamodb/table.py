"""The base class of all tables: a shared connection, stage-specific names, and error translation.

PynamoDB models and errors must not leave `storage`. This module overrides parts of PynamoDB to save
time. docs/decisions/aws-clients.md lists the overrides and the measured savings.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import MISSING, fields
from datetime import datetime
from email.utils import parsedate_to_datetime
from functools import cache, cached_property
from typing import Any, ClassVar, Final, Generic, NamedTuple, Self, TypeVar
from uuid import uuid4

from botocore.exceptions import ClientError, HTTPClientError
from botocore.exceptions import ConnectionError as BotocoreConnectionError
from pynamodb.attributes import Attribute
from pynamodb.connection import Connection
from pynamodb.connection.table import TableConnection
from pynamodb.expressions.update import Action
from pynamodb.models import Model

from chalicelib.aws_calls import forget_clients
from chalicelib.backoff import Backoff
from chalicelib.domain.errors import NoResponse, Unavailable
from chalicelib.domain.paging import in_groups
from chalicelib.settings import settings
from chalicelib.storage.dynamodb.client import Item, dynamodb_client
from chalicelib.time_limits import has_time_for_call

_TRANSIENT_ERRORS: Final = frozenset(
    (
        "InternalServerError ProvisionedThroughputExceededException RequestLimitExceeded"
        " ServiceUnavailable ThrottlingException TransactionConflictException"
        " TransactionInProgressException"
    ).split()
)
THROTTLING_REASONS: Final = frozenset({"ThrottlingError", "ProvisionedThroughputExceeded"})
"""The reason codes of a throttled write in a transaction that DynamoDB cancelled."""

_MAX_BATCH_PUTS: Final = 25
MAX_BATCH_READS: Final = 100


Value = TypeVar("Value")


class SharedConnection(Connection):
    """The connection to DynamoDB that all tables of the process share."""

    @cached_property
    def client(self) -> Any:
        """The botocore client, created on first use."""
        return dynamodb_client()

    def dispatch(self, operation_name: str, operation_kwargs: Item) -> Item:
        """Send a request, without PynamoDB's signals and without ``ReturnConsumedCapacity``.

        If DynamoDB throttles the request, or if the request writes one row that a transaction is
        also writing, send the request again while there is time for retries.

        Raises:
            Unavailable: DynamoDB throttles or fails until the time for retries ends, or it does not
                respond, or too little of the function's time is left to send the request.
        """
        if operation_name == "TransactWriteItems":
            # A retry of a transaction that succeeded must have no further effect.
            operation_kwargs.setdefault("ClientRequestToken", str(uuid4()))
        backoff: Backoff | None = None
        while has_time_for_call():
            try:
                return self._make_api_call(operation_name, operation_kwargs)
            except ClientError as error:
                if not _is_transient(error, operation_kwargs):
                    raise
                backoff = backoff or Backoff()
                if not backoff.pause():
                    raise Unavailable("The database is busy.") from error
            except (HTTPClientError, BotocoreConnectionError) as error:
                raise NoResponse("The database does not respond.") from error
        raise Unavailable("Too little time is left.")


def _is_transient(error: ClientError, request: Item) -> bool:
    """Return whether an error is temporary: nothing was written, and a retry can succeed.

    A transaction that DynamoDB cancelled because of throttling is such an error; botocore does not
    retry the transaction. There is one exception: if all throttled writes were to tables whose
    class sets ``is_contended``, such as the counters, the error is not transient. Other writers may
    have changed these rows in the meantime, so the caller must read them again.
    """
    failed = [
        (reason.code, next(iter(write.values()))["TableName"])
        for reason, write in zip(
            getattr(error, "cancellation_reasons", ()),
            request.get("TransactItems", ()),
            strict=False,
        )
        if reason
    ]
    if failed:
        contended = {table.table_name() for table in Table.__subclasses__() if table.is_contended}
        is_throttled = {code for code, _ in failed} <= THROTTLING_REASONS
        return is_throttled and not {table for _, table in failed} <= contended
    return error.response["Error"]["Code"] in _TRANSIENT_ERRORS


_shared: SharedConnection | None = None


def connection() -> SharedConnection:
    """Return the connection of the process, created on first use."""
    global _shared
    if _shared is None:
        _shared = SharedConnection(region=settings().region)
    return _shared


def forget_connection() -> None:
    """Discard the connection and all AWS clients. Tests use this to replace the AWS endpoint."""
    global _shared
    _shared = None
    forget_clients()


class Table(Model):
    """The base class of table models.

    A subclass sets only ``Meta.name``, for example ``"customers"``. `table_name` adds the stage.

    Attributes:
        is_contended: whether many transactions write the same row of this table. If DynamoDB
            throttles only such rows, retrying the same transaction is useless, because another
            transaction changes the row in the meantime.
    """

    Meta: Any
    is_contended: ClassVar[bool] = False
    item: Item | None = None
    """The row in the form in which DynamoDB returned it."""

    @classmethod
    def _get_connection(cls) -> TableConnection:
        # Threads can run this method concurrently. Repeating any assignment below is harmless.
        shared = connection()
        table = cls._connection
        if table is None or table.connection is not shared:
            cls.Meta.table_name = settings().resource_name(cls.Meta.name)
            cls.Meta.region = settings().region
            table = super()._get_connection()
            shared._tables.setdefault(table.table_name, table.get_meta_table())
            table.connection = shared
        return table

    @classmethod
    def table_name(cls) -> str:
        """Return the full name of the table, including the stage."""
        return cls._get_connection().table_name

    @classmethod
    @cache
    def key_names(cls) -> list[str]:
        """Return the names of the partition key and, if the table has one, of the sort key."""
        attributes = cls.get_attributes().items()
        return [name for name, each in attributes if each.is_hash_key] + [
            name for name, each in attributes if each.is_range_key
        ]

    @classmethod
    def from_raw_data(cls, data: Item) -> Self:
        """Build a row from a DynamoDB item.

        This is faster than PynamoDB's method, which loops over all attributes of the model. It
        works only if attributes have the same names in Python and in DynamoDB.
        """
        attributes = cls.get_attributes()
        row = cls.empty()
        row.item = data
        row.attribute_values = {
            name: attributes[name].deserialize(value)
            for name, attribute_value in data.items()
            if name in attributes
            for value in attribute_value.values()
        }
        return row

    @classmethod
    def empty(cls) -> Self:
        """Return a row without attributes. This takes 1 % of the time of the constructor."""
        row = cls.__new__(cls)
        row.attribute_values = {}
        return row

    @classmethod
    def copy_of(cls, values: Mapping[str, object]) -> Self:
        """Return a row with a copy of these attributes."""
        row = cls.empty()
        row.attribute_values = {**values}
        return row

    def was_written(self) -> Self:
        """Store that the row is stored with its attributes, and return it."""
        attributes = self.get_attributes()
        values = {name: value for name, value in self.attribute_values.items() if value is not None}
        self.item = {name: serialized(attributes[name], value) for name, value in values.items()}
        return self

    def own_key(self) -> "Key[Self]":
        """Return the key of this row."""
        return Key(type(self), *(self.attribute_values[name] for name in self.key_names()))

    def assignments(self) -> list[Action]:
        """Return the update actions that set the attributes of this row, except those of its key.

        None removes an attribute.
        """
        keys, attributes = self.key_names(), self.get_attributes()
        return [
            attributes[name].remove() if value is None else attributes[name].set(value)
            for name, value in self.attribute_values.items()
            if name not in keys
        ]

    @classmethod
    def load_partition(cls, hash_key: str) -> list[Self]:
        """Load all rows of a partition in one consistent request.

        The partition must be smaller than 1 MB.
        """
        table = cls._get_connection().get_meta_table()
        query = {
            "TableName": table.table_name,
            "KeyConditionExpression": "#key = :key",
            "ExpressionAttributeNames": {"#key": table.hash_keyname},
            "ExpressionAttributeValues": {":key": {"S": hash_key}},
            "ConsistentRead": True,
        }
        items = connection().dispatch("Query", query)["Items"]
        return [cls.from_raw_data(item) for item in items]


Row = TypeVar("Row", bound=Table)


RowRead = TypeVar("RowRead", bound=Table, covariant=True)


class Key(NamedTuple, Generic[RowRead]):
    """The key of a row. All table keys are strings."""

    model: type[RowRead]
    hash_key: str
    range_key: str | None = None

    def row(self) -> RowRead:
        """Return a row that has only this key."""
        return self.model.copy_of(self.values)

    @property
    def values(self) -> dict[str, str]:
        """The key attributes."""
        return dict(zip(self.model.key_names(), filter(None, self[1:]), strict=True))

    @property
    def hash_name(self) -> str:
        """The name of the partition key."""
        return self.model.key_names()[0]

    @property
    def item(self) -> Item:
        """The key in the form of DynamoDB."""
        return {name: {"S": value} for name, value in self.values.items()}


def find_row(key: Key[Row], *, consistent: bool = True) -> Row | None:
    """Load a row. Return None if it does not exist. One request."""
    try:
        return key.model.get(key.hash_key, key.range_key, consistent_read=consistent)
    except key.model.DoesNotExist:
        return None


def read_together(*keys: Key[Row]) -> list[Row | None]:
    """Load rows of one model with a consistent read, in one request per 100 rows.

    Rows of several models are read with `Rows.prefetch`.

    Args:
        keys: the keys of the rows. Without keys, no request is sent.

    Returns:
        The rows in the order of the keys, with None for each row that does not exist.

    Raises:
        Unavailable: DynamoDB throttles and leaves keys unprocessed.
    """
    if not keys:
        return []
    if len(keys) > MAX_BATCH_READS:
        return [row for group in in_groups(keys, MAX_BATCH_READS) for row in read_together(*group)]
    found = zip(keys, read_items(keys)[0], strict=True)
    return [key.model.from_raw_data(item) if item else None for key, item in found]


def read_items(keys: Sequence[Key[Table]]) -> tuple[list[Item | None], Item]:
    """Load 1 to 100 rows in the form of DynamoDB. Return also the last response of DynamoDB.

    Raises:
        Unavailable: DynamoDB throttles and leaves keys unprocessed.
    """
    indexes: dict[tuple[str, ...], int] = {}
    names: dict[str, list[str]] = {}
    unread: dict[str, Item] = {}
    for index, key in enumerate(keys):
        table_name = key.model.table_name()
        table = unread.setdefault(table_name, {"Keys": [], "ConsistentRead": True})
        table["Keys"].append(key.item)
        indexes[table_name, *filter(None, key[1:])] = index
        names[table_name] = key.model.key_names()
    found: list[Item | None] = [None] * len(keys)
    backoff = Backoff()
    while True:
        response = connection().dispatch("BatchGetItem", {"RequestItems": unread})
        for table_name, items in response["Responses"].items():
            for item in items:
                key_values = (item[name]["S"] for name in names[table_name])
                found[indexes[table_name, *key_values]] = item
        unread = response.get("UnprocessedKeys") or {}
        if not unread:
            return found, response
        if not backoff.pause():
            raise Unavailable("The database is busy.")


def serialized(attribute: Attribute[Value], value: Value) -> Item:
    """Return a value of an attribute in the form of DynamoDB."""
    return {attribute.attr_type: attribute.serialize(value)}


def put_of_new(model: type[Table], values: Mapping[str, object]) -> Item:
    """Return the parameters that add a row, on condition that it does not exist.

    Attributes with the value None are omitted. This function takes a sixth of the time that
    PynamoDB needs to save a model instance.
    """
    attributes = model.get_attributes()
    return {
        "TableName": model.table_name(),
        "Item": {
            name: serialized(attributes[name], value)
            for name, value in values.items()
            if value is not None
        },
        "ConditionExpression": "attribute_not_exists(#key)",
        "ExpressionAttributeNames": {"#key": model.key_names()[0]},
    }


def read_indexed(entries: Iterable[Row]) -> Iterator[Row]:
    """Yield the current rows of index entries, without deleted rows.

    The index is eventually consistent; the rows are read consistently. One request per 100 entries.
    """
    keys = (entry.own_key() for entry in entries)
    for group in in_groups(keys, MAX_BATCH_READS):
        yield from (row for row in read_together(*group) if row)


def time_of(response: Item) -> datetime:
    """Return the time of a response of DynamoDB, in full seconds."""
    return parsedate_to_datetime(response["ResponseMetadata"]["HTTPHeaders"]["date"])


def put_all(rows: Iterable[Table]) -> datetime | None:
    """Write rows of one table, 25 per request, without conditions.

    Return the time of DynamoDB's last response in full seconds, or None without rows.

    Raises:
        Unavailable: DynamoDB throttles. Some of the rows may have been written.
    """
    responded_at = None
    for batch in in_groups(rows, _MAX_BATCH_PUTS):
        unwritten = {
            batch[0].table_name(): [{"PutRequest": {"Item": row.serialize()}} for row in batch]
        }
        backoff = Backoff()
        while unwritten:
            response = connection().dispatch("BatchWriteItem", {"RequestItems": unwritten})
            responded_at = time_of(response)
            unwritten = response.get("UnprocessedItems") or {}
            if unwritten and not backoff.pause():
                raise Unavailable("The database is busy.")
    return responded_at


def fields_of(row: Table, record: type[Any]) -> dict[str, Any]:
    """Return the attributes of a row that are fields of a dataclass, by name.

    Omit unset attributes, except those of fields without a default, which are None.
    """
    return {
        field.name: value
        for field in fields(record)
        for value in (row.attribute_values.get(field.name),)
        if value is not None or field.default is MISSING
    }


def account_key(account_id: str, record_id: str) -> str:
    """Return the partition key of an account-scoped record. The key contains the account id."""
    return f"{account_id}#{record_id}"
