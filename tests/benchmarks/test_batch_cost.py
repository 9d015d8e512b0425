"""Test that the benchmark's in-process importer completes an import and counts the AWS requests."""

from benchmarks.batch_cost import batch_of, import_in_process
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
