"""Which hosts may be called, as the settings list them, and what a host of a URL means."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from ipaddress import AddressValueError, IPv4Address, IPv6Address

import idna

from skillroute.core.outbound.addresses import Reach, reach_of
from skillroute.core.settings.calling import OutboundSettings

_PORTS = {"http": 80, "https": 443}
_LABEL = re.compile(r"[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?")
# A last label that makes inet_aton, and browsers after it, read a name as an address: 0x7f.1, 017700000001, 127.1
_NUMBER = re.compile(r"[0-9]+|0x[0-9a-f]*")
_MAX_NAME = 253


class AddressRefused(Exception):
    """A URL, a host or an address of it that may not be reached. `str(error)` names the host, never its address."""


@dataclass(frozen=True, slots=True)
class Entry:
    """An entry of a list of hosts; `is_plain`: without TLS too."""

    host: str
    port: int | None = None
    is_plain: bool = False
    is_wildcard: bool = False

    def covers(self, host: str, port: int) -> bool:
        """Return whether the entry is of a host in its canonical form."""
        named = host.endswith(f".{self.host}") if self.is_wildcard else host == self.host
        return named and self.port in {None, port}


@dataclass(frozen=True, slots=True)
class HostRules:
    """The hosts that may be called.

    Attributes
    ----------
    hosts : tuple of Entry
        None: all whose addresses are public.
    private : tuple of Entry
        Those that may have private addresses.
    """

    hosts: tuple[Entry, ...] = ()
    private: tuple[Entry, ...] = ()

    @classmethod
    def of(cls, settings: OutboundSettings) -> HostRules:
        """Read the rules from the settings.

        Raises
        ------
        ValueError
            Names the variable, the entry and the reason.
        """
        return cls(
            tuple(_entries(settings.call_hosts, "SKILLROUTE_CALL_HOSTS", may_be_plain=False)),
            tuple(_entries(settings.call_private_hosts, "SKILLROUTE_CALL_PRIVATE_HOSTS", may_be_plain=True)),
        )

    @property
    def plain_origins(self) -> frozenset[str]:
        """The origins that may be reached without TLS, such as ``http://localhost:8080``."""
        named = [entry for entry in self.private if entry.is_plain]
        return frozenset(f"http://{entry.host}{f':{entry.port}' if entry.port else ''}" for entry in named)

    def check(self, scheme: str, host: str, port: int | None) -> None:
        """Refuse what may not be called, before its name is looked up.

        Raises
        ------
        AddressRefused
        """
        if scheme not in _PORTS:
            raise AddressRefused(f"the scheme {scheme[:20]!r} cannot be called: only https can")
        number = _PORTS[scheme] if port is None else port
        reach = self.reach(host, number)
        plain = any(entry.is_plain and entry.covers(canonical(host), number) for entry in self.private)
        if scheme == "http" and not plain:
            raise AddressRefused(
                f"{shown(host)} must be called by https, unless SKILLROUTE_CALL_PRIVATE_HOSTS names it with http://"
            )
        if (address := literal(canonical(host))) is not None:
            check_address(host, address, reach)

    def reach(self, host: str, port: int) -> Reach:
        """Return which addresses a host may have: `Reach.PUBLIC` ones alone, or `Reach.PRIVATE` ones too.

        Raises
        ------
        AddressRefused
            It may not be called at all.
        """
        try:
            name = canonical(host)
        except ValueError as error:
            raise AddressRefused(f"{shown(host)} {error}") from None
        if not 0 < port < 65536:
            raise AddressRefused(f"{shown(host)} has no port {port}")
        if any(entry.covers(name, port) for entry in self.private):
            return Reach.PRIVATE
        if self.hosts and not any(entry.covers(name, port) for entry in self.hosts):
            raise AddressRefused(f"{shown(host)} is not among the hosts that may be called (SKILLROUTE_CALL_HOSTS)")
        return Reach.PUBLIC


