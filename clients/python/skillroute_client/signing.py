"""Requests that AWS takes: Signature Version 4 for API Gateway, and where the credentials come from.

Follows "Create a signed AWS API request" of the IAM user guide; tests compare it with botocore's.
"""

from __future__ import annotations

import hashlib
import hmac
import os
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any
from urllib.parse import quote

import httpx

from skillroute_client.errors import ConfigurationError

_ALGORITHM = "AWS4-HMAC-SHA256"
_SERVICE = "execute-api"
# What proxies may change on the way, such as accept-encoding, is left out; the host is always signed.
_SIGNED = ("content-type", "host", "x-amz-date", "x-amz-security-token")


@dataclass(frozen=True, slots=True)
class Credentials:
    """The credentials that sign requests for an AWS identity; the token is that of temporary credentials."""

    access_key_id: str
    secret_access_key: str = field(repr=False)
    session_token: str | None = field(default=None, repr=False)


class Signer:
    """Signs requests for API Gateway.

    Parameters
    ----------
    region : str
        Of the API.
    clock : callable
        Returns the time, in UTC.
    """

    def __init__(self, region: str, clock: Callable[[], datetime] = lambda: datetime.now(UTC)) -> None:
        self._region = region
        self._clock = clock

    def headers(self, request: httpx.Request, credentials: Credentials) -> dict[str, str]:
        """Return the headers that make a request signed; its body must be there already."""
        now = self._clock().strftime("%Y%m%dT%H%M%SZ")
        added = {"x-amz-date": now}
        if credentials.session_token:
            added["x-amz-security-token"] = credentials.session_token
        signed = {name: request.headers[name] for name in _SIGNED if name in request.headers} | added
        names = ";".join(sorted(signed))
        canonical = "\n".join(
            [
                request.method,
                _canonical_path(request.url),
                _canonical_query(request.url),
                *(f"{name}:{' '.join(signed[name].split())}" for name in sorted(signed)),
                "",
                names,
                hashlib.sha256(request.content).hexdigest(),
            ]
        )
        scope = f"{now[:8]}/{self._region}/{_SERVICE}/aws4_request"
        text = "\n".join([_ALGORITHM, now, scope, hashlib.sha256(canonical.encode()).hexdigest()])
        signature = hmac.new(self._key(credentials, now[:8]), text.encode(), hashlib.sha256).hexdigest()
        credential = f"{credentials.access_key_id}/{scope}"
        added["authorization"] = f"{_ALGORITHM} Credential={credential}, SignedHeaders={names}, Signature={signature}"
        return added

    def _key(self, credentials: Credentials, date: str) -> bytes:
        key = f"AWS4{credentials.secret_access_key}".encode()
        for part in (date, self._region, _SERVICE, "aws4_request"):
            key = hmac.new(key, part.encode(), hashlib.sha256).digest()
        return key


def default_credentials() -> Callable[[], Credentials]:
    """Return what finds credentials: those of the environment, then those that botocore finds where it is installed.

    Of botocore's (the extra `aws`) temporary ones are renewed.
    """
    found: list[Callable[[], Credentials]] = []

    def find() -> Credentials:
        credentials = environment_credentials()
        if credentials is not None:
            return credentials
        if not found:
            found.append(profile_credentials())
        return found[0]()

    return find


def environment_credentials() -> Credentials | None:
    """Return the credentials of ``AWS_ACCESS_KEY_ID`` and its companions, None where there are none."""
    key, secret = os.environ.get("AWS_ACCESS_KEY_ID"), os.environ.get("AWS_SECRET_ACCESS_KEY")
    if not key or not secret:
        return None
    return Credentials(key, secret, os.environ.get("AWS_SESSION_TOKEN") or None)


def profile_credentials(profile: str | None = None) -> Callable[[], Credentials]:
    """Return the credentials of a profile, or those that AWS's tools would find; renewed where they are temporary.

    Raises
    ------
    ConfigurationError
        botocore is not installed (the extra `aws`), or there are none.
    """
    hint = "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, give credentials=, or a token where tokens are taken"
    try:
        from botocore.exceptions import BotoCoreError  # noqa: PLC0415 (optional, and 0.1 s)
        from botocore.session import Session  # noqa: PLC0415
    except ImportError as error:
        raise ConfigurationError(
            f"requests must be signed, and the environment has no AWS credentials: {hint}; profiles, single sign-on "
            "and roles of machines need `pip install 'skillroute-client[aws]'`"
        ) from error
    source: Any = None

    def find() -> Credentials:
        nonlocal source
        try:
            source = source or Session(profile=profile).get_credentials()
            frozen = None if source is None else source.get_frozen_credentials()
        except BotoCoreError as error:  # a profile that is not there, a session of single sign-on that has ended
            raise ConfigurationError(
                f"requests must be signed, and the AWS credentials cannot be had: {error}"
            ) from error
        if frozen is None:
            raise ConfigurationError(f"requests must be signed, and there are no AWS credentials: {hint}")
        return Credentials(frozen.access_key, frozen.secret_key, frozen.token)

    return find


def _canonical_path(url: httpx.URL) -> str:
    # The path as it is sent, each part escaped once more: every service but S3 wants it so.
    return quote(url.raw_path.split(b"?", 1)[0].decode("ascii") or "/", safe="/~-_.")


def _canonical_query(url: httpx.URL) -> str:
    # As it is sent: `Connection.request` escapes it the way that signatures want it.
    pairs = [part.partition("=") for part in url.query.decode("ascii").split("&") if part]
    return "&".join(f"{name}={value}" for name, value in sorted((name, value) for name, _, value in pairs))
