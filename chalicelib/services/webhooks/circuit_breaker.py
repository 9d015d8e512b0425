"""Circuit breaker for hosts that repeatedly time out, per process.

While the circuit of an account and host is open, webhooks to it are deferred without an attempt,
so that an unresponsive receiver does not delay others. After a minute one attempt is allowed; any
response closes the circuit. Accounts do not share a circuit: they may call different paths of one
host.
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
    """The circuits of this process."""

    _hosts: dict[tuple[str, str], _Host] = field(default_factory=dict)
    _lock: Lock = field(default_factory=Lock)

    def open_until(self, account_id: str, host: str, now: datetime) -> datetime | None:
        """Return the time until which the circuit is open, or None if it is closed."""
        with self._lock:
            known = self._hosts.get((account_id, host))
            until = known.open_until if known else None
            return until if until and until > now else None

    def note(self, account_id: str, host: str, now: datetime, *, timed_out: bool) -> None:
        """Record the result of an attempt."""
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
        """Close all circuits."""
        with self._lock:
            self._hosts.clear()
