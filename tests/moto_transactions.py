"""Make moto's transactions fast: restore only the written rows of a cancelled transaction.

Without this patch, moto copies a whole table for each write of a transaction.
"""

import copy
from typing import Any

import pytest
from moto.dynamodb.models import DynamoDBBackend
from moto.dynamodb.models.dynamo_type import DynamoType, Item
from moto.dynamodb.models.table import Table

_Row = tuple[Table, DynamoType, DynamoType | None, Item | None]


def restore_only_written_rows(patch: pytest.MonkeyPatch) -> None:
    """Patch moto to copy only the rows that a transaction writes, not whole tables."""
    real = DynamoDBBackend.transact_write_items

    def transact_write_items(backend: DynamoDBBackend, items: list[dict[str, Any]]) -> None:
        before = [_row(backend, *next(iter(item.items()))) for item in items]
        try:
            real(backend, items)
        except Exception:
            for row in before:
                _restore(*row)
            raise

    patch.setattr(DynamoDBBackend, "transact_write_items", transact_write_items)
    patch.setattr(Table, "__deepcopy__", lambda table, memo: table, raising=False)


def _row(backend: DynamoDBBackend, operation: str, write: dict[str, Any]) -> _Row:
    table = backend.get_table(write["TableName"])
    key = write["Item"] if operation == "Put" else write["Key"]
    hash_key = DynamoType(key[table.hash_key_attr])
    range_key = DynamoType(key[table.range_key_attr]) if table.range_key_attr else None
    return table, hash_key, range_key, copy.deepcopy(table.get_item(hash_key, range_key))


def _restore(
    table: Table, hash_key: DynamoType, range_key: DynamoType | None, item: Item | None
) -> None:
    rows: dict[DynamoType, Any] = table.items[hash_key] if range_key else table.items  # type: ignore[assignment]
    key = range_key or hash_key
    if item is None:
        rows.pop(key, None)
    else:
        rows[key] = item
