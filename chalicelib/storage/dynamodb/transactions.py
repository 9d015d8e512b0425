"""One all-or-nothing write over several tables, and what it may fail with."""

import random
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Final, TypeVar

from pynamodb.exceptions import PutError, TransactWriteError, UpdateError, VerboseClientError
from pynamodb.expressions.condition import Condition
from pynamodb.expressions.update import Action
from pynamodb.transactions import TransactWrite

from chalicelib.domain.errors import Unavailable
from chalicelib.storage.dynamodb.table import Plain, Table, connection

_ROUNDS: Final = 12
_LONGEST_PAUSE_S: Final = 0.4

_SOMEBODY_ELSE_WAS_FIRST: Final = frozenset(
    {"ConditionalCheckFailedException", "TransactionConflictException"}
)

Made = TypeVar("Made")


class Contention(Exception):
    """A condition of the transaction no longer held, or another transaction was under way.

    Nothing was written. Whoever catches it reads anew and tries again.

    Attributes:
        condition_failed: whether a condition did not hold; else only another transaction was in
            the way.
    """

    def __init__(self, *, condition_failed: bool) -> None:
        super().__init__()
        self.condition_failed = condition_failed


@contextmanager
def transaction() -> Iterator[TransactWrite]:
    """Writes everything that is added inside the block at once, or nothing of it.

    Raises:
        Contended: a condition did not hold or another transaction touched the same records.
        Unavailable: the database throttles or does not answer.
    """
    try:
        with TransactWrite(connection=connection()) as write:
            yield write
    except TransactWriteError as error:
        codes = {reason.code for reason in error.cancellation_reasons if reason}
        if error.cause_response_code == "TransactionConflictException" or codes & {
            "ConditionalCheckFailed",
            "TransactionConflict",
        }:
            raise Contention(condition_failed="ConditionalCheckFailed" in codes) from error
        if codes & {"ThrottlingError", "ProvisionedThroughputExceeded"}:
            raise Unavailable("The database is busy.") from error
        raise


def put_new(write: TransactWrite, model: type[Table], columns: Plain) -> None:
    """Puts a row in this transaction, which fails when its key is already there.

    A third of what saving a model instance costs, which counts where thousands are put. Columns
    are texts, whole numbers, booleans, bytes and sets of texts.
    """
    write._put_items.append(_put_of_new(model, columns))


def create(model: type[Table], columns: Plain) -> bool:
    """Puts a row as `put_new` does, by itself; False, and nothing changed, if it is there already.

    One request. As with `condition_holds`, another transaction that holds the key was first too.
    """
    put = _put_of_new(model, columns)
    try:
        connection().dispatch("PutItem", put)
    except VerboseClientError as error:
        if error.response["Error"]["Code"] in _SOMEBODY_ELSE_WAS_FIRST:
            return False
        raise
    return True


def _put_of_new(model: type[Table], columns: Plain) -> dict[str, Any]:
    table = model._get_connection().get_meta_table()
    return {
        "TableName": table.table_name,
        "Item": {name: _typed(value) for name, value in columns.items()},
        "ConditionExpression": "attribute_not_exists(#key)",
        "ExpressionAttributeNames": {"#key": table.hash_keyname},
    }


def _typed(value: Any) -> dict[str, Any]:
    if isinstance(value, str):
        return {"S": value}
    if isinstance(value, bool):
        return {"BOOL": value}
    if isinstance(value, int):
        return {"N": str(value)}
    if isinstance(value, bytes):
        return {"B": value}
    return {"SS": sorted(value)}


def condition_holds(write: Callable[[], object]) -> bool:
    """Whether this conditional write of one record was done.

    It was not when its condition does not hold, or when another transaction holds the record just
    now; either way somebody else was first.
    """
    try:
        write()
    except (PutError, UpdateError) as error:
        if error.cause_response_code in _SOMEBODY_ELSE_WAS_FIRST:
            return False
        raise
    return True


def update_or_read(row: Table, actions: list[Action], only_if: Condition) -> bool:
    """Whether this conditional update was done; either way the row has then what is kept of it.

    A row that is not there stays as it is.
    """
    asked = row.get_update_kwargs_from_instance(
        actions, only_if, return_values_on_condition_failure="ALL_OLD"
    )
    try:
        answer = connection().dispatch("UpdateItem", {**asked, "ReturnValues": "ALL_NEW"})
    except VerboseClientError as error:
        if error.response["Error"]["Code"] not in _SOMEBODY_ELSE_WAS_FIRST:
            raise
        told: Any = getattr(error.__cause__, "response", {})  # PynamoDB's own error has no row
        row.deserialize(told.get("Item", {}))
        return False
    row.deserialize(answer["Attributes"])
    return True


def retry_on_contention(attempt: Callable[[], Made]) -> Made:
    """What ``attempt`` makes, tried again after a short random pause while it is contended.

    Raises:
        Unavailable: contention did not end.
    """
    for round_number in range(_ROUNDS):
        try:
            return attempt()
        except Contention:
            pause(round_number)
    raise Unavailable("Too many writes at once to this account.")


def pause(round_number: int) -> None:
    """A random pause before another try, longer with each round, from 0."""
    longest_s = min(_LONGEST_PAUSE_S, 0.01 * 2**round_number)
    time.sleep(random.uniform(0, longest_s))  # noqa: S311 - jitter, no secret
