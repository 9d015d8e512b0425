"""Determine whether an IP address is public. Webhooks are sent to public addresses only.

The tables contain the address ranges of IANA's special-purpose registries and a few more ranges. If
it is doubtful whether an address is public, the address is rejected.
"""

from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network
from typing import Final

_BLOCKED_V4: Final = tuple(
    IPv4Network(network)
    for network in (
        "0.0.0.0/8",  # "this network", used before a host has an address
        "10.0.0.0/8",  # private
        "100.64.0.0/10",  # carrier-grade NAT, and the metadata service of some clouds
        "127.0.0.0/8",  # loopback
        "168.63.129.16/32",  # metadata service of a cloud, on a public address
        "169.254.0.0/16",  # link-local, and the metadata service of most clouds
        "172.16.0.0/12",  # private
        "192.0.0.0/24",  # protocol assignments
        "192.0.2.0/24",  # documentation
        "192.31.196.0/24",  # AS112: sinks for misdirected queries
        "192.52.193.0/24",  # multicast relays
        "192.88.99.0/24",  # 6to4 relays
        "192.168.0.0/16",  # private
        "192.175.48.0/24",  # AS112
        "198.18.0.0/15",  # benchmarking
        "198.51.100.0/24",  # documentation
        "203.0.113.0/24",  # documentation
        "224.0.0.0/4",  # multicast
        "240.0.0.0/4",  # reserved and broadcast
    )
)

_UNICAST_V6: Final = IPv6Network("2000::/3")
"""The range of global unicast addresses.

IPv6 addresses outside this range are loopback, local, multicast or reserved addresses.
"""

_BLOCKED_V6: Final = tuple(
    IPv6Network(network)
    for network in (
        "2001::/23",  # protocol assignments: Teredo, benchmarking, ORCHID
        "2001:db8::/32",  # documentation
        "2002::/16",  # 6to4: an unknown relay to an embedded IPv4 address
        "2620:4f:8000::/48",  # AS112
        "3ffe::/16",  # former test network
        "3fff::/20",  # documentation
    )
)

_MAPPED: Final = IPv6Network("::ffff:0:0/96")
_NAT64: Final = IPv6Network("64:ff9b::/96")
"""NAT64 prefix of IPv6-only networks. 64:ff9b:1::/48 is for local use and not included."""


def is_public(address: IPv4Address | IPv6Address) -> bool:
    """Return whether the address is a public unicast address.

    If an IPv6 address contains an IPv4 address (IPv4-mapped or NAT64), the IPv4 address is checked.
    """
    if isinstance(address, IPv4Address):
        return not any(address in network for network in _BLOCKED_V4)
    if address.scope_id is not None:
        return False
    if address in _MAPPED or address in _NAT64:
        return is_public(IPv4Address(int(address) & 0xFFFF_FFFF))
    return address in _UNICAST_V6 and not any(address in network for network in _BLOCKED_V6)
