"""Test that the row-by-row importer creates customers and fills only unset fields of customers."""

from typing import Any

import boto3
import pytest

from benchmarks.row_by_row_importer import TABLE, create_table, import_rows


@pytest.fixture(scope="module")
def dynamodb(cloud: None) -> Any:
    client = boto3.client("dynamodb")
    create_table(client)
    return client


def customers(dynamodb: Any, account_id: str) -> list[dict[str, Any]]:
    items = dynamodb.scan(TableName=TABLE)["Items"]
    return [item for item in items if item["accountId"]["S"] == account_id]


def test_row_with_new_pair_or_without_pair_creates_customer(dynamodb: Any) -> None:
    import_rows(dynamodb, "new", [{"email": "a@example.com"}, {"phoneNumber": "+336"}, {}, {}])
    assert len(customers(dynamodb, "new")) == 4


def test_row_with_known_pair_fills_unset_fields_of_customer(dynamodb: Any) -> None:
    row = {"email": "a@example.com", "firstName": "Zoé"}
    import_rows(dynamodb, "known", [row, row | {"firstName": "Ann", "metadata": {"table": "1"}}])
    (customer,) = customers(dynamodb, "known")
    assert customer["firstName"] == {"S": "Zoé"}
    assert customer["metadata"] == {"M": {"table": {"S": "1"}}}
