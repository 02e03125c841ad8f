"""API Gateway's part: which of template.yaml's routes takes a request, and the event that its function gets."""

from __future__ import annotations

import base64
import gzip
import json
import re
from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import parse_qsl, unquote

ROUTES = {
    "ANY /api/v1/search": "search",
    "ANY /api/v1/search/{proxy+}": "search",
    "ANY /api/v1/tools/search_messages": "search",
    "ANY /api/v1/tools/search_messages_product": "search",
    "ANY /api/v1/verify": "search",
    "GET /health": "search",
    "GET /ready": "search",
    "ANY /mcp": "mcp",
    "GET /.well-known/oauth-protected-resource": "mcp",
    "GET /.well-known/oauth-protected-resource/mcp": "mcp",
    "GET /.well-known/mcp/server-card.json": "mcp",
    "GET /mcp/server-card": "mcp",
    "ANY /api/v1/skills": "skills",
    "ANY /api/v1/skills/{proxy+}": "skills",
    "ANY /api/v1/tools/{id}/skills": "skills",
    "ANY /api/v1/{proxy+}": "catalog",
    "ANY /oauth/{page}": "catalog",
    "ANY /v0.1/servers": "catalog",
    "ANY /v0.1/servers/{proxy+}": "catalog",
}
"""The function behind each route."""

_ACCOUNT = "123456789012"
_REGION = "us-east-1"
_API = "a1b2c3d4e5"
_HOST = f"{_API}.execute-api.{_REGION}.amazonaws.com"
_HEADERS = {
    "accept": "application/json",
    "accept-encoding": "gzip, deflate",
    "host": _HOST,
    "user-agent": "python-httpx/0.28.1",
    "x-amzn-trace-id": "Root=1-6b0166f0-3c1f0d7a5b2e4f6081a9c301",
    "x-forwarded-for": "198.51.100.24",
    "x-forwarded-port": "443",
    "x-forwarded-proto": "https",
}
_VARIABLE = re.compile(r"{(\w+)(\+?)}")


def route_of(method: str, path: str, routes: Iterable[str] = tuple(ROUTES)) -> tuple[str, dict[str, str]] | None:
    """Return the route that takes a request, with its path parameters; None where the API has none.

    A path that is matched whole goes before a greedy one, words before variables, more of the path before less, and a
    method before ANY (API Gateway's "Routing API requests" for HTTP APIs).
    """
    found = []
    for key in routes:
        its_method, its_path = key.split(" ")
        match = re.fullmatch(
            _VARIABLE.sub(lambda name: f"(?P<{name[1]}>{'.+' if name[2] else '[^/]+'})", its_path), path
        )
        if match and its_method in {method, "ANY"}:
            words = [not _VARIABLE.fullmatch(part) for part in its_path.split("/")]
            found.append(("+}" not in its_path, words, its_method != "ANY", key, match.groupdict()))
    if not found:
        return None
    *_, key, parameters = max(found, key=lambda route: route[:4])
    return key, parameters


def http_event(request: str, body: Any = None, authorizer: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Return what a function gets for a request, in the payload format 2.0.

    Parameters
    ----------
    request : str
        Method and path, with the query as it stands in the URL: ``GET /api/v1/tools?limit=20``.
    body : Any
        What is sent as JSON; None sends nothing.
    authorizer : mapping
        What the authorizer found, as `signed_by` and `with_claims` return it; None where no authorizer ran.

    Notes
    -----
    A request that no route takes has the key ``$default``, as behind an API that has such a route.
    """
    method, _, target = request.partition(" ")
    path, _, query = target.partition("?")
    key, parameters = route_of(method, unquote(path)) or ("$default", {})
    text = None if body is None else json.dumps(body, separators=(",", ":"), ensure_ascii=False)
    event = {
        "version": "2.0",
        "routeKey": key,
        "rawPath": path,
        "rawQueryString": query,
        "headers": {**_HEADERS, **_authorization(authorizer), **_content(text)},
        "queryStringParameters": _values(query),
        "requestContext": _context(key, method, path, authorizer),
        "pathParameters": parameters or None,
        "body": text,
        "isBase64Encoded": False,
    }
    return _without_nothing(event)


def _context(key: str, method: str, path: str, authorizer: Mapping[str, Any] | None) -> dict[str, Any]:
    http = {"method": method, "path": path, "protocol": "HTTP/1.1"}
    context = {
        "accountId": _ACCOUNT,
        "apiId": _API,
        "authorizer": authorizer,
        "domainName": _HOST,
        "domainPrefix": _API,
        "http": http | {"sourceIp": _HEADERS["x-forwarded-for"], "userAgent": _HEADERS["user-agent"]},
        "requestId": "VbQk1jPMliAEJ4w=",
        "routeKey": key,
        "stage": "$default",
        "time": "21/Nov/2026:09:40:00 +0000",
        "timeEpoch": 1795254000123,
    }
    return _without_nothing(context)


def _without_nothing(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Leave out what a request does not have, as API Gateway does."""
    return {name: value for name, value in fields.items() if value is not None}


def body_sent(answer: Mapping[str, Any]) -> bytes:
    """Return the body that a client reads of what a function answered: out of base64, and uncompressed."""
    text = answer.get("body") or ""
    body = base64.b64decode(text) if answer.get("isBase64Encoded") else text.encode()
    return gzip.decompress(body) if answer.get("headers", {}).get("content-encoding") == "gzip" else body


def signed_by(role: str) -> dict[str, Any]:
    """Return what is found of a request that was signed with a session of a role, an ARN."""
    account, name = role.split(":")[4], role.rpartition("/")[2]
    return {
        "iam": {
            "accessKey": "ASIAIOSFODNN7EXAMPLE",
            "accountId": account,
            "callerId": f"AROAIOSFODNN7EXAMPLE:{name}",
            "cognitoIdentity": None,
            "principalOrgId": "o-a1b2c3d4e5",
            "userArn": f"arn:aws:sts::{account}:assumed-role/{name}/{name}",
            "userId": f"AROAIOSFODNN7EXAMPLE:{name}",
        }
    }


def with_claims(claims: Mapping[str, str]) -> dict[str, Any]:
    """Return what is found of a request whose token has these claims, all of them text."""
    return {"jwt": {"claims": dict(claims), "scopes": None}}


def _authorization(authorizer: Mapping[str, Any] | None) -> dict[str, str]:
    """Return the headers that the authorizer read."""
    if authorizer and "iam" in authorizer:
        return {
            "authorization": (
                f"AWS4-HMAC-SHA256 Credential=ASIAIOSFODNN7EXAMPLE/20261121/{_REGION}/execute-api/aws4_request, "
                f"SignedHeaders=accept;host;x-amz-date;x-amz-security-token, Signature={'fe5f80f7' * 8}"
            ),
            "x-amz-date": "20261121T094000Z",
            "x-amz-security-token": "IQoJb3JpZ2luX2VjEXAMPLETOKEN",
        }
    return {"authorization": "Bearer eyJhbGciOiJSUzI1NiIsImtpZCI6ImV4YW1wbGUifQ.e30.ZXhhbXBsZQ"} if authorizer else {}


def _content(text: str | None) -> dict[str, str]:
    return {} if text is None else {"content-length": str(len(text.encode())), "content-type": "application/json"}


def _values(query: str) -> dict[str, str] | None:
    """Return the query's parameters; commas stand between the values of one that comes more than once."""
    values: dict[str, list[str]] = {}
    for name, value in parse_qsl(query, keep_blank_values=True):
        values.setdefault(name, []).append(value)
    return {name: ",".join(several) for name, several in values.items()} or None
