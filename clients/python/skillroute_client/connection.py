"""Where a Skillroute is and how callers show who they are: requests with a token or a signature."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from enum import Enum
from typing import TypedDict
from urllib.parse import quote, urlencode

import httpx

from skillroute_client.errors import ConfigurationError
from skillroute_client.signing import Credentials, Signer, default_credentials
from skillroute_client.version import __version__

DEFAULT_URL = "http://localhost:3000"
_LOOPBACK = {"localhost", "127.0.0.1", "::1"}
# API, or API-VPCENDPOINT, .execute-api.REGION., behind it the names of AWS's partitions that anybody can have.
_EXECUTE_API = re.compile(r"[a-z0-9-]+\.execute-api\.([a-z0-9-]+)\.amazonaws\.(?:com|com\.cn|eu)")

Token = str | Callable[[], str]
CredentialsSource = Credentials | Callable[[], Credentials]

_AGENT = f"skillroute-client/{__version__}"


class FromEnvironment(Enum):
    """Stands for an argument that was left out: the environment may have it. None means that there is none."""

    VALUE = "environment"


FROM_ENVIRONMENT = FromEnvironment.VALUE


TIMEOUT_S = 60.0


class ConnectionOptions(TypedDict, total=False):
    """The options of both clients and of `Connection`; it says what each one means."""

    token: Token | FromEnvironment | None
    sign_region: str | FromEnvironment | None
    credentials: CredentialsSource | None
    timeout_s: float


class Connection:
    """Makes the requests to one Skillroute.

    Parameters
    ----------
    http : httpx.Client or httpx.AsyncClient
        Builds requests, with its own headers and ours.
    url : str or None
        Such as ``https://api.example.com``, with or without a path before ``/api``; None means `DEFAULT_URL`. Left
        out, it is ``SKILLROUTE_URL``.
    token : str, callable or None
        Sent as a bearer token; a callable is asked for each request's. Left out, it is ``SKILLROUTE_TOKEN``.
    sign_region : str or None
        Instead of a token: requests are signed for API Gateway in this region. Left out, it is
        ``SKILLROUTE_SIGN_REGION``. Without either, those to a host of execute-api are signed for the region in its
        name.
    credentials : Credentials, callable or None
        Signs; None means those of the environment, then those that botocore finds where it is installed.
    timeout_s : float
        For each attempt, in seconds.

    Attributes
    ----------
    has_answered : bool
        Whether anything has ever answered there.

    Raises
    ------
    ConfigurationError
        The URL is none, or there are a token and a region: both would be the one header `authorization`.
    """

    def __init__(
        self,
        http: httpx.Client | httpx.AsyncClient,
        *,
        url: str | FromEnvironment | None,
        token: Token | FromEnvironment | None = FROM_ENVIRONMENT,
        sign_region: str | FromEnvironment | None = FROM_ENVIRONMENT,
        credentials: CredentialsSource | None = None,
        timeout_s: float = TIMEOUT_S,
    ) -> None:
        self.url = url_of(url)
        self.has_answered = False
        self._http = http
        self._timeout_s = timeout_s
        self._token, region = _who(self.url, token, sign_region)
        self._signer = Signer(region) if region else None
        self._credentials = credentials or default_credentials()

    @property
    def is_signed(self) -> bool:
        """Whether requests are signed."""
        return self._signer is not None

    @property
    def has_token(self) -> bool:
        """Whether requests carry a token."""
        return self._token is not None

    def request(
        self,
        method: str,
        path: str,
        params: Mapping[str, str],
        content: bytes | None,
        headers: Mapping[str, str],
    ) -> httpx.Request:
        """Return a request that is ready to be sent. Raises `ConfigurationError` without credentials to sign it."""
        own = {"accept": "application/json", "user-agent": _AGENT, **headers}
        if content is not None:
            own["content-type"] = "application/json"
        token = self._token() if callable(self._token) else self._token
        if token:
            own["authorization"] = f"Bearer {token}"
        request = self._http.build_request(
            method, f"{self.url}{path}{_query(params)}", content=content, headers=own, timeout=self._timeout_s
        )
        if self._signer:
            credentials = self._credentials() if callable(self._credentials) else self._credentials
            request.headers.update(self._signer.headers(request, credentials))
        return request


def url_of(url: str | FromEnvironment | None) -> str:
    """Return where Skillroute is: as it was given, else as the environment has it, else on this machine."""
    found = os.environ.get("SKILLROUTE_URL") if isinstance(url, FromEnvironment) else url
    found = (found or DEFAULT_URL).rstrip("/")
    if not re.match(r"https?://[^/]", found):
        raise ConfigurationError(f"the URL must begin with http:// or https:// and name a host, not {found!r}")
    return found


def is_here(url: str) -> bool:
    """Return whether a URL is of this machine, to which no proxy leads."""
    return httpx.URL(url).host in _LOOPBACK


def execute_api_region(url: str) -> str | None:
    """Return the region of an API Gateway host of AWS, None for any other host: nothing is signed for that unasked."""
    found = _EXECUTE_API.fullmatch(httpx.URL(url).host)
    return found[1] if found else None


def _who(
    url: str, token: Token | FromEnvironment | None, sign_region: str | FromEnvironment | None
) -> tuple[Token | None, str | None]:
    """Return the token or the region to sign for. What is given goes before what the environment has."""
    token_left_out = isinstance(token, FromEnvironment)
    region_left_out = isinstance(sign_region, FromEnvironment)
    found_token = _environment("TOKEN") if isinstance(token, FromEnvironment) else token or None
    found_region = _environment("SIGN_REGION") if isinstance(sign_region, FromEnvironment) else sign_region or None
    if found_token and found_region and token_left_out != region_left_out:
        found_token, found_region = (None, found_region) if token_left_out else (found_token, None)
    if found_token and found_region:
        raise ConfigurationError("requests are signed or carry a token: give sign_region or token, not both")
    if found_token:
        return found_token, None
    asked_for_none = sign_region is None and not region_left_out
    return None, found_region or (None if asked_for_none else execute_api_region(url))


def _query(params: Mapping[str, str]) -> str:
    # Spaces as %20, not as httpx's +: a signature is of the one form.
    return f"?{urlencode(params, quote_via=quote, safe='')}" if params else ""


def _environment(name: str) -> str | None:
    return os.environ.get(f"SKILLROUTE_{name}") or None
