"""Make moto's queries fast: examine and sort only the rows with the key of the query.

Without this patch, moto sorts all rows of the table for each query, and checks the type of each
compared value again.
"""

import copy
from typing import Any

import pytest
from moto.dynamodb.models.dynamo_type import DynamoType, Item
from moto.dynamodb.models.table import Table

_Conditions = list[tuple[str, DynamoType]]


def examine_only_queried_rows(patch: pytest.MonkeyPatch) -> None:
    """Patch moto's tables to pass only the queried rows to moto's query."""
    query, cast = Table.query, DynamoType.cast_value.fget  # type: ignore[attr-defined]

    def query_part(
        table: Table,
        key: DynamoType,
        *arguments: Any,
        hash_key_conditions: _Conditions,
        **options: Any,
    ) -> Any:
        part = copy.copy(table)
        part.items = _rows(table, hash_key_conditions or [(str(table.hash_key_attr), key)])
        return query(part, key, *arguments, hash_key_conditions=hash_key_conditions, **options)

    patch.setattr(Table, "query", query_part)
    patch.setattr(
        DynamoType,
        "cast_value",
        property(lambda value: value.value if value.type == "S" else cast(value)),
    )


def _rows(table: Table, conditions: _Conditions) -> Any:
    """Return the rows that have these values, as moto stores them: by hash key and range key."""
    if [name for name, _ in conditions] == [table.hash_key_attr]:
        ((_, key),) = conditions
        return {key: table.items[key]} if key in table.items else {}
    if not table.range_key_attr:
        return {key: row for key, row in table.items.items() if _has(row, conditions)}
    parts = {
        key: {name: row for name, row in rows.items() if _has(row, conditions)}
        for key, rows in table.items.items()
    }
    return {key: rows for key, rows in parts.items() if rows}


def _has(row: Item, conditions: _Conditions) -> bool:
    return all(
        (found := row.attrs.get(name)) is not None and found == value for name, value in conditions
    )
