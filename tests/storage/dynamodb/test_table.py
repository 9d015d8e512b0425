"""Test that table models build rows from DynamoDB items in the same way as PynamoDB."""

import zlib
from typing import Any

import pytest
from pynamodb.attributes import Attribute
from pynamodb.models import Model

from admin.storage import mail_domains  # noqa: F401 - importing a module registers its tables
from chalicelib.storage import (  # noqa: F401 - importing a module registers its tables
    account_changes,
    accounts,
    counters,
    credentials,
    customers,
    erasures,
    executions,
    feedback,
    feedback_changes,
    forms,
    imports,
    messages,
    places,
    purchases,
    rate_limits,
    solicitations,
    statistics,
    trackers,
    webhook_secrets,
    workflows,
)
from chalicelib.storage.dynamodb.attributes import TimestampAttribute
from chalicelib.storage.dynamodb.table import Table
from tests.domain.feedback.factories import build_feedback


def tables(base: type[Table] = Table) -> list[type[Table]]:
    """Return all direct and indirect subclasses of a table model."""
    return [attribute for table in base.__subclasses__() for attribute in [table, *tables(table)]]


VALUES: dict[str, Any] = {
    "S": '"text"',
    "N": "12",
    "BOOL": True,
    "SS": ["a", "b"],
    "B": zlib.compress(build_feedback().model_dump_json().encode()),
}


def example(table: type[Table]) -> dict[str, dict[str, Any]]:
    """Return an item with a value for every attribute of the table."""
    return {
        name: {attribute.attr_type: _value(attribute)}
        for name, attribute in table.get_attributes().items()
    }


def _value(attribute: Attribute[Any]) -> Any:
    is_time = isinstance(attribute, TimestampAttribute)
    return "2026-11-20T10:00:00.123Z" if is_time else VALUES[attribute.attr_type]


@pytest.mark.parametrize("table", tables(), ids=lambda table: table.__name__)
def test_row_built_from_item_equals_row_built_by_pynamodb(table: type[Table]) -> None:
    item = example(table)
    expected = Model.from_raw_data.__func__(table, item)  # type: ignore[attr-defined]
    assert table.from_raw_data(item).attribute_values == expected.attribute_values
    assert set(expected.attribute_values) == set(item)


@pytest.mark.parametrize("table", tables(), ids=lambda table: table.__name__)
def test_attributes_have_same_name_in_python_and_dynamodb(table: type[Table]) -> None:
    assert [attribute.attr_name for attribute in table.get_attributes().values()] == [
        *table.get_attributes()
    ]


@pytest.mark.parametrize("table", tables(), ids=lambda table: table.__name__)
def test_indexes_contain_only_attributes_of_their_table(table: type[Table]) -> None:
    metas = [index.Meta for index in table._indexes.values()]
    projected = [name for meta in metas for name in meta.projection.non_key_attributes or ()]
    assert {*projected, *(name for meta in metas for name in meta.attributes)} <= {
        *table.get_attributes()
    }


def test_row_built_from_item_omits_unknown_attributes() -> None:
    item = {"account_id": {"S": "a"}, "later": {"S": "b"}}
    assert counters.CounterRow.from_raw_data(item).attribute_values == {"account_id": "a"}
