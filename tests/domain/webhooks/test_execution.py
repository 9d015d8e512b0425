"""Tests of the outcome of a delivery attempt, and of the counts of attempts."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from chalicelib.domain.webhooks.execution import (
    Attempt,
    Execution,
    ExecutionState,
    Outcome,
)

NOW = datetime(2026, 11, 20, 10, tzinfo=UTC)
HOUR = timedelta(hours=1)


def outcome(status: int | None, used: int = 1, **fields: Any) -> Outcome:
    """Return the outcome of an attempt. Eight attempts are allowed; Retry-After is one hour."""
    attempt = Attempt(used, NOW, status=status, **fields)
    return execution(attempt=used).outcome_of(attempt, NOW, 8, "3600")


@pytest.mark.parametrize("status", [200, 204, 299])
@pytest.mark.parametrize("used", [1, 8])
def test_status_2xx_in_any_attempt_is_success(status: int, used: int) -> None:
    assert outcome(status, used) == Outcome(ExecutionState.SUCCEEDED)


@pytest.mark.parametrize("status", [199, 300, 301, 404, 409, 411, 429, 500, 503])
def test_attempt_with_other_status_than_2xx_and_410_is_retried_after_delay(status: int) -> None:
    assert outcome(status) == Outcome(
        ExecutionState.PENDING, f"response status {status}", retry_at=NOW + HOUR
    )


@pytest.mark.parametrize("used", [1, 8])
def test_status_410_in_any_attempt_stops_execution(used: int) -> None:
    assert outcome(410, used) == Outcome(ExecutionState.STOPPED, "response status 410")


@pytest.mark.parametrize(
    ("used", "state"),
    [
        (7, ExecutionState.PENDING),
        (8, ExecutionState.FAILED),
        (9, ExecutionState.FAILED),
    ],
)
def test_failed_last_allowed_attempt_is_not_retried(used: int, state: ExecutionState) -> None:
    result = outcome(500, used)
    assert result.state is state
    assert (result.retry_at is None) == (state is ExecutionState.FAILED)


@pytest.mark.parametrize(("ambiguous", "used"), [(True, 1), (True, 8), (False, 1), (False, 8)])
def test_outcome_without_response_contains_error_and_ambiguous_flag(
    ambiguous: bool, used: int
) -> None:
    result = outcome(None, used, error="reset by peer", ambiguous=ambiguous)
    assert (result.reason, result.ambiguous) == ("reset by peer", ambiguous)
    assert result.state is (ExecutionState.FAILED if used == 8 else ExecutionState.PENDING)


def test_missing_retry_after_uses_backoff_delay() -> None:
    attempt = Attempt(1, NOW, status=500)
    result = execution(attempt=1).outcome_of(attempt, NOW, 2, chance=lambda: 0.5)
    assert result.retry_at == NOW + timedelta(minutes=1.075)


def execution(**fields: Any) -> Execution:
    return Execution("e", "a", "w", "c", "f", b"{}", ExecutionState.PENDING, NOW, **fields)


@pytest.mark.parametrize(
    ("settled", "attempt", "is_ambiguous", "interrupted", "repeats"),
    [
        (0, 0, False, [], False),
        (0, 1, False, [], False),
        (0, 2, False, [1], True),
        (1, 2, False, [], False),
        (1, 2, True, [], True),
        (1, 4, True, [2, 3], True),
    ],
)
def test_webhook_is_repeat_after_ambiguous_or_interrupted_attempt(
    settled: int, attempt: int, is_ambiguous: bool, interrupted: list[int], repeats: bool
) -> None:
    claimed = execution(settled=settled, attempt=attempt, ambiguous=is_ambiguous)
    assert list(claimed.interrupted) == interrupted
    assert claimed.repeats is repeats


def test_attempts_before_replay_are_not_used() -> None:
    assert execution(attempt=9, attempts_before=8).used == 1
