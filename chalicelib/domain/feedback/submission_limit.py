"""Rate limit of submissions, per form, source address and time window."""

from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256
from ipaddress import IPv6Address, ip_address
from typing import Final

_IPV6_NETWORK_BITS: Final = 64


@dataclass(frozen=True)
class SubmissionWindow:
    """The time window in which submissions from one source address to one form are counted.

    Attributes:
        key: the key of the counter. It is a digest, so that the address is not stored.
        ends_at: end of the window, in epoch seconds.
    """

    key: str
    ends_at: int

    @classmethod
    def at(cls, now: datetime, window_s: int, form_id: str, address: str) -> "SubmissionWindow":
        """Return the window that contains ``now``, for a form and a source address."""
        number = int(now.timestamp()) // window_s
        scope = f"{form_id}/{_source(address)}/{window_s}/{number}"
        return cls(sha256(scope.encode()).hexdigest(), (number + 1) * window_s)

    def seconds_left(self, now: datetime) -> int:
        """Return the number of seconds until the next window starts, at least 1."""
        return max(1, self.ends_at - int(now.timestamp()))


def _source(address: str) -> str:
    """Return the IPv4 address or IPv6 /64 network whose submissions are counted together.

    A single subscriber usually controls all addresses of a /64 network.
    """
    try:
        parsed = ip_address(address)
    except ValueError:
        return address
    if isinstance(parsed, IPv6Address):
        if parsed.ipv4_mapped:
            return str(parsed.ipv4_mapped)
        host_bits = 128 - _IPV6_NETWORK_BITS
        return str(IPv6Address(int(parsed) >> host_bits << host_bits))
    return str(parsed)
