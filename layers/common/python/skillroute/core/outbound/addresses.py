"""Which IP addresses may be reached: public ones, private ones where the host is trusted with them, others never.

The lists are IANA's registries of special-purpose addresses (RFC 6890), with the metadata services of clouds, whose
answers are credentials. An address that carries an IPv4 address is judged by that one, or never reached.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from ipaddress import AddressValueError, IPv4Address, IPv4Network, IPv6Address, IPv6Network


class Reach(StrEnum):
    """Who may reach an address."""

    PUBLIC = "public"
    PRIVATE = "private"  # of this machine or a network of one's own: for hosts that are trusted with such
    NEVER = "never"


def _v4(*networks: str) -> tuple[IPv4Network, ...]:
    return tuple(map(IPv4Network, networks))


def _v6(*networks: str) -> tuple[IPv6Network, ...]:
    return tuple(map(IPv6Network, networks))


_METADATA_V4 = _v4("169.254.0.0/16", "168.63.129.16/32", "100.100.100.200/32", "192.0.0.192/32")
_METADATA_V6 = _v6("fd00:ec2::/32", "fd20:ce::/32")
_PRIVATE_V4 = _v4("10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16")
_PRIVATE_V6 = _v6("::1/128", "fc00::/7")
_NEVER_V4 = _v4(
    "0.0.0.0/8",
    "192.0.0.0/24",  # protocol assignments
    "192.0.2.0/24",  # documentation, as the two below
    "192.88.99.0/24",  # relays of 6to4
    "198.18.0.0/15",  # benchmarking
    "198.51.100.0/24",
    "203.0.113.0/24",
    "224.0.0.0/4",  # multicast
    "240.0.0.0/4",  # reserved, and broadcast
)
_GLOBAL_V6 = IPv6Network("2000::/3")
_NEVER_V6 = _v6(
    "2001::/23",  # protocol assignments: Teredo, benchmarking and ORCHID among them
    "2001:db8::/32",  # documentation, as 3fff::/20
    "2002::/16",  # 6to4
    "3fff::/20",
)
_MAPPED = IPv6Network("::ffff:0:0/96")
_NAT64 = IPv6Network("64:ff9b::/96")
_ISATAP = 0x5EFE  # the identifier of an interface that carries an IPv4 address (RFC 5214), with or without the bit u


def reach_of(address: str) -> Reach:
    """Return who may reach an address; one that is not written in its usual form, or has a scope id, is never reached.

    Examples
    --------
    >>> [str(reach_of(each)) for each in ("8.8.8.8", "::ffff:10.0.0.1", "169.254.169.254", "0x7f.1", "fe80::1%eth0")]
    ['public', 'private', 'never', 'never', 'never']
    """
    try:
        if ":" not in address:
            return _reach_of_v4(IPv4Address(address))
        return Reach.NEVER if "%" in address else _reach_of_v6(IPv6Address(address))
    except AddressValueError:
        return Reach.NEVER


def _reach_of_v4(address: IPv4Address) -> Reach:
    if _within(address, _METADATA_V4) or _within(address, _NEVER_V4):
        return Reach.NEVER
    return Reach.PRIVATE if _within(address, _PRIVATE_V4) else Reach.PUBLIC


def _reach_of_v6(address: IPv6Address) -> Reach:
    if address in _MAPPED:
        return _reach_of_v4(_embedded(address))
    if address in _NAT64:
        # RFC 6052: the prefix must not carry addresses that are not global.
        return _only_public(_reach_of_v4(_embedded(address)))
    if _within(address, _PRIVATE_V6):
        return Reach.NEVER if _within(address, _METADATA_V6) else Reach.PRIVATE
    if address not in _GLOBAL_V6 or _within(address, _NEVER_V6):
        return Reach.NEVER
    if (int(address) >> 32) & 0xFFFF_FFFF in {_ISATAP, _ISATAP | 0x0200_0000}:
        return _only_public(_reach_of_v4(_embedded(address)))
    return Reach.PUBLIC


def _embedded(address: IPv6Address) -> IPv4Address:
    return IPv4Address(int(address) & 0xFFFF_FFFF)


def _only_public(reach: Reach) -> Reach:
    return Reach.PUBLIC if reach is Reach.PUBLIC else Reach.NEVER


def _within(address: IPv4Address | IPv6Address, networks: Iterable[IPv4Network] | Iterable[IPv6Network]) -> bool:
    return any(address in network for network in networks)
