"""Circuit breaker for webhook hosts that repeatedly time out. Each process has separate circuits.

There is one circuit per account and host. While the circuit is open, webhooks of the account to the
host are deferred without an attempt, so that an unresponsive receiver does not delay other
webhooks. After a minute, attempts are allowed again. A time-out opens the circuit for another
minute; any other result closes it. Accounts do not share a circuit, because one path of a host can
be unresponsive while the paths that other accounts use are not.
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
        """Return the time until which attempts to the host are deferred.

        Return None if attempts are allowed now.
        """
        with self._lock:
            state = self._hosts.get((account_id, host))
            until = state.open_until if state else None
            return until if until and until > now else None

    def record_result(self, account_id: str, host: str, now: datetime, *, timed_out: bool) -> None:
        """Record the result of an attempt.

        After three consecutive time-outs, open the circuit. After any other result, close it.
        """
        key = (account_id, host)
        with self._lock:
            if not timed_out:
                self._hosts.pop(key, None)
                return
            if key not in self._hosts and len(self._hosts) >= _MAX_HOSTS:
                self._hosts.clear()
            state = self._hosts.setdefault(key, _Host())
            state.time_outs += 1
            if state.time_outs >= OPEN_AFTER_TIMEOUTS:
                state.open_until = now + OPEN_FOR

    def close_all(self) -> None:
        """Close all circuits. Tests use this."""
        with self._lock:
            self._hosts.clear()
