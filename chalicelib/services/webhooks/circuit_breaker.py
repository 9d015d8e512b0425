"""Hosts that let attempt after attempt run into its time limit, as far as this process has seen.

While a host is silent an account's webhooks to it are put off without an attempt, so that those who
wait for it hold up nobody else. After a minute it gets another chance, and one answer forgets the
rest. What one account sees of a host says nothing to another: they may share a host where one asks
for a slow page.
"""

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from threading import Lock
from typing import Final

OPEN_AFTER_TIMEOUTS: Final = 3
OPEN_FOR: Final = timedelta(minutes=1)
_MAX_HOSTS: Final = 1_000


@dataclass
class _Host:
    time_outs: int = 0
    open_until: datetime | None = None


@dataclass
class CircuitBreaker:
    """What this process knows of hosts."""

    _hosts: dict[tuple[str, str], _Host] = field(default_factory=dict)
    _lock: Lock = field(default_factory=Lock)

    def open_until(self, account_id: str, host: str, now: datetime) -> datetime | None:
        """Until when the account's webhooks leave the host alone, or None."""
        with self._lock:
            known = self._hosts.get((account_id, host))
            until = known.open_until if known else None
            return until if until and until > now else None

    def note(self, account_id: str, host: str, now: datetime, *, timed_out: bool) -> None:
        """Takes in how an attempt ended."""
        key = (account_id, host)
        with self._lock:
            if not timed_out:
                self._hosts.pop(key, None)
                return
            if key not in self._hosts and len(self._hosts) >= _MAX_HOSTS:
                self._hosts.clear()
            known = self._hosts.setdefault(key, _Host())
            known.time_outs += 1
            if known.time_outs >= OPEN_AFTER_TIMEOUTS:
                known.open_until = now + OPEN_FOR

    def forget(self) -> None:
        """Starts anew, as a new process does."""
        with self._lock:
            self._hosts.clear()
