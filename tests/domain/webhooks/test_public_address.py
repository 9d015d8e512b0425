"""Tests that compare `is_public` with IANA's address registries and Python's ``ipaddress``."""

from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from chalicelib.domain.webhooks.public_address import is_public

# From https://www.iana.org/assignments/iana-ipv4-special-registry and …/iana-ipv6-special-registry:
# all ranges that are not globally reachable, and the reachable ranges in which no receiver can run.
SPECIAL = """
0.0.0.0/8 0.0.0.0/32 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24
192.0.0.0/29 192.0.0.8/32 192.0.0.9/32 192.0.0.10/32 192.0.0.170/32 192.0.0.171/32 192.0.2.0/24
192.31.196.0/24 192.52.193.0/24 192.88.99.0/24 192.168.0.0/16 192.175.48.0/24 198.18.0.0/15
198.51.100.0/24 203.0.113.0/24 240.0.0.0/4 255.255.255.255/32
::1/128 ::/128 64:ff9b:1::/48 100::/64 100:0:0:1::/64 2001::/23 2001::/32 2001:1::1/128
2001:1::2/128 2001:1::3/128 2001:2::/48 2001:3::/32 2001:4:112::/48 2001:10::/28 2001:20::/28
2001:30::/28 2001:db8::/32 2002::/16 2620:4f:8000::/48 3fff::/20 5f00::/16 fc00::/7 fe80::/10
""".split()
# Ranges from other registries: multicast, site-local, IPv4-compatible, cloud-specific, unallocated.
OTHER_RANGES = """
224.0.0.0/4 168.63.129.16/32 100.100.100.200/32 169.254.169.254/32 169.254.170.2/32 ff00::/8
fec0::/10 ::/96 ::ffff:0:0:0/96 fd00:ec2::254/128 fd20:ce::254/128 4000::/2 8000::/1 3ffe::/16
""".split()

NOT_PUBLIC = [ip_network(text) for text in SPECIAL + OTHER_RANGES]
IPV4 = st.ip_addresses(v=4).map(lambda address: IPv4Address(int(address)))


def addresses_in(network: IPv4Network | IPv6Network) -> st.SearchStrategy[int]:
    return st.integers(int(network.network_address), int(network.broadcast_address))


def embeds_ipv4(address: IPv4Address | IPv6Address) -> bool:
    """Return whether the address is an IPv6 address that embeds an IPv4 address.

    A separate test covers these addresses.
    """
    mapped = IPv6Network("::ffff:0:0/96"), IPv6Network("64:ff9b::/96")
    return any(address in network for network in mapped)


@pytest.mark.parametrize("network", NOT_PUBLIC, ids=str)
@settings(max_examples=10)
@given(data=st.data())
def test_addresses_in_reserved_ranges_are_not_public(
    network: IPv4Network | IPv6Network, data: st.DataObject
) -> None:
    address_class = type(network.network_address)
    assert not is_public(network.network_address)
    assert not is_public(network.broadcast_address)
    assert not is_public(address_class(data.draw(addresses_in(network))))


@given(st.ip_addresses(v=4))
@example(IPv4Address("8.8.8.8"))
def test_ipv4_addresses_outside_reserved_ranges_are_public(address: IPv4Address) -> None:
    is_listed = any(address in network for network in NOT_PUBLIC if network.version == 4)
    assert is_public(address) is not is_listed


@given(st.one_of(st.ip_addresses(v=6), addresses_in(IPv6Network("2000::/3")).map(IPv6Address)))
@example(IPv6Address("2606:4700:4700::1111"))
def test_allocated_ipv6_addresses_are_public(address: IPv6Address) -> None:
    is_listed = any(address in network for network in NOT_PUBLIC if network.version == 6)
    if not embeds_ipv4(address):
        assert is_public(address) is (address in IPv6Network("2000::/3") and not is_listed)


@given(st.one_of(st.ip_addresses(), addresses_in(IPv6Network("2000::/3")).map(IPv6Address)))
def test_public_address_is_also_global_according_to_standard_library(
    address: IPv4Address | IPv6Address,
) -> None:
    if is_public(address) and not embeds_ipv4(address):
        assert address.is_global
        assert not address.is_private
        assert not address.is_loopback
        assert not address.is_link_local
        assert not address.is_multicast
        assert not address.is_unspecified
        assert not address.is_reserved


@given(IPV4)
@example(IPv4Address("169.254.169.254"))
@example(IPv4Address("8.8.8.8"))
def test_ipv6_address_is_public_if_embedded_ipv4_address_is_public(address: IPv4Address) -> None:
    for prefix in ("::ffff:0:0", "64:ff9b::"):
        assert is_public(IPv6Address(int(IPv6Address(prefix)) | int(address))) == is_public(address)


@given(IPV4, st.integers(0, 2**80 - 1))
def test_tunnel_addresses_are_not_public(address: IPv4Address, suffix: int) -> None:
    assert not is_public(IPv6Address((0x2002 << 112) | (int(address) << 80) | suffix))
    teredo = (0x20010000 << 96) | (suffix << 32 & (2**96 - 1)) | (int(address) ^ 0xFFFFFFFF)
    assert not is_public(IPv6Address(teredo))


@pytest.mark.parametrize(
    "text",
    [
        "::ffff:169.254.169.254",
        "64:ff9b::a9fe:a9fe",
        "2002:a9fe:a9fe::1",
        "fd00:ec2::254",
        "fe80::1%eth0",
        "2606:4700::1%eth0",
    ],
)
def test_metadata_service_address_is_not_public_in_any_notation(text: str) -> None:
    assert not is_public(ip_address(text))
