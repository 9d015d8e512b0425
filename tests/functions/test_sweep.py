"""Tests of the sweep function, which requeues overdue work until little time remains."""

from collections import Counter
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from functools import partial
from itertools import pairwise
from threading import Event
from typing import Any
from zlib import crc32

import pytest

from admin.services.webhooks.find import list_executions
from chalicelib.aws_calls import counted_calls
from chalicelib.domain import clock
from chalicelib.domain.customers.customer import Customer
from chalicelib.domain.ids import new_id
from chalicelib.domain.work import DueWork, Swept, open_shards
from chalicelib.domain.workflows.workflow import new_execution
from chalicelib.services.sweeper import run_sweeper
from chalicelib.services.work.kinds import ALL_WORK
from chalicelib.services.work.sweep import sweep as sweep_kind
from chalicelib.storage import customer_creation, executions
from chalicelib.storage.dynamodb.unit_of_work import commit
from infrastructure.functions import MAX_WORK_AGE_S
from tests.aws.faults import before_request
from tests.domain.workflows.factories import feedback, workflow
from tests.policies import allowed
from tests.services.kinds import WEBHOOKS
from tests.services.moved_time import Time, move_time
from tests.services.queues import WEBHOOK_QUEUE

LISTED_PER_SHARD = 20
"""The tests reduce the number of listed records, so that a few records are more than one page."""


