"""Run transactions and conditional writes, and retry them on contention."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Final, TypeVar

from pynamodb.exceptions import (
    CancellationReason,
    PutError,
    TransactWriteError,
    UpdateError,
    VerboseClientError,
)
from pynamodb.expressions.condition import Condition
from pynamodb.expressions.update import Action
from pynamodb.transactions import TransactWrite

from chalicelib.backoff import Backoff
from chalicelib.domain.errors import Blocked, Unavailable
from chalicelib.domain.work import MAX_WAIT
from chalicelib.settings import settings
from chalicelib.storage.dynamodb import read_rows
from chalicelib.storage.dynamodb.table import THROTTLING_REASONS, Table, connection, key_names

CONDITION_FAILED: Final = "ConditionalCheckFailed"
"""The reason code that DynamoDB returns for a write whose condition failed."""

_CONDITION_FAILED_ERROR: Final = "ConditionalCheckFailedException"
_CONTENTION_REASONS: Final = THROTTLING_REASONS | {CONDITION_FAILED, "TransactionConflict"}

Result = TypeVar("Result")


class Contention(Exception):
    """A transaction was cancelled: a condition failed, other transactions write the same rows, or
    DynamoDB throttled a table on which the caller expects contention.

    Nothing was written. The caller must read the rows again before it retries.

    Attributes:
        condition_failed: whether a condition failed. False if conflicts with other transactions or
            throttled tables are the only reasons.
        failed_writes: the writes that failed, as sent in the request, each with its reason code.
            Empty if unknown.
        blocked: the error of an operation whose last attempt ended with this contention. None if
            other processes are changing the rows.
    """

    def __init__(
        self,
        *,
        condition_failed: bool,
        failed_writes: Sequence[tuple[Mapping[str, Any], str]] = (),
        blocked: Blocked | None = None,
    ) -> None:
        super().__init__()
        self.blocked = blocked
        self.condition_failed = condition_failed
        self.failed_writes = failed_writes

    def is_only_on(self, table: type[Table]) -> bool:
        """Return whether only writes to this table failed."""
        return {write["TableName"] for write, _ in self.failed_writes} == {table.table_name()}


@contextmanager
def transaction() -> Iterator[TransactWrite]:
    """Collect the writes of the ``with`` block and commit them in one transaction.

    Raises:
        Contention: a condition failed, another transaction writes the same rows, or DynamoDB
            throttles only contended tables.
        Unavailable: DynamoDB throttles or does not respond.
    """
    try:
        with TransactWrite(connection=connection()) as write:
            yield write
            if read_rows.current():
                for sent in _sent(write):
                    if "ConditionExpression" in sent:
                        sent["ReturnValuesOnConditionCheckFailure"] = "ALL_OLD"
    except TransactWriteError as error:
        failed = [
            (sent, reason)
            for sent, reason in zip(_sent(write), error.cancellation_reasons, strict=False)
            if reason
        ]
        codes = {reason.code for _, reason in failed}
        if codes & _CONTENTION_REASONS:
            raise Contention(
                condition_failed=CONDITION_FAILED in codes,
                failed_writes=[(sent, reason.code) for sent, reason in failed],
                blocked=_blocked(failed) if codes == {CONDITION_FAILED} else None,
            ) from error
        raise


def _sent(write: TransactWrite) -> list[dict[str, Any]]:
    # PynamoDB sends the writes in this order, and DynamoDB returns the reasons in the same order.
    return [
        *write._condition_check_items,
        *write._delete_items,
        *write._put_items,
        *write._update_items,
    ]


def _blocked(failed: Sequence[tuple[Mapping[str, Any], CancellationReason]]) -> Blocked | None:
    """Return an error if all conditions failed for rows that no other process changes.

    If this attempt has read the rows as they are, its conditions are false for them. If an earlier
    attempt failed on the same rows and this attempt has not read them, an index can be the cause.
    """
    known = read_rows.current()
    if known is None:
        return None
    rows = [(sent["TableName"], _key_of(sent), reason.raw_item) for sent, reason in failed]
    is_read, is_known = known.compare(rows)
    if not is_known:
        return None
    tables = sorted({table.removeprefix(settings().resource_name("")) for table, _, _ in rows})
    reason = f"blocked by a row of {', '.join(tables)}"
    return Blocked(reason) if is_read else Blocked(reason, MAX_WAIT)


def _key_of(write: Mapping[str, Any]) -> Mapping[str, Any]:
    if "Key" in write:
        key: Mapping[str, Any] = write["Key"]
        return key
    return {name: write["Item"][name] for name in key_names(write["TableName"])}


def put_new(write: TransactWrite, model: type[Table], values: Mapping[str, Any]) -> None:
    """Add a row to this transaction. The transaction fails if the key already exists.

    Attributes with the value None are omitted. This function takes a sixth of the time that
    PynamoDB needs to save a model instance.
    """
    write._put_items.append(_put_of_new(model, values))


def create(model: type[Table], values: Mapping[str, Any]) -> bool:
    """Write a new row without a transaction, in one request. Omit attributes whose value is None.

    Return False if the key already exists.

    Raises:
        Unavailable: DynamoDB throttles, or transactions are writing the row.
    """
    put = _put_of_new(model, values)
    try:
        connection().dispatch("PutItem", put)
    except VerboseClientError as error:
        if error.response["Error"]["Code"] == _CONDITION_FAILED_ERROR:
            return False
        raise
    return True


def _put_of_new(model: type[Table], values: Mapping[str, Any]) -> dict[str, Any]:
    table = model._get_connection().get_meta_table()
    attributes = model.get_attributes()
    return {
        "TableName": table.table_name,
        "Item": {
            name: {attributes[name].attr_type: attributes[name].serialize(value)}
            for name, value in values.items()
            if value is not None
        },
        "ConditionExpression": "attribute_not_exists(#key)",
        "ExpressionAttributeNames": {"#key": table.hash_keyname},
    }


def settle(store: Callable[[TransactWrite], object], is_settled: Callable[[], bool]) -> bool:
    """Store the outcome of a claim in a transaction. Return False if the claim has expired.

    A request without a response is repeated as long as the function has time.

    Args:
        store: adds the writes to the transaction. One of them requires the claim.
        is_settled: returns whether the outcome is stored. Then an earlier request has succeeded,
            although its response was lost.
    """

    def attempt() -> bool:
        try:
            with transaction() as write:
                store(write)
        except Contention as contention:
            if not contention.condition_failed:
                raise
            return is_settled()
        return True

    return retry_on_contention(attempt, Unavailable)


def try_write(write: Callable[[], object]) -> bool:
    """Run a conditional write of one row and return True. Return False if the condition fails.

    Raises:
        Unavailable: DynamoDB throttles, or transactions are writing the row.
    """
    try:
        write()
    except (PutError, UpdateError) as error:
        if error.cause_response_code == _CONDITION_FAILED_ERROR:
            return False
        raise
    return True


def update_or_read(row: Table, actions: list[Action], condition: Condition) -> bool:
    """Update a row, load its new values into ``row`` and return True.

    If the condition fails, load the current values into ``row`` and return False. If the row does
    not exist, leave ``row`` unchanged and return False.

    Raises:
        Unavailable: DynamoDB throttles, or transactions are writing the row.
    """
    update = row.get_update_kwargs_from_instance(
        actions, condition, return_values_on_condition_failure="ALL_OLD"
    )
    try:
        response = connection().dispatch("UpdateItem", {**update, "ReturnValues": "ALL_NEW"})
    except VerboseClientError as error:
        if error.response["Error"]["Code"] != _CONDITION_FAILED_ERROR:
            raise
        # Only botocore's exception contains the current item; PynamoDB's exception does not.
        cause: Any = getattr(error.__cause__, "response", {})
        row.deserialize(cause.get("Item", {}))
        return False
    row.deserialize(response["Attributes"])
    return True


def retry_on_contention(attempt: Callable[[], Result], *also: type[Unavailable]) -> Result:
    """Call ``attempt`` until it succeeds, with a short random pause after each `Contention`.

    Args:
        also: other errors after which ``attempt`` is called again.

    Raises:
        Blocked: the time for retries ends, and the last attempt failed because of rows that no
            other process changes.
        Unavailable: the contention lasts until the time for retries ends.
    """
    backoff = Backoff()
    retried: tuple[type[Exception], ...] = (Contention, *also)
    with read_rows.remember_rows() as rows:
        while True:
            rows.start_attempt()
            try:
                return attempt()
            except Blocked:
                raise
            except retried as error:
                if backoff.pause():
                    continue
                if isinstance(error, Contention):
                    busy = Unavailable("Too many concurrent writes to this account.")
                    raise error.blocked or busy from error
                raise
