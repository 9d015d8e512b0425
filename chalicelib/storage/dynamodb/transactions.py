"""Run conditional writes without reading, and retry operations on contention."""

from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

from pynamodb.exceptions import PutError, UpdateError, VerboseClientError
from pynamodb.expressions.condition import Condition
from pynamodb.expressions.update import Action

from chalicelib.backoff import Backoff
from chalicelib.domain.errors import Blocked, Unavailable
from chalicelib.storage.dynamodb.table import Table, connection, put_of_new
from chalicelib.storage.dynamodb.unit_of_work import (
    CONDITION_FAILED_ERROR,
    Contention,
    current_item,
)

Result = TypeVar("Result")


def create(model: type[Table], values: Mapping[str, object]) -> bool:
    """Write a new row without a transaction, in one request. Omit attributes whose value is None.

    Return False if the key already exists.

    Raises:
        Unavailable: DynamoDB throttles, or transactions are writing the row.
    """
    put = put_of_new(model, values)
    try:
        connection().dispatch("PutItem", put)
    except VerboseClientError as error:
        if error.response["Error"]["Code"] == CONDITION_FAILED_ERROR:
            return False
        raise
    return True


def try_write(write: Callable[[], object]) -> bool:
    """Run a conditional write of one row and return True. Return False if the condition fails.

    Raises:
        Unavailable: DynamoDB throttles, or transactions are writing the row.
    """
    try:
        write()
    except (PutError, UpdateError) as error:
        if error.cause_response_code == CONDITION_FAILED_ERROR:
            return False
        raise
    return True


def update_or_read(row: Table, actions: Sequence[Action], condition: Condition) -> bool:
    """Update a row, load its new values into ``row`` and return True.

    If the condition fails, load the current values into ``row`` and return False. If the row does
    not exist, leave ``row`` unchanged and return False.

    Raises:
        Unavailable: DynamoDB throttles, or transactions are writing the row.
    """
    update = row.get_update_kwargs_from_instance(
        [*actions], condition, return_values_on_condition_failure="ALL_OLD"
    )
    try:
        response = connection().dispatch("UpdateItem", {**update, "ReturnValues": "ALL_NEW"})
    except VerboseClientError as error:
        if error.response["Error"]["Code"] != CONDITION_FAILED_ERROR:
            raise
        row.deserialize(current_item(error) or {})
        return False
    row.deserialize(response["Attributes"])
    row.item = response["Attributes"]
    return True


def retry_on_contention(attempt: Callable[[], Result], *also: type[Unavailable]) -> Result:
    """Call ``attempt`` until it succeeds, with a short random pause after each `Contention`.

    Args:
        also: other errors after which ``attempt`` is called again.

    Raises:
        Blocked: the time for retries ends, and the last two attempts failed because of the same
            rows, which no other process changed in between.
        Unavailable: the contention lasts until the time for retries ends.
    """
    backoff, earlier = Backoff(), Contention(condition_failed=False)
    while True:
        try:
            return attempt()
        except Blocked:
            raise
        except Contention as contention:
            blocked = contention.blocked or contention.blocked_after(earlier)
            if not backoff.pause():
                busy = Unavailable("Too many concurrent writes to this account.")
                raise blocked or busy from contention
            earlier = contention
        except also:
            if not backoff.pause():
                raise
