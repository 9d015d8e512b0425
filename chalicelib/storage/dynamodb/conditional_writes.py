"""Run conditional writes of one row without reading."""

from collections.abc import Callable, Sequence

from pynamodb.exceptions import PutError, UpdateError, VerboseClientError
from pynamodb.expressions.condition import Condition
from pynamodb.expressions.update import Action

from chalicelib.storage.dynamodb.table import Table, connection, put_of_new
from chalicelib.storage.dynamodb.unit_of_work import CONDITION_FAILED_ERROR, current_item


def create(row: Table) -> bool:
    """Write a new row without a transaction, in one request. Omit attributes whose value is None.

    Return False if the key already exists.

    Raises:
        Unavailable: DynamoDB throttles, or transactions are writing the row.
    """
    put = put_of_new(type(row), row.attribute_values)
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
        row.item = current_item(error)
        row.deserialize(row.item or {})
        return False
    row.item = response["Attributes"]
    row.deserialize(response["Attributes"])
    return True
