"""A small client of the HTTP API, for the command line: what users call is what it calls."""

from __future__ import annotations

import re
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Literal, Self
from urllib.parse import quote

import httpx

from skillroute_local.again import PATIENT, Repeated
from skillroute_local.errors import LocalError, Misused, Refused
from skillroute_local.loopback import HOST

# API, or API-VPCENDPOINT, .execute-api.REGION., behind it the names of AWS's partitions that anybody can have.
_EXECUTE_API = re.compile(r"[a-z0-9-]+\.execute-api\.([a-z0-9-]+)\.amazonaws\.(?:com|com\.cn|eu)")
_SERVICE = "execute-api"

TIMEOUT_S = 120.0

Written = Literal["items", "servers", "agents", "projects", "products", "mail_agents", "messages", "lines"]
"""The kinds of things that can be written, mostly from files; lines are those of an export."""

_WRITES: dict[Written, tuple[str, str]] = {
    "lines": ("POST /api/v1/import", "lines"),
    "items": ("PUT /api/v1/tools", "items"),
    "servers": ("PUT /api/v1/servers", "servers"),
    "agents": ("PUT /api/v1/agents", "agents"),
    "projects": ("PUT /api/v1/mail/projects", "projects"),
    "products": ("PUT /api/v1/mail/products", "products"),
    "mail_agents": ("PUT /api/v1/mail/agents", "agents"),
    "messages": ("PUT /api/v1/mail/messages", "messages"),
}
"""The route of each kind, and how its body calls them."""


@dataclass(frozen=True, slots=True)
class Found:
    """One thing as the API answers it, and its version as `ETag` has it."""

    value: dict[str, Any]
    version: str | None


