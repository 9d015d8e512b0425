"""Silent hosts: left alone for a minute after three time-outs in a row, by who saw them."""

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


def test_a_host_is_silent_from_the_third_time_out_on() -> None:
    assert after_time_outs(OPEN_AFTER_TIMEOUTS - 1).open_until("account", "host", NOW) is None
    until = after_time_outs(OPEN_AFTER_TIMEOUTS).open_until("account", "host", NOW)
    assert until == NOW + timedelta(minutes=1)


def test_it_gets_another_chance_after_a_minute() -> None:
    hosts = after_time_outs(OPEN_AFTER_TIMEOUTS)
    assert hosts.open_until("account", "host", NOW + OPEN_FOR - MOMENT)
    assert hosts.open_until("account", "host", NOW + OPEN_FOR) is None
    hosts.note("account", "host", NOW + OPEN_FOR, timed_out=True)
    assert hosts.open_until("account", "host", NOW + OPEN_FOR)


def test_an_answer_forgets_its_time_outs() -> None:
    hosts = after_time_outs(OPEN_AFTER_TIMEOUTS - 1)
    hosts.note("account", "host", NOW, timed_out=False)
    hosts.note("account", "host", NOW, timed_out=True)
    assert hosts.open_until("account", "host", NOW) is None


def test_what_one_account_sees_says_nothing_to_another() -> None:
    hosts = after_time_outs(OPEN_AFTER_TIMEOUTS)
    assert hosts.open_until("other", "host", NOW) is None
    hosts.note("other", "host", NOW, timed_out=False)
    assert hosts.open_until("account", "host", NOW)


def test_no_more_than_so_many_are_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(silent_hosts, "_MAX_HOSTS", 2)
    hosts = after_time_outs(OPEN_AFTER_TIMEOUTS)
    hosts.note("account", "second", NOW, timed_out=True)
    assert hosts.open_until("account", "host", NOW)
    hosts.note("account", "third", NOW, timed_out=True)
    assert hosts.open_until("account", "host", NOW) is None
