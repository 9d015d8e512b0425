"""Tests of the index shard and the due time of unfinished work records."""

from datetime import UTC, datetime, timedelta

import pytest

from chalicelib.domain.ids import derived_id
from chalicelib.domain.work import (
    PARKED_SHARD,
    due_after_deferral,
    due_after_failure,
    due_after_requeue,
    first_due,
    open_shards,
    shard_of,
)

NOW = datetime(2026, 11, 20, 10, tzinfo=UTC)
ACCOUNTS = [derived_id("account", str(n)) for n in range(200)]
OWNERS = [derived_id("owner", str(n)) for n in range(200)]


def test_open_shards_contain_every_assigned_shard_but_not_parked_shard() -> None:
    used = {shard_of(account, owner, "0") for account in ACCOUNTS for owner in OWNERS}
    assert used == set(open_shards())
    assert len(open_shards()) == 32
    assert PARKED_SHARD not in open_shards()


def test_records_of_account_are_distributed_to_four_shards() -> None:
    for account in ACCOUNTS:
        assert len({shard_of(account, owner, "0") for owner in OWNERS}) == 4


def test_chunks_of_one_import_are_distributed_to_four_shards() -> None:
    assert len({shard_of(ACCOUNTS[0], OWNERS[0], str(part)) for part in range(50)}) == 4


def test_same_record_always_gets_same_shard() -> None:
    assert [shard_of("a", "o", part) for part in "1234"] == [
        "open-12",
        "open-14",
        "open-12",
        "open-15",
    ]


@pytest.mark.parametrize(
    ("claims", "delay_s"),
    [(0, 30), (1, 60), (2, 120), (6, 1920), (7, 3600), (8, 3600), (30, 3600)],
)
def test_delay_after_each_failure_doubles_up_to_one_hour(claims: int, delay_s: int) -> None:
    assert due_after_failure(NOW, claims) == NOW.timestamp() + delay_s


@pytest.mark.parametrize(
    ("deferrals", "delay_s"), [(1, 5), (2, 10), (3, 20), (6, 160), (7, 300), (10_000, 300)]
)
def test_deferral_starts_at_five_seconds_and_doubles(deferrals: int, delay_s: int) -> None:
    assert due_after_deferral(NOW, deferrals) == NOW.timestamp() + delay_s


def test_created_work_is_due_after_two_minutes() -> None:
    assert first_due(NOW) == (NOW + timedelta(minutes=2)).timestamp()


@pytest.mark.parametrize(("requeues", "minutes"), [(0, 5), (1, 20), (2, 55), (3, 55), (10_000, 55)])
def test_delay_after_each_requeue_grows_to_less_than_an_hour(requeues: int, minutes: int) -> None:
    assert due_after_requeue(NOW, requeues) == (NOW + timedelta(minutes=minutes)).timestamp()


def test_due_time_is_rounded_down_to_whole_seconds() -> None:
    late = NOW + timedelta(microseconds=999_999)
    assert due_after_failure(late, 0) == due_after_failure(NOW, 0)
