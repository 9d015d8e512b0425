"""Tests of the circuit breaker, which opens for a minute after three successive timeouts."""

from datetime import UTC, datetime, timedelta

import pytest

from chalicelib.services.webhooks import circuit_breaker
from chalicelib.services.webhooks.circuit_breaker import (
    OPEN_AFTER_TIMEOUTS,
    OPEN_FOR,
    CircuitBreaker,
)

NOW = datetime(2026, 11, 20, 10, tzinfo=UTC)
MILLISECOND = timedelta(milliseconds=1)


def breaker_after_timeouts(count: int) -> CircuitBreaker:
    breaker = CircuitBreaker()
    for _ in range(count):
        breaker.record_result("account", "host", NOW, timed_out=True)
    return breaker


def test_circuit_opens_at_third_timeout() -> None:
    assert (
        breaker_after_timeouts(OPEN_AFTER_TIMEOUTS - 1).open_until("account", "host", NOW) is None
    )
    until = breaker_after_timeouts(OPEN_AFTER_TIMEOUTS).open_until("account", "host", NOW)
    assert until == NOW + timedelta(minutes=1)


def test_open_circuit_allows_one_attempt_after_one_minute() -> None:
    breaker = breaker_after_timeouts(OPEN_AFTER_TIMEOUTS)
    assert breaker.open_until("account", "host", NOW + OPEN_FOR - MILLISECOND)
    assert breaker.open_until("account", "host", NOW + OPEN_FOR) is None
    breaker.record_result("account", "host", NOW + OPEN_FOR, timed_out=True)
    assert breaker.open_until("account", "host", NOW + OPEN_FOR)


def test_response_resets_timeout_count() -> None:
    breaker = breaker_after_timeouts(OPEN_AFTER_TIMEOUTS - 1)
    breaker.record_result("account", "host", NOW, timed_out=False)
    breaker.record_result("account", "host", NOW, timed_out=True)
    assert breaker.open_until("account", "host", NOW) is None


def test_circuit_of_one_account_does_not_affect_another() -> None:
    breaker = breaker_after_timeouts(OPEN_AFTER_TIMEOUTS)
    assert breaker.open_until("other", "host", NOW) is None
    breaker.record_result("other", "host", NOW, timed_out=False)
    assert breaker.open_until("account", "host", NOW)


def test_circuit_breaker_closes_all_circuits_at_maximum_number_of_hosts(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(circuit_breaker, "_MAX_HOSTS", 2)
    breaker = breaker_after_timeouts(OPEN_AFTER_TIMEOUTS)
    breaker.record_result("account", "second", NOW, timed_out=True)
    assert breaker.open_until("account", "host", NOW)
    breaker.record_result("account", "third", NOW, timed_out=True)
    assert breaker.open_until("account", "host", NOW) is None
