"""Test that a late step about a work record changes no record that has ended or has started."""

import math
from collections.abc import Callable
from typing import Any

import pytest

from chalicelib.aws_calls import counted_calls
from chalicelib.domain import clock
from chalicelib.storage import executions, feedback
from chalicelib.storage.dynamodb.work_records import WorkRecords
from chalicelib.time_limits import reserve

Step = Callable[[WorkRecords[Any], str, str], object]

STEPS: dict[str, Step] = {
    "defer": lambda work, owner, part: work.defer(owner, part, clock.now()),
    "failure": lambda work, owner, part: work.record_failure(owner, part, "late", clock.now()),
    "start": lambda work, owner, part: work.record_start(owner, part, clock.now()),
}
STEPS_OF_BATCH: dict[str, Step] = {
    "first start": lambda work, owner, part: work.record_first_starts([(owner, part)], clock.now()),
    "no start": lambda work, owner, part: work.remove_starts([(owner, part)], clock.now()),
}


@pytest.mark.parametrize("started_at", [None, 1])
@pytest.mark.parametrize(
    ("work", "part", "step"),
    [
        *((executions.WORK, executions.PART, step) for step in STEPS),
        *((feedback.WORK, feedback.PART, step) for step in STEPS | STEPS_OF_BATCH),
    ],
)
def test_late_step_does_not_change_ended_record(
    account: str, work: WorkRecords[Any], part: str, step: str, started_at: int | None
) -> None:
    row = work._at(account, part)
    row.account_id, row.state, row.started_at = account, "DONE", started_at
    row.update(row.assignments())
    (before,) = work.read([(account, part)])
    (STEPS | STEPS_OF_BATCH)[step](work, account, part)
    (after,) = work.read([(account, part)])
    assert after.attribute_values == before.attribute_values


def test_first_start_is_recorded_once(account: str) -> None:
    key = (account, feedback.PART)
    feedback.WORK._at(*key).update([feedback.FeedbackRow.state.set("PENDING")])
    assert feedback.WORK.record_first_starts([key], clock.now()) == {key}
    assert feedback.WORK.record_first_starts([key], clock.now()) == set()


def test_ended_record_does_not_stop_steps_of_others_without_time_for_retries(account: str) -> None:
    keys = [(f"{account}-{state}", feedback.PART) for state in ("DONE", "PENDING")]
    for key, state in zip(keys, ("DONE", "PENDING"), strict=True):
        feedback.WORK._at(*key).update([feedback.FeedbackRow.state.set(state)])
    with reserve(math.inf):
        assert feedback.WORK.record_first_starts(keys, clock.now()) == {keys[1]}
        feedback.WORK.remove_starts(keys, clock.now())
    assert [row and row.started_at for row in feedback.WORK.read(keys)] == [None, None]


def test_step_of_single_ended_record_takes_one_request(account: str) -> None:
    key = (account, feedback.PART)
    feedback.WORK._at(*key).update([feedback.FeedbackRow.state.set("DONE")])
    with counted_calls() as calls:
        assert feedback.WORK.record_first_starts([key], clock.now()) == set()
    assert dict(calls) == {"dynamodb.UpdateItem": 1}