@pytest.fixture(autouse=True)
def _few_listed_records(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("chalicelib.services.work.sweep.LISTED_PER_SHARD", LISTED_PER_SHARD)


class Context:
    """A Lambda context that reports enough remaining time ``calls`` times, then too little."""

    def __init__(self, calls: int) -> None:
        self.calls = calls

    def get_remaining_time_in_millis(self) -> int:
        self.calls -= 1
        return 16_000 if self.calls >= 0 else 14_000


def sweep_once(calls: int) -> None:
    """Run the sweep function.

    The function checks its remaining time repeatedly. The first ``calls`` checks report enough
    time; later checks report too little.
    """
    with allowed("sweep"):
        run_sweeper(Context(calls))


def make_overdue(account_id: str, count: int) -> None:
    """Create ``count`` executions that have been due for an hour."""
    definition, long_ago = workflow(), clock.now() - timedelta(hours=1)
    (action,) = definition.actions
    causes = [feedback(account_id=account_id) for _ in range(count)]
    executions.create([new_execution(definition, action, cause, long_ago) for cause in causes])


def make_only_overdue(account_id: str, monkeypatch: pytest.MonkeyPatch) -> DueWork:
    """Create an execution that has been due for an hour. Sweeps find no other execution."""
    make_overdue(account_id, 1)
    all_overdue = WEBHOOKS.records.overdue
    (execution,) = list_executions(account_id, None, 1)

    def overdue(now: datetime, at_once: int) -> Iterator[DueWork]:
        return (due for due in all_overdue(now, at_once) if due.owner_id == execution.id)

    monkeypatch.setattr(WEBHOOKS.records, "overdue", overdue)
    (due,) = overdue(clock.now(), 1)
    return due


def account_in_other_shards(account_id: str) -> str:
    """Return the id of a new account that shares no shard with this account."""
    while crc32((other := new_id()).encode()) % 8 == crc32(account_id.encode()) % 8:
        pass
    return other


def queued_for(account_id: str) -> int:
    return len(WEBHOOK_QUEUE.queued_messages(account_id))


def test_backlog_of_one_account_does_not_delay_others(account: str) -> None:
    make_overdue(account, 2 * LISTED_PER_SHARD + 20)
    other = account_in_other_shards(account)
    make_overdue(other, 1)
    sweep_kind(WEBHOOKS)
    assert queued_for(other) == 1
    sweep_kind(WEBHOOKS)
    sweep_kind(WEBHOOKS)
    assert queued_for(other) == 0


def test_one_sweep_requeues_all_overdue_records(account: str) -> None:
    make_overdue(account, 2 * LISTED_PER_SHARD + 20)
    sweep_once(10_000)
    assert queued_for(account) == 2 * LISTED_PER_SHARD + 20
    sweep_once(10_000)
    assert queued_for(account) == 0


def test_sweep_stops_before_timeout_and_next_sweep_continues(
    account: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_overdue(account, 30)
    sweep_once(0)
    assert queued_for(account) == 0
    with monkeypatch.context() as timed:
        time_checks = iter([True, True, False, False])
        name = "chalicelib.services.work.sweep.has_time_for_work"
        timed.setattr(name, lambda: next(time_checks))
        assert sweep_kind(WEBHOOKS).records == 20
    first = queued_for(account)
    assert 0 < first < 30
    sweep_once(10_000)
    assert first + queued_for(account) == 30


def test_backlog_of_queue_gets_few_messages_for_each_record(
    account: str, time: Time, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("chalicelib.domain.work._ACCOUNT_GROUPS", 1)
    make_overdue(account, 3)
    queued_at: list[int] = []
    for minute in range(0, 240, 5):
        sweep_kind(WEBHOOKS)
        queued = queued_for(account)
        assert queued in (0, 3)
        queued_at += [minute] * (queued // 3)
        time.ahead += timedelta(minutes=5)
    assert queued_at == [0, 5, 25, 80, 135, 190]
    gaps = [later - earlier for earlier, later in pairwise(queued_at)]
    assert max(gaps) < 60  # A lost message is replaced within the hour.


def test_attempt_resets_delay_of_lost_message(account: str, time: Time) -> None:
    make_overdue(account, 1)
    for minutes in (0, 6, 21):
        time.ahead += timedelta(minutes=minutes)
        sweep_kind(WEBHOOKS)
    (due,) = _stored(account)
    assert due.requeues == 3
    WEBHOOKS.records.record_failure(due.execution_id, due.part, "defect", clock.now())
    (due,) = _stored(account)
    assert due.requeues is None


def _stored(account: str) -> list[Any]:
    return list(executions.ExecutionRow.scan(executions.ExecutionRow.account_id == account))


def test_outdated_index_entries_do_not_hide_overdue_work(
    account: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_overdue(account, 50)
    listed = list(WEBHOOKS.records.overdue(clock.now(), 10))
    assert len(listed) == 50
    rescheduled, current = listed[:45], listed[45:]
    list(WEBHOOKS.records.reschedule_all(rescheduled, clock.now()))
    # The index still lists the earlier due times.
    monkeypatch.setattr(WEBHOOKS.records, "overdue", lambda *_: iter(listed))
    assert sweep_kind(WEBHOOKS).records == len(current)
    assert queued_for(account) == len(current)


def test_record_that_changes_during_sweep_is_skipped(account: str) -> None:
    make_overdue(account, 5)
    first, *others = WEBHOOKS.records.overdue(clock.now(), LISTED_PER_SHARD)

    def reschedule_first() -> None:
        assert list(WEBHOOKS.records.reschedule_all([first], clock.now()))

    with before_request("TransactWriteItems", reschedule_first):
        assert sweep_kind(WEBHOOKS).records == len(others)
    assert queued_for(account) == len(others)


def test_20_records_are_requeued_in_four_requests(account: str) -> None:
    make_overdue(account, 1)
    sweep_kind(WEBHOOKS)  # The process reads the URL of each queue once.
    make_overdue(account, 20)
    with counted_calls() as calls:
        sweep_kind(WEBHOOKS)
    assert dict(calls) == {
        "dynamodb.Query": len(open_shards()),
        "dynamodb.BatchGetItem": 1,
        "dynamodb.TransactWriteItems": 1,
        "sqs.SendMessageBatch": 2,
    }


def published_ages(caplog: pytest.LogCaptureFixture) -> dict[str, int]:
    """Return the metric ``oldest`` of each kind of work, from the log lines of a sweep."""
    return {
        fields["work"]: fields["oldest"]
        for record in caplog.records
        if "oldest" in (fields := vars(record))
    }


def test_sweep_publishes_age_of_oldest_work_of_every_kind(
    account: str, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_only_overdue(account, monkeypatch)
    customer = Customer(
        id=new_id(), created_at=clock.now() - timedelta(hours=2), updated_at=clock.now()
    )
    commit(partial(customer_creation.add, account_id=account, customer=customer, position=None))
    sweep_once(10_000)
    ages = published_ages(caplog)
    assert set(ages) == set(MAX_WORK_AGE_S)
    assert set(ages) == {work.records.kind for work in ALL_WORK} | {"listing", "retention"}
    assert 3600 <= ages["webhook"] < 3700
    assert ages["listing"] >= 7200


def test_age_of_work_grows_while_it_is_deferred_or_fails(
    account: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    time = move_time(monkeypatch)
    due = make_only_overdue(account, monkeypatch)
    assert 3600 <= sweep_kind(WEBHOOKS).oldest_s < 3700
    WEBHOOKS.records.defer(due.owner_id, due.part, clock.now())
    time.ahead += timedelta(minutes=6)
    assert 3960 <= sweep_kind(WEBHOOKS).oldest_s < 4060
    WEBHOOKS.records.record_failure(due.owner_id, due.part, "Defect", clock.now())
    time.ahead += timedelta(minutes=6)
    assert 4320 <= sweep_kind(WEBHOOKS).oldest_s < 4420


def test_age_of_work_counts_from_planned_time(
    account: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    time = move_time(monkeypatch)
    due = make_only_overdue(account, monkeypatch)
    row = executions.ExecutionRow(due.owner_id, due.part)
    row.plan_at(int(clock.now().timestamp()) + 600)
    row.update(row.assignments())
    time.ahead += timedelta(minutes=11)
    assert sweep_kind(WEBHOOKS).oldest_s in range(60, 120)


def test_failure_of_one_kind_does_not_stop_other_kinds(
    account: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_overdue(account, 1)
    attempts: Counter[str] = Counter()

    def failing(kind: str) -> Callable[[datetime, int], Iterator[DueWork]]:
        def overdue(now: datetime, at_most: int) -> Iterator[DueWork]:
            attempts[kind] += 1
            raise PermissionError(kind)

        return overdue

    others = [work.records for work in ALL_WORK if work.records is not WEBHOOKS.records]
    for records in others:
        monkeypatch.setattr(records, "overdue", failing(records.kind))
    with pytest.raises(PermissionError, match=others[0].kind):
        sweep_once(10_000)
    assert queued_for(account) == 1
    assert attempts == dict.fromkeys((records.kind for records in others), 1)


@pytest.mark.parametrize("part", ["request_overdue_positions", "anonymize_old_feedback"])
def test_backlog_of_work_does_not_delay_positions_and_retention(
    monkeypatch: pytest.MonkeyPatch, part: str
) -> None:
    started = Event()

    def start() -> Swept:
        started.set()
        return Swept(1)

    for name in ("request_overdue_positions", "anonymize_old_feedback"):
        run = start if name == part else Swept
        monkeypatch.setattr(f"chalicelib.services.sweeper.{name}", run)
    waited: list[bool] = []

    def sweep_until_started(*_: object) -> Swept:
        waited.append(started.wait(1))
        return Swept()

    monkeypatch.setattr("chalicelib.services.sweeper.sweep", sweep_until_started)
    sweep_once(10_000)
    assert waited == [True] * len(ALL_WORK)
