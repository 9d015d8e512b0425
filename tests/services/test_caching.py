"""Test that cached results expire by wall-clock time."""

import time

import pytest

from chalicelib.services.caching import CACHE_TTL_S, cached, clear_caches


def test_cache_expires_by_wall_clock_while_monotonic_clock_is_frozen(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    calls: list[str] = []

    @cached(at_most=10)
    def load(key: str) -> str:
        calls.append(key)
        return key

    clear_caches()
    frozen, started_at = time.monotonic(), time.time()
    monkeypatch.setattr(time, "monotonic", lambda: frozen)
    monkeypatch.setattr(time, "perf_counter", lambda: frozen)
    monkeypatch.setattr(time, "time", lambda: started_at)
    load("a")
    monkeypatch.setattr(time, "time", lambda: started_at + CACHE_TTL_S - 1)
    load("a")
    assert calls == ["a"]
    monkeypatch.setattr(time, "time", lambda: started_at + CACHE_TTL_S + 1)
    load("a")
    assert calls == ["a", "a"]
