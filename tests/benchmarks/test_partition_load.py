"""Tests of the units of each partition key, and of the ceilings computed from these units."""

import pytest

from benchmarks.ceilings import OPERATIONS, WRITE_UNITS_PER_KEY, ceilings_of
from chalicelib.domain.ids import new_id
from chalicelib.domain.paging import BLOCK_SIZE
from chalicelib.domain.work import shards_of_account
from chalicelib.services.feedback.process import MAX_BATCH_SIZE
from tests.aws.capacity import Meter, hottest
from tests.aws.stage import tables

pytestmark = pytest.mark.usefixtures("cloud")


def load_of(name: str, count: int) -> Meter:
    with tables().metered() as load:
        OPERATIONS[name](count)
    return load


def test_transaction_consumes_two_units_per_table_and_one_per_index() -> None:
    load = load_of("create a customer", 1)
    assert hottest(load.writes) == {
        "counters": 2,
        "customers": 2,
        "customers/by_block": 1,
        "customers/by_email": 1,
        "customers/by_pair": 1,
        "customer-pairs": 2,
    }
    assert hottest(load.reads) == {"counters": 1, "customers": 1, "customer-pairs": 1}


def test_delivery_writes_index_by_account_shard_twice() -> None:
    writes = hottest(load_of("deliver a webhook", 1).writes)
    assert writes["executions/by_account_shard"] == 2
    # created, claimed (moved to another due time), removed
    assert writes["executions/due"] == 4


def test_ceilings_are_sorted_and_use_limits_of_aws() -> None:
    load = Meter()
    load.writes["table", "a"] = 30
    load.writes["table", "b"] = 10
    load.reads["table", "a"] = 10
    assert ceilings_of(load, 10) == [
        ("table", "write", 3.0, 1000 / 3),
        ("table", "read", 1.0, 3000.0),
    ]


@pytest.mark.parametrize(
    ("name", "key", "keys", "per_second"),
    [
        ("create a customer without a position, and list it", "customers/due", 4, 1_000),
        ("create a customer without a position, and list it", "customers/unlisted", 4, 1_000),
        ("store and process feedback (time of storing)", "feedback/due", 4, 1_000),
        ("store and process feedback (time of storing)", "feedback/by_account", 1, 1_000),
        ("deliver a webhook", "executions/due", 4, 1_000),
        ("deliver a webhook", "executions/by_account_shard", 4, 2_000),
    ],
)
def test_keys_of_one_account_allow_target_rate(
    name: str, key: str, keys: int, per_second: int
) -> None:
    assert len(shards_of_account(new_id())) == 4
    units = sum(units for (table, _), units in load_of(name, 1).writes.items() if table == key)
    assert WRITE_UNITS_PER_KEY * keys / units >= per_second


def test_batch_of_feedback_on_many_stores_writes_a_row_of_statistics_for_each_store() -> None:
    load = load_of("store and process feedback on 100 stores (time of storing)", MAX_BATCH_SIZE)
    assert hottest(load.writes)["statistics"] == 2 * MAX_BATCH_SIZE
    load = load_of("store and process feedback (time of storing)", MAX_BATCH_SIZE)
    assert hottest(load.writes)["statistics"] == 2


def test_all_writes_of_one_block_stay_below_limit_of_one_second() -> None:
    load = load_of("store and process feedback (time of storing)", 1)
    units = sum(units for (name, _), units in load.writes.items() if name == "customers/by_block")
    assert units == 1
    assert units * BLOCK_SIZE <= WRITE_UNITS_PER_KEY
