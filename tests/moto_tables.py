"""Make moto's tables fast: a query examines and sorts only the rows with its key.

Without these patches, moto sorts all rows of the table for each query, checks the type of each
compared value again, computes the size of a row for each read and of a new row for each of its
attributes, and copies all values of a row before each update.
"""

import copy
from collections.abc import Mapping
from typing import Any, Final

import pytest
from moto.dynamodb.exceptions import ItemSizeTooLarge
from moto.dynamodb.models.dynamo_type import DynamoType, Item, LimitedSizeDict
from moto.dynamodb.models.table import Table

MAX_BYTES: Final = 405_000
"""The size of a row that moto accepts."""

_Conditions = list[tuple[str, DynamoType]]


def make_tables_fast(patch: pytest.MonkeyPatch) -> None:
    """Patch moto to pass only the queried rows to its query, and to check the size of rows once."""
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
    patch.setattr(Item, "__init__", _create)
    patch.setattr(Item, "__deepcopy__", lambda row, _: with_attributes(row, row.attrs))
    patch.setattr(Item, "size", _size)
    patch.setattr(Item, "project", _projected)


def attributes(values: Mapping[str, DynamoType]) -> LimitedSizeDict:
    """Return the attributes of a row. No update changes them in place."""
    created = LimitedSizeDict()
    dict.update(created, values)
    return created


def with_attributes(row: Item, attrs: LimitedSizeDict) -> Item:
    """Return a row with the same key and these attributes."""
    created = object.__new__(Item)
    created.hash_key, created.range_key, created.attrs = row.hash_key, row.range_key, attrs
    return created


def _create(
    row: Item, hash_key: DynamoType, range_key: DynamoType | None, attrs: dict[str, Any]
) -> None:
    """Do the same as moto's method."""
    row.hash_key, row.range_key = hash_key, range_key
    row.attrs = attributes({name: DynamoType(value) for name, value in attrs.items()})
    if row.size() > MAX_BYTES:
        raise ItemSizeTooLarge


_compute_size: Final = Item.size


def _size(row: Item) -> int:
    """Return the size in bytes, which is computed once for the attributes of a row."""
    known = vars(row.attrs)
    if not known:
        known["size"] = _compute_size(row)
    return int(known["size"])


_project: Final = Item.project


def _projected(row: Item, paths: list[list[str]]) -> Item:
    """Do the same as moto's method, which converts the whole row for each path."""
    if any(len(path) > 1 or "[" in path[0] for path in paths):
        return _project(row, paths)
    names = (name for (name,) in paths if name in row.attrs)
    return with_attributes(row, attributes({name: row.attrs[name] for name in names}))


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
