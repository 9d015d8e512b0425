"""The circuit breaker opens for a minute after three consecutive timeouts of an account's host."""

from datetime import UTC, datetime, timedelta

import pytest

from chalicelib.services.webhooks import circuit_breaker as silent_hosts
from chalicelib.services.webhooks.circuit_breaker import (
    OPEN_AFTER_TIMEOUTS,
    OPEN_FOR,
    CircuitBreaker,
)

NOW = datetime(2026, 11, 20, 10, tzinfo=UTC)
MOMENT = timedelta(milliseconds=1)


def after_time_outs(count: int) -> CircuitBreaker:
    hosts = CircuitBreaker()
    for _ in range(count):
        hosts.note("account", "host", NOW, timed_out=True)
    return hosts


def test_circuit_opens_at_third_timeout() -> None:
    assert after_time_outs(OPEN_AFTER_TIMEOUTS - 1).open_until("account", "host", NOW) is None
    until = after_time_outs(OPEN_AFTER_TIMEOUTS).open_until("account", "host", NOW)
    assert until == NOW + timedelta(minutes=1)


def test_circuit_allows_one_attempt_after_one_minute() -> None:
    hosts = after_time_outs(OPEN_AFTER_TIMEOUTS)
    assert hosts.open_until("account", "host", NOW + OPEN_FOR - MOMENT)
    assert hosts.open_until("account", "host", NOW + OPEN_FOR) is None
    hosts.note("account", "host", NOW + OPEN_FOR, timed_out=True)
    assert hosts.open_until("account", "host", NOW + OPEN_FOR)


def test_response_resets_timeout_count() -> None:
    hosts = after_time_outs(OPEN_AFTER_TIMEOUTS - 1)
    hosts.note("account", "host", NOW, timed_out=False)
    hosts.note("account", "host", NOW, timed_out=True)
    assert hosts.open_until("account", "host", NOW) is None


def test_circuit_of_one_account_does_not_affect_another() -> None:
    hosts = after_time_outs(OPEN_AFTER_TIMEOUTS)
    assert hosts.open_until("other", "host", NOW) is None
    hosts.note("other", "host", NOW, timed_out=False)
    assert hosts.open_until("account", "host", NOW)


def test_number_of_hosts_is_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(silent_hosts, "_MAX_HOSTS", 2)
    hosts = after_time_outs(OPEN_AFTER_TIMEOUTS)
    hosts.note("account", "second", NOW, timed_out=True)
    assert hosts.open_until("account", "host", NOW)
    hosts.note("account", "third", NOW, timed_out=True)
    assert hosts.open_until("account", "host", NOW) is None
