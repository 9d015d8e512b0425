"""Test that the row-by-row importer creates one customer for each pair."""

import boto3

from benchmarks.row_by_row_importer import TABLE, create_table, import_rows


def test_row_with_new_pair_creates_customer(cloud: None) -> None:
    dynamodb = boto3.client("dynamodb")
    create_table(dynamodb)
    row = {"email": "a@example.com", "phoneNumber": "+33600000001", "metadata": {"table": "1"}}
    import_rows(dynamodb, "account", [row, row, row | {"phoneNumber": "+33600000002"}])
    first, second = dynamodb.scan(TableName=TABLE)["Items"]
    assert first["accountId"] == second["accountId"] == {"S": "account"}
    assert first["metadata"] == {"M": {"table": {"S": "1"}}}
    assert {first["phoneNumber"]["S"], second["phoneNumber"]["S"]} == {
        "+33600000001",
        "+33600000002",
    }