class Client:
    """Calls a Skillroute.

    Parameters
    ----------
    url : str
        Such as ``http://localhost:3000``.
    token : str, callable or None
        Sent as a bearer token; a callable is asked for each request's.
    sign_region : str or None
        Instead of a token: requests are signed for API Gateway in this region. Without either, those to a host of
        execute-api are signed for the region in its name.
    timeout_s : float
        For each request, in seconds.

    Raises
    ------
    Misused
        There are a token and a region: both would be the one header `authorization`.
    """

    def __init__(
        self,
        url: str,
        token: str | Callable[[], str] | None = None,
        *,
        sign_region: str | None = None,
        timeout_s: float = TIMEOUT_S,
    ) -> None:
        if token and sign_region:
            raise Misused("requests are signed or carry a token: give --sign-region or --token, not both")
        self._url = url
        self._token = token
        region = None if token else sign_region or execute_api_region(url)
        self._signature = AwsSignature(region) if region else None
        self._repeated = Repeated()
        self._http = httpx.Client(base_url=url, timeout=timeout_s, trust_env=False, auth=self._signature)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        self._http.close()

    def search(self, request: dict[str, Any]) -> dict[str, Any]:
        """Call `POST /api/v1/search`."""
        answer: dict[str, Any] = self._call("POST", "/api/v1/search", request)
        return answer

    def search_registry(self, request: dict[str, Any]) -> dict[str, Any]:
        """Call `POST /api/v1/search/registry`."""
        answer: dict[str, Any] = self._call("POST", "/api/v1/search/registry", request)
        return answer

    def search_messages(self, request: dict[str, Any]) -> dict[str, Any]:
        """Call `POST /api/v1/search/messages`."""
        return self.post("/api/v1/search/messages", request)

    def get(self, path: str, id_: str) -> Found:
        """Return one thing of the list at `path`."""
        return _found(self._send("GET", f"{path}/{quote(id_, safe='')}"))

    def replace(self, path: str, id_: str, value: Mapping[str, Any], *, version: str | None) -> Found:
        """Write one thing of the list at `path` over, where it is of this version still."""
        headers = {"If-Match": version} if version else {}
        return _found(self._send("PUT", f"{path}/{quote(id_, safe='')}", dict(value), headers))

    def delete(self, path: str, id_: str) -> None:
        """Delete one thing of the list at `path`."""
        self._send("DELETE", f"{path}/{quote(id_, safe='')}")

    def post(self, path: str, body: Mapping[str, Any]) -> dict[str, Any]:
        """Call `POST` of a path."""
        answer: dict[str, Any] = self._call("POST", path, dict(body))
        return answer

    def page(self, path: str, *, limit: int, offset: int, where: Mapping[str, str]) -> tuple[list[dict[str, Any]], int]:
        """Return a page of the list at `path`, and how many things there are in all."""
        response = self._send("GET", f"{path}?{_query(limit, offset, dict(where))}")
        rows: list[dict[str, Any]] = response.json()
        return rows, int(response.headers.get("x-total-count", offset + len(rows)))

    def put(self, kind: Written, values: list[dict[str, Any]]) -> dict[str, Any]:
        """Call the bulk write of a kind of things."""
        route, name = _WRITES[kind]
        method, path = route.split(" ")
        answer: dict[str, Any] = self._call(method, path, {name: values})
        return answer

    def be_patient(self) -> None:
        """Make calls again that fail in a way that may pass: for what may be done twice."""
        self._repeated.retry = PATIENT

    @property
    def lost_answers(self) -> int:
        """How many calls were made again whose first attempt may have done its work."""
        return self._repeated.lost

    def export_page(self, kinds: Sequence[str], after: str | None, limit: int) -> list[bytes]:
        """Call `GET /api/v1/export`, and return the lines of a page."""
        where = {"limit": str(limit)}
        if after is not None:
            where["after"] = after
        elif kinds:
            where["kind"] = ",".join(kinds)
        return self._send("GET", f"/api/v1/export?{httpx.QueryParams(where)}").content.splitlines()

    def items(self, *, limit: int, offset: int, **where: str) -> list[dict[str, Any]]:
        """Call `GET /api/v1/tools`; `where` are its conditions, such as the server."""
        answer: list[dict[str, Any]] = self._call("GET", f"/api/v1/tools?{_query(limit, offset, where)}")
        return answer

    def item(self, item_id: int) -> dict[str, Any]:
        """Call `GET /api/v1/tools/{id}`."""
        answer: dict[str, Any] = self._call("GET", f"/api/v1/tools/{item_id}")
        return answer

    def delete_item(self, item_id: int) -> None:
        """Call `DELETE /api/v1/tools/{id}`."""
        self._call("DELETE", f"/api/v1/tools/{item_id}")

    def entities(self, kind: Literal["servers", "agents"], *, limit: int, offset: int) -> list[dict[str, Any]]:
        """Call `GET /api/v1/servers` or `GET /api/v1/agents`."""
        answer: list[dict[str, Any]] = self._call("GET", f"/api/v1/{kind}?{_query(limit, offset, {})}")
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
        response = self._send(method, path, body)
        return response.json() if response.content else None

    def _send(
        self, method: str, path: str, body: object = None, headers: Mapping[str, str] | None = None
    ) -> httpx.Response:
        more = dict(headers or {})
        response = self._repeated.run(
            lambda: self._http.request(method, path, json=body, headers=self._headers() | more), self._unreachable
        )
        if response.is_success:
            return response
        detail, answer = _detail(response), _object(response)
        raise Refused(
            f"{response.status_code}: {detail}{self._hint(response)}",
            status=response.status_code,
            detail=detail,
            error_code=answer.get("code"),
            request_id=answer.get("request_id") or response.headers.get("x-request-id"),
            current=answer.get("current"),
        )

    def _unreachable(self, error: httpx.HTTPError) -> str:
        is_here = httpx.URL(self._url).host in {HOST, "localhost"}
        hint = ": start it with `make run`" if is_here else ""
        return f"{self._url} does not answer ({error}){hint}"

    def _hint(self, response: httpx.Response) -> str:
        if response.status_code == 401:
            if not self._token:
                return ": give a token with --token or SKILLROUTE_TOKEN"
            if "detail" in _object(response):
                return ""  # ours say what is wrong with it; API Gateway says Unauthorized
            return ": the token was refused: it may have expired, or be of another issuer or for another audience"
        # API Gateway's own refusals have a `message` where ours have a `detail`; it says Forbidden whatever is wrong.
        if response.status_code == 403 and "message" in _object(response):
            if self._signature:
                return ": the AWS credentials must be good, and their identity allowed execute-api:Invoke on this API"
            if not self._token:
                return ": where AuthMode is iam, requests to a domain of your own are signed with --sign-region"
        return ""

    def _headers(self) -> dict[str, str]:
        token = self._token() if callable(self._token) else self._token
        return {"authorization": f"Bearer {token}"} if token else {}


