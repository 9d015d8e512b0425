"""Whether an IP address belongs to the public internet, where a webhook may go.

Pure: it resolves nothing. The tables hold IANA's special-purpose registries and a little more;
where a range is in doubt it is refused, since no receiver of webhooks lives there.
"""

from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network
from typing import Final

_REFUSED_V4: Final = tuple(
    IPv4Network(network)
    for network in (
        "0.0.0.0/8",  # this network
        "10.0.0.0/8",  # private
        "100.64.0.0/10",  # behind a carrier's NAT; metadata of some clouds
        "127.0.0.0/8",  # loopback
        "168.63.129.16/32",  # metadata of a cloud, on a public address
        "169.254.0.0/16",  # link-local, and the metadata of most clouds
        "172.16.0.0/12",  # private
        "192.0.0.0/24",  # protocol assignments
        "192.0.2.0/24",  # documentation
        "192.31.196.0/24",  # AS112: sinks of misdirected queries
        "192.52.193.0/24",  # relays of multicast
        "192.88.99.0/24",  # relays of 6to4
        "192.168.0.0/16",  # private
        "192.175.48.0/24",  # AS112
        "198.18.0.0/15",  # benchmarking
        "198.51.100.0/24",  # documentation
        "203.0.113.0/24",  # documentation
        "224.0.0.0/4",  # multicast
        "240.0.0.0/4",  # reserved, and broadcast
    )
)

_UNICAST_V6: Final = IPv6Network("2000::/3")
"""All that is given out; the rest is loopback, unique-local, link-local, multicast or reserved."""

_REFUSED_V6: Final = tuple(
    IPv6Network(network)
    for network in (
        "2001::/23",  # protocol assignments: Teredo, benchmarking, ORCHID
        "2001:db8::/32",  # documentation
        "2002::/16",  # 6to4: an unknown relay, to an IPv4 address inside
        "2620:4f:8000::/48",  # AS112
        "3ffe::/16",  # a testing network that is no more
        "3fff::/20",  # documentation
    )
)

_MAPPED: Final = IPv6Network("::ffff:0:0/96")
_NAT64: Final = IPv6Network("64:ff9b::/96")
"""What a network without IPv4 reaches IPv4 by. Its neighbour 64:ff9b:1::/48 is for local use."""


def is_public(address: IPv4Address | IPv6Address) -> bool:
    """Whether it is a public unicast address; of an IPv6 one that stands for IPv4, the latter."""
    if isinstance(address, IPv4Address):
        return not any(address in network for network in _REFUSED_V4)
    if address.scope_id is not None:
        return False
    if address in _MAPPED or address in _NAT64:
        return is_public(IPv4Address(int(address) & 0xFFFF_FFFF))
    return address in _UNICAST_V6 and not any(address in network for network in _REFUSED_V6)
