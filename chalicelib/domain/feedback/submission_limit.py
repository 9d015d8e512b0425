"""How many submissions one source may make to one form in a window of time."""

from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256
from ipaddress import IPv6Address, ip_address
from typing import Final

_IPV6_NETWORK_BITS: Final = 64


@dataclass(frozen=True)
class SubmissionLimit:
    """The most submissions of a source to a form in a window.

    Attributes:
        most: how many; 0 for any number.
    """

    most: int
    window_s: int


@dataclass(frozen=True)
class SubmissionWindow:
    """The window of time that a submission falls into, for one form and one source.

    Attributes:
        key: names the counter. It holds no address, only a digest.
        ends_at: epoch seconds.
    """

    key: str
    ends_at: int

    @classmethod
    def at(cls, now: datetime, window_s: int, form_id: str, address: str) -> "SubmissionWindow":
        """The window of this moment for a form and a source's address."""
        number = int(now.timestamp()) // window_s
        counted = f"{form_id}/{_source(address)}/{window_s}/{number}"
        return cls(sha256(counted.encode()).hexdigest(), (number + 1) * window_s)

    def seconds_left(self, now: datetime) -> int:
        """How long until the next window begins, at least 1."""
        return max(1, self.ends_at - int(now.timestamp()))


def _source(address: str) -> str:
    """What counts as one source: an IPv4 address; in IPv6 the network, which one party holds."""
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
