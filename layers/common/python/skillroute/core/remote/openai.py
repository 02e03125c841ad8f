"""One path of a server that speaks OpenAI's API: what all its calls have in common."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from skillroute.core.errors.model import ConfigurationError, DependencyUnavailable, SecretUnavailable
from skillroute.core.remote.calls import MAX_MESSAGE_LENGTH, is_transient, retry_after_s
from skillroute.core.secrets import Secret
from skillroute.core.time.retry import TransientFailure

if TYPE_CHECKING:
    import httpx


_KEY_REFUSED = frozenset({401, 403})
_BLAMES_WHAT_WAS_SENT = frozenset({400, 413, 422})
_NO_HEADER = "holds a space or an unprintable character"


class OpenAIEndpoint:
    """Posts JSON to one path of an OpenAI-compatible server. Safe to call from several threads; connects on first use.

    Parameters
    ----------
    path : str
        Behind `base_url`: ``embeddings``, ``chat/completions``.
    base_url : str
        Up to and including the version: ``https://api.openai.com/v1``.
    api_key : str, Secret or None
        Sent as a bearer token. Never part of an error message. A secret is read again when the key is refused.
    what : str
        The endpoint as messages name it: ``the embedding endpoint``.
    error : type
        What it is when a call fails for good.
    refused : type or None
        What it is when the server blames what it was sent (400, 413, 422); None where that makes no difference.

    Raises
    ------
    ConfigurationError
        The package httpx is missing, or the key holds characters that no header can.
    """

    def __init__(
        self,
        path: str,
        *,
        base_url: str,
        api_key: str | Secret | None,
        what: str,
        error: type[DependencyUnavailable],
        refused: type[DependencyUnavailable] | None = None,
    ) -> None:
        if find_spec("httpx") is None:
            raise ConfigurationError(f"{what} needs the package httpx")
        if isinstance(api_key, str) and not _fits_a_header(api_key):
            raise ConfigurationError(f"the API key of {what} {_NO_HEADER}")
        self._url = f"{base_url.rstrip('/')}/{path}"
        self._api_key = api_key
        self._what = what
        self._error = error
        self._refused = refused or error
        self._lock = threading.Lock()
        self._client: httpx.Client | None = None

    def post(self, body: Mapping[str, Any], *, timeout_s: float) -> httpx.Response:
        """Make one attempt, and return an answer that is a success.

        Raises
        ------
        TransientFailure
            The server cannot be reached, was silent for `timeout_s` seconds, or answered 408, 429 or 5xx.
        DependencyUnavailable
            Anything else went wrong: one of the errors that were given to the constructor.
        """
        key = self._key()
        response = self._sent(body, key, timeout_s=timeout_s)
        if response.status_code in _KEY_REFUSED and (renewed := self._key(again=True)) != key:
            key = renewed
            response = self._sent(body, key, timeout_s=timeout_s)
        self._check_status(response, key)
        return response

    def close(self) -> None:
        """Close the connections. The next call opens new ones."""
        with self._lock:
            client, self._client = self._client, None
        if client is not None:
            client.close()

    def _sent(self, body: Mapping[str, Any], key: str | None, *, timeout_s: float) -> httpx.Response:
        import httpx  # noqa: PLC0415 - 90 ms that a process which never calls does not pay

        headers = {"Authorization": f"Bearer {key}"} if key else {}
        try:
            return self._connected().post(self._url, json=body, headers=headers, timeout=timeout_s)
        except (httpx.UnsupportedProtocol, httpx.InvalidURL) as error:
            raise self._error(f"{self._what}'s URL is wrong: {error}") from error
        except httpx.TimeoutException as error:
            raise TransientFailure(f"{self._what} timed out ({type(error).__name__})") from error
        except httpx.TransportError as error:
            raise TransientFailure(f"{self._what} cannot be reached: {error}") from error
        except httpx.HTTPError as error:
            raise self._error(f"{self._what}'s answer is unreadable: {error}") from error

    def _key(self, *, again: bool = False) -> str | None:
        if self._api_key is None or isinstance(self._api_key, str):
            return self._api_key
        try:
            key = self._api_key.read(again=again)
        except SecretUnavailable as error:
            raise self._error(f"{self._what} cannot be called: {error}") from error
        if not _fits_a_header(key):
            raise self._error(f"the API key of {self._what} {_NO_HEADER}")
        return key

    def _connected(self) -> httpx.Client:
        import httpx  # noqa: PLC0415 - see _sent

        with self._lock:
            if self._client is None:
                self._client = httpx.Client()
            return self._client

    def _check_status(self, response: httpx.Response, key: str | None) -> None:
        if response.is_success:
            return
        message = f"{self._what} answered {response.status_code}: {_server_message(response, key)}"
        if is_transient(response.status_code):
            raise TransientFailure(message, retry_after_s=retry_after_s(response.headers.get("retry-after")))
        raise (self._refused if response.status_code in _BLAMES_WHAT_WAS_SENT else self._error)(message)


def _fits_a_header(key: str) -> bool:
    # A key with a newline at its end, as files have it, would fail later, in a message that quotes the header.
    return key.isascii() and key.isprintable() and " " not in key


def _server_message(response: httpx.Response, key: str | None) -> str:
    """Return the server's own words, short, without the key that some servers repeat."""
    try:
        body = response.json()
        error = body.get("error", body) if isinstance(body, dict) else body
        message = str(error.get("message", error) if isinstance(error, dict) else error)
    except ValueError:
        message = response.text
    if key:
        message = message.replace(key, "[key]")
    return message.strip()[:MAX_MESSAGE_LENGTH] or "no message"
