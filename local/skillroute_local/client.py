"""A small client of the HTTP API, for the command line: what users call is what it calls."""

from __future__ import annotations

from types import TracebackType
from typing import Any, Self

import httpx

from skillroute_local.errors import LocalError


class Client:
    """Calls a Skillroute.

    Parameters
    ----------
    url : str
        Such as ``http://localhost:3000``.
    token : str or None
        Sent as a bearer token.
    """

    def __init__(self, url: str, token: str | None = None) -> None:
        headers = {"authorization": f"Bearer {token}"} if token else {}
        self._url = url
        self._http = httpx.Client(base_url=url, headers=headers, timeout=120.0, trust_env=False)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        self._http.close()

    def search(self, request: dict[str, Any]) -> dict[str, Any]:
        """Call `POST /api/v1/search`."""
        answer: dict[str, Any] = self._call("POST", "/api/v1/search", request)
        return answer

    def put_items(self, items: list[dict[str, Any]]) -> dict[str, Any]:
        """Call `PUT /api/v1/tools`."""
        answer: dict[str, Any] = self._call("PUT", "/api/v1/tools", {"items": items})
        return answer

    def health(self) -> dict[str, Any]:
        """Call `GET /health`."""
        answer: dict[str, Any] = self._call("GET", "/health")
        return answer

    def verify(self) -> dict[str, Any]:
        """Call `GET /api/v1/verify`."""
        answer: dict[str, Any] = self._call("GET", "/api/v1/verify")
        return answer

    def _call(self, method: str, path: str, body: object = None) -> Any:
        try:
            response = self._http.request(method, path, json=body)
        except httpx.HTTPError as error:
            raise LocalError(f"{self._url} does not answer ({error}): start it with `make run`") from error
        if response.is_success:
            return response.json()
        try:
            detail = response.json()["detail"]
        except (ValueError, KeyError, TypeError):
            detail = response.text[:200]
        if isinstance(detail, list):
            detail = "; ".join(f"{'.'.join(map(str, each['loc'][1:]))}: {each['msg']}" for each in detail)
        raise LocalError(f"{response.status_code}: {detail}")
