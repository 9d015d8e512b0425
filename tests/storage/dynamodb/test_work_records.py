"""Test that a late step about a work record changes no record that has ended or has started."""

from collections.abc import Callable
from typing import Any

import pytest

from chalicelib.domain import clock
from chalicelib.storage import executions, feedback
from chalicelib.storage.dynamodb.work_records import WorkRecords

KINDS: list[tuple[WorkRecords[Any], str]] = [
    (feedback.WORK, feedback.PART),
    (executions.WORK, executions.PART),
]
STEPS: dict[str, Callable[[WorkRecords[Any], str, str], object]] = {
    "defer": lambda work, owner, part: work.defer(owner, part, clock.now()),
    "failure": lambda work, owner, part: work.record_failure(owner, part, "late", clock.now()),
    "start": lambda work, owner, part: work.record_start(owner, part, clock.now()),
    "first start": lambda work, owner, part: work.record_first_starts([(owner, part)], clock.now()),
    "no start": lambda work, owner, part: work.remove_starts([(owner, part)], clock.now()),
}


@pytest.mark.parametrize("step", STEPS.values(), ids=STEPS)
@pytest.mark.parametrize(("work", "part"), KINDS, ids=["feedback", "webhook"])
def test_late_step_does_not_change_ended_record(
    account: str,
    work: WorkRecords[Any],
    part: str,
    step: Callable[[WorkRecords[Any], str, str], object],
) -> None:
    row = work._at(account, part)
    row.account_id, row.state, row.started_at = account, "DONE", 1
    row.update(row.assignments())
    step(work, account, part)
    (after,) = work.read([(account, part)])
    values = after.attribute_values
    assert {name: values[name] for name in values if name not in work.row.key_names()} == {
        "account_id": account,
        "state": "DONE",
        "started_at": 1,
    }


def test_first_start_is_recorded_once(account: str) -> None:
    key = (account, feedback.PART)
    feedback.WORK._at(*key).update([feedback.FeedbackRow.state.set("PENDING")])
    assert feedback.WORK.record_first_starts([key], clock.now()) == {key}
    assert feedback.WORK.record_first_starts([key], clock.now()) == set()
