"""Where the database is and how to get in."""

from __future__ import annotations

import json
import ssl
from dataclasses import dataclass, field, replace
from functools import cache, lru_cache
from typing import Any, Protocol, Self
from urllib.parse import parse_qs, unquote, urlsplit

from skillroute.core.errors.model import ConfigurationError, DatabaseUnavailable, SecretUnavailable
from skillroute.core.secrets import Secret

_LOOPBACK = {"127.0.0.1", "localhost", "::1"}
SSL_MODES = ("disable", "require", "verify-full")


@dataclass(frozen=True, slots=True)
class Address:
    """A database and a login: ``postgresql://user:password@host:port/database?sslmode=require``."""

    host: str
    port: int
    user: str
    password: str | None = field(repr=False)
    database: str
    sslmode: str
    authorities: str | None = field(default=None, repr=False)  # PEM, in addition to those that this machine trusts

    @classmethod
    def parse(cls, url: str, *, sslmode: str | None = None) -> Self:
        """Read a database URL. `sslmode` is disable, require or verify-full.

        Where the URL does not say it, it is the given one; else `require`, or `disable` on loopback.

        Raises
        ------
        ConfigurationError
            It is none; the message does not quote it.
        """
        malformed = "SKILLROUTE_DATABASE_URL must look like postgresql://user:password@host:5432/name"
        try:
            parts = urlsplit(url)
            port = parts.port or 5432
        except ValueError:  # brackets that do not match, or a port that is no number
            raise ConfigurationError(malformed) from None
        if parts.scheme not in {"postgresql", "postgres"} or not parts.hostname or not parts.username:
            raise ConfigurationError(malformed)
        sslmode = parse_qs(parts.query).get("sslmode", [sslmode or default_sslmode(parts.hostname)])[0]
        if sslmode not in SSL_MODES:
            raise ConfigurationError("SKILLROUTE_DATABASE_URL: sslmode must be disable, require or verify-full")
        return cls(
            host=parts.hostname,
            port=port,
            user=unquote(parts.username),
            password=unquote(parts.password) if parts.password else None,
            database=unquote(parts.path.lstrip("/")) or "postgres",
            sslmode=sslmode,
        )

    def ssl_context(self) -> ssl.SSLContext | bool:
        """Return what pg8000 takes: False for no TLS, else a context (`require` encrypts without checking who)."""
        if self.sslmode == "disable":
            return False
        return _encrypting() if self.sslmode == "require" else _verifying(self.authorities)


@cache
def _encrypting() -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    return context


@lru_cache(maxsize=8)
def _verifying(authorities: str | None) -> ssl.SSLContext:
    context = ssl.create_default_context()  # reads what this machine trusts, for 40 ms
    if authorities is not None:
        context.load_verify_locations(cadata=authorities)
    return context


def default_sslmode(host: str) -> str:
    """Return the default way to connect to a host: in the clear on loopback, encrypted everywhere else."""
    return "disable" if host in _LOOPBACK else "require"


class AddressSource(Protocol):
    """Says where the database is, each time that a connection is opened."""

    def __call__(self, *, again: bool = False) -> Address:
        """Return the address; `again` says that the last one's login was refused.

        Raises
        ------
        DatabaseUnavailable
            Nobody can say where it is.
        """
        ...


def fixed(address: Address) -> AddressSource:
    """Return the source of an address that does not change."""

    def source(*, again: bool = False) -> Address:
        return address

    return source


@dataclass(frozen=True, slots=True)
class SecretAddress:
    """`AddressSource` over a secret: a JSON object with ``url``, or with ``username``, ``password`` and the rest.

    What RDS writes into its secrets is understood: ``username`` and ``password``, and where it also says so ``host``,
    ``port`` and ``dbname``. What is given here goes before what the secret says, because a proxy stands before the host
    that a secret names; of a ``url`` only a missing `sslmode` is filled in. ``sslrootcert`` may hold the certificates
    (PEM) of authorities that this machine does not know, such as those of RDS.

    Attributes
    ----------
    host, database, sslmode : str or None
    port : int or None
    """

    secret: Secret
    host: str | None = None
    port: int | None = None
    database: str | None = None
    sslmode: str | None = None

    def __call__(self, *, again: bool = False) -> Address:
        try:
            text = self.secret.read(again=again)
        except SecretUnavailable as error:
            raise DatabaseUnavailable(f"PostgreSQL cannot be reached: {error}") from error
        return self._read(text)

    def _read(self, text: str) -> Address:
        try:
            parsed = json.loads(text)
        except ValueError:
            parsed = None
        if not isinstance(parsed, dict):
            raise DatabaseUnavailable("the database's secret is not a JSON object")
        authorities = _authorities(parsed)
        if parsed.get("url"):
            return replace(self._parsed(str(parsed["url"])), authorities=authorities)
        host = self.host or parsed.get("host")
        missing = [name for name, value in (("username", parsed.get("username")), ("host", host)) if not value]
        if missing:
            raise DatabaseUnavailable(f"the database's secret lacks {' and '.join(missing)}")
        return Address(
            host=str(host),
            port=self.port or _port(parsed.get("port")),
            user=str(parsed["username"]),
            password=str(parsed["password"]) if parsed.get("password") else None,
            database=self.database or str(parsed.get("dbname") or "postgres"),
            sslmode=self.sslmode or default_sslmode(str(host)),
            authorities=authorities,
        )

    def _parsed(self, url: str) -> Address:
        try:
            return Address.parse(url, sslmode=self.sslmode)
        except ConfigurationError as error:
            raise DatabaseUnavailable(f"the database's secret holds no usable URL: {error}") from error


@dataclass(frozen=True, slots=True)
class TokenAddress:
    """`AddressSource` of a user that logs in with tokens of RDS: the password is another one every few minutes."""

    token: Secret
    host: str
    port: int
    user: str
    database: str
    sslmode: str

    def __call__(self, *, again: bool = False) -> Address:
        try:
            password = self.token.read(again=again)
        except SecretUnavailable as error:
            raise DatabaseUnavailable(f"PostgreSQL cannot be reached: {error}") from error
        return Address(self.host, self.port, self.user, password, self.database, self.sslmode)


def _port(parsed: Any) -> int:
    try:
        return int(parsed or 5432)
    except (TypeError, ValueError):
        raise DatabaseUnavailable("the database's secret holds a port that is no number") from None


def _authorities(parsed: dict[str, Any]) -> str | None:
    authorities = parsed.get("sslrootcert")
    if not authorities:
        return None
    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT).load_verify_locations(cadata=str(authorities))
    except (ssl.SSLError, ValueError):
        raise DatabaseUnavailable("the database's secret holds an sslrootcert that is no PEM certificate") from None
    return str(authorities)
