"""Tests of the importers that the benchmark compares."""

import boto3

from benchmarks.batch_cost import batch_of, import_in_process, import_row_by_row
from chalicelib.aws_calls import counted_calls


def test_import_sends_at_most_three_aws_requests_per_chunk(cloud: None) -> None:
    import_in_process(batch_of(1))
    with counted_calls() as calls:
        import_in_process(batch_of(120))  # the rows of three chunks
    assert calls["dynamodb.TransactWriteItems"] == 3
    assert (
        calls["dynamodb.BatchGetItem"] == 3 + 1
    )  # one request per chunk, and one that reads the progress


def test_row_by_row_importer_stores_a_row_for_each_customer(cloud: None) -> None:
    dynamodb = boto3.client("dynamodb")

    def stored() -> int:
        count: int = dynamodb.scan(TableName="feedback-test-customer-pairs")["Count"]
        return count

    before = stored()
    import_row_by_row(dynamodb, batch_of(2))
    assert stored() == before + 2
