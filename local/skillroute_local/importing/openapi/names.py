"""Names of the tools of an OpenAPI document, and of the server that stands for it."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from typing import Any

_NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9]+")
_NOT_IN_SERVERS = re.compile(r"[^a-z0-9.]+")
_HASHED = 6


def server_name(title: object, otherwise: str) -> str:
    """Return the name of the server that stands for an API: its title in lower case, with dashes.

    Examples
    --------
    >>> server_name("Swagger Petstore - OpenAPI 3.0", "petstore")
    'swagger-petstore-openapi-3.0'
    """
    words = _NOT_IN_SERVERS.sub("-", title.lower()).strip("-.") if isinstance(title, str) else ""
    return words[:128] or otherwise


def made_name(method: str, path: str) -> str:
    """Return the name of an operation that has no operationId.

    Examples
    --------
    >>> made_name("get", "/pets/{petId}/photos")
    'get_pets_petId_photos'
    """
    return f"{method}_{_NOT_IN_NAMES.sub('_', path).strip('_')}".rstrip("_")[:200]


def operation_names(operations: list[tuple[str, str, dict[str, Any]]]) -> list[str]:
    """Return the names of operations, given as path, method and operation.

    Of made names that several share each gets a hash of its path behind it, so that none depends on the order.
    """
    given = [_given(operation) for _, _, operation in operations]
    made = [made_name(method, path) for path, method, _ in operations]
    taken = Counter(known or name for known, name in zip(given, made, strict=True))
    return [
        known or (name if taken[name] == 1 else f"{name}_{_hash(path)}")
        for known, name, (path, _, _) in zip(given, made, operations, strict=True)
    ]


def _given(operation: dict[str, Any]) -> str | None:
    name = operation.get("operationId")
    return name.strip() if isinstance(name, str) and name.strip() else None


def _hash(path: str) -> str:
    return hashlib.sha256(path.encode("utf-8", "surrogatepass")).hexdigest()[:_HASHED]