def check_address(host: str, address: str, reach: Reach) -> None:
    """Refuse an address that a host may not have.

    Raises
    ------
    AddressRefused
        Names the host alone: which address it has in a network is not for callers.
    """
    found = reach_of(address)
    if found is Reach.NEVER or (found is Reach.PRIVATE and reach is not Reach.PRIVATE):
        raise AddressRefused(
            f"{shown(host)} has an address that may not be reached; a private one may where "
            "SKILLROUTE_CALL_PRIVATE_HOSTS names the host"
        )


def canonical(host: str) -> str:
    """Return a host as it is looked up: IDNA of a name in small letters, an address in its shortest form.

    Raises
    ------
    ValueError
        The reason that follows on the host's name.

    Examples
    --------
    >>> canonical("Bücher.example"), canonical("[2606:4700::0:1]")
    ('xn--bcher-kva.example', '2606:4700::1')
    """
    if ":" in host or host.startswith("["):
        return _ipv6(host[1:-1] if host.startswith("[") and host.endswith("]") else host)
    name = host.lower()
    if not name.isascii():
        try:
            name = idna.encode(name).decode("ascii")
        except idna.IDNAError:
            raise ValueError("is not a name of a host") from None
    labels = name.split(".")
    if labels[-1] == "" or len(name) > _MAX_NAME:
        raise ValueError("must be the name of a host without a dot at its end")
    if _NUMBER.fullmatch(labels[-1]):
        return _ipv4(name)
    if not all(map(_LABEL.fullmatch, labels)):
        raise ValueError("is not a name of a host")
    return name


def literal(name: str) -> str | None:
    """Return the address that a host in its canonical form is, None of a name."""
    is_address = ":" in name or name.rpartition(".")[2].isdigit()
    return name if is_address else None


def shown(host: str) -> str:
    """Return what messages call a host: what was asked for, cut."""
    return host.encode("utf-8", "replace").decode("utf-8")[:100] or "the host"


def _ipv4(name: str) -> str:
    try:
        return str(IPv4Address(name))
    except AddressValueError:
        raise ValueError("must be a name, or an address as four decimal numbers") from None


def _ipv6(name: str) -> str:
    if "%" in name:
        raise ValueError("must be an address without a scope id")
    try:
        return str(IPv6Address(name))
    except AddressValueError:
        raise ValueError("is not an address") from None


def _entries(text: str, variable: str, *, may_be_plain: bool) -> Iterable[Entry]:
    for part in filter(None, (part.strip() for part in text.split(","))):
        try:
            yield _entry(part, may_be_plain=may_be_plain)
        except ValueError as error:
            raise ValueError(f"{variable}: {part[:100]!r} {error}") from None


def _entry(part: str, *, may_be_plain: bool) -> Entry:
    is_plain = part.lower().startswith("http://")
    if is_plain and not may_be_plain:
        raise ValueError("must not begin with http://: only private hosts are called without TLS")
    rest = part[7:] if is_plain else part[8:] if part.lower().startswith("https://") else part
    host, port = _parted(rest)
    is_wildcard = host.startswith("*.")
    name = canonical(host[2:] if is_wildcard else host)
    if is_wildcard and literal(name) is not None:
        raise ValueError("must name a domain after *.")
    return Entry(name, port, is_plain, is_wildcard)


def _parted(text: str) -> tuple[str, int | None]:
    """Return host and port of ``host:port``, ``[address]:port`` or a host alone."""
    found = re.fullmatch(r"(\[[^\]]*\]|[^:/@?#\[\]]*)(?::([0-9]{1,5}))?", text)
    if found is None and text.count(":") > 1 and not set(text) & set("/@?#[]"):
        return text, None
    if found is None:
        raise ValueError("must be a host, with a port where only that is meant, and nothing else")
    port = None if found[2] is None else int(found[2])
    if port is not None and not 0 < port < 65536:
        raise ValueError("must have a port of 1 to 65535")
    return found[1], port
