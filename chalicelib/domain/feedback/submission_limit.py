"""Limit the submissions of one source to one form per time window."""

from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256
from ipaddress import IPv6Address, ip_address
from typing import Final

_IPV6_NETWORK_BITS: Final = 64


@dataclass(frozen=True)
class SubmissionLimit:
    """The maximum number of submissions of a source to a form per window.

    Attributes:
        maximum: 0 for no limit.
    """

    maximum: int
    window_s: int


@dataclass(frozen=True)
class SubmissionWindow:
    """The time window of a submission, for one form and one source.

    Attributes:
        key: the key of the counter: a digest, which does not reveal the address.
        ends_at: Unix time in seconds.
    """

    key: str
    ends_at: int

    @classmethod
    def at(cls, now: datetime, window_s: int, form_id: str, address: str) -> "SubmissionWindow":
        """Return the current window for a form and a source address."""
        number = int(now.timestamp()) // window_s
        counted = f"{form_id}/{_source(address)}/{window_s}/{number}"
        return cls(sha256(counted.encode()).hexdigest(), (number + 1) * window_s)

    def seconds_left(self, now: datetime) -> int:
        """Return the seconds until the next window starts, at least 1."""
        return max(1, self.ends_at - int(now.timestamp()))


def _source(address: str) -> str:
    """Return the IPv4 address, or the /64 network of an IPv6 address, which one party controls."""
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
