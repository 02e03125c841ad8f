"""Where clients learn who issues tokens: the metadata of a protected resource (RFC 9728)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from starlette.requests import Request

METADATA_PATH = "/.well-known/oauth-protected-resource"
"""Behind it stands the path of the resource that is meant (RFC 9728, section 3.1)."""


@dataclass(frozen=True, slots=True)
class ProtectedResource:
    """Who lets callers in.

    Attributes
    ----------
    issuer : str
        Of the tokens that are taken.
    scope_prefix : str
        What tokens put before scopes.
    """

    issuer: str
    scope_prefix: str = ""


def metadata_of(resource: ProtectedResource, request: Request, path: str) -> dict[str, Any]:
    """Return the metadata of what answers at a path of the host that was asked."""
    return {
        "resource": url_of(request, path),
        "authorization_servers": [resource.issuer],
        "scopes_supported": [f"{resource.scope_prefix}search"],
        "bearer_methods_supported": ["header"],
        "resource_name": "Skillroute",
    }


def url_of(request: Request, path: str) -> str:
    """Return the URL of a path of the host that was asked, by the name that it was asked by."""
    return f"{request.url.scheme}://{request.url.netloc}{path}"