class AwsSignature(httpx.Auth):
    """Signs requests to API Gateway with the AWS credentials of the environment (Signature Version 4).

    They are looked for as AWS's own tools do, and renewed where they are temporary.

    Parameters
    ----------
    region : str
        Of the API.
    """

    requires_request_body = True  # the signature covers it

    def __init__(self, region: str) -> None:
        self._region = region
        self._credentials: Any = None

    def auth_flow(self, request: httpx.Request) -> Generator[httpx.Request, httpx.Response, None]:
        """Add the headers of a signature; a retry gets one of its own time. Raises `LocalError` without credentials."""
        from botocore.auth import SigV4Auth  # noqa: PLC0415 (0.1 s, for callers of AWS alone)
        from botocore.awsrequest import AWSRequest  # noqa: PLC0415

        # What proxies may change on the way, such as accept-encoding, is left out; the host is always signed.
        headers = {name: request.headers[name] for name in ("host", "content-type") if name in request.headers}
        draft = AWSRequest(request.method, str(request.url), headers, request.content)
        SigV4Auth(self._current(), _SERVICE, self._region).add_auth(draft)
        request.headers.update(dict(draft.headers.items()))
        yield request

    def _current(self) -> Any:
        from botocore.exceptions import BotoCoreError  # noqa: PLC0415
        from botocore.session import Session  # noqa: PLC0415

        try:
            self._credentials = self._credentials or Session().get_credentials()
            if self._credentials is not None:
                return self._credentials.get_frozen_credentials()
        except BotoCoreError as error:  # a profile that is not there, a session of single sign-on that has ended
            raise LocalError(f"requests must be signed, and the AWS credentials cannot be had: {error}") from error
        raise LocalError(
            "requests must be signed, and there are no AWS credentials: set AWS_PROFILE, or AWS_ACCESS_KEY_ID and "
            "AWS_SECRET_ACCESS_KEY; where tokens are taken, give one with --token or SKILLROUTE_TOKEN"
        )


def execute_api_region(url: str) -> str | None:
    """Return the region of an API Gateway host of AWS, None for any other host: nothing is signed for that unasked."""
    found = _EXECUTE_API.fullmatch(httpx.URL(url).host)
    return found[1] if found else None


def _found(response: httpx.Response) -> Found:
    return Found(response.json(), response.headers.get("etag"))


def _query(limit: int, offset: int, where: dict[str, str]) -> str:
    return str(httpx.QueryParams({"limit": limit, "offset": offset, **where}))


def _object(response: httpx.Response) -> dict[str, Any]:
    try:
        answer = response.json()
    except ValueError:
        return {}
    return answer if isinstance(answer, dict) else {}


def _detail(response: httpx.Response) -> str:
    answer = _object(response)
    detail = answer.get("detail", answer.get("message", response.text[:200]))
    if isinstance(detail, list):
        return "; ".join(f"{'.'.join(map(str, problem['loc'][1:]))}: {problem['msg']}" for problem in detail)
    return str(detail)
