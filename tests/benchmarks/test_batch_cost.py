"""Tests of the importers that the benchmark compares."""

import boto3

from benchmarks.batch_cost import (
    TABLE,
    batch_of,
    create_table,
    import_in_process,
    import_row_by_row,
)
from benchmarks.capacity import consumed_capacity
from chalicelib.aws_calls import counted_calls
from chalicelib.storage.dynamodb.table import connection


def test_import_sends_at_most_three_aws_requests_per_chunk(cloud: None) -> None:
    import_in_process(batch_of(1))
    with consumed_capacity(connection().client) as consumed, counted_calls() as calls:
        import_in_process(batch_of(120))  # the rows of three chunks
    assert calls["dynamodb.TransactWriteItems"] == 3
    assert (
        calls["dynamodb.BatchGetItem"] == 3 + 1
    )  # one request per chunk, and one that reads the progress
    assert consumed.rows >= 3 * 3
    assert consumed.read_units_by_size >= 120 + 3 * 3


def test_row_by_row_importer_creates_one_customer_for_each_pair(cloud: None) -> None:
    dynamodb = boto3.client("dynamodb")
    create_table(dynamodb)
    row = {"email": "a@example.com", "phoneNumber": "+33600000001", "metadata": {"table": "1"}}
    import_row_by_row(dynamodb, "account", [row, row, row | {"phoneNumber": "+33600000002"}])
    first, second = dynamodb.scan(TableName=TABLE)["Items"]
    assert first["accountId"] == second["accountId"] == {"S": "account"}
    assert first["metadata"] == {"M": {"table": {"S": "1"}}}
    assert {first["phoneNumber"]["S"], second["phoneNumber"]["S"]} == {
        "+33600000001",
        "+33600000002",
    }
