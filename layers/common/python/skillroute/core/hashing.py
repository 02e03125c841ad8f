"""Hashes that show whether something changed."""

from __future__ import annotations

import hashlib
import json
from typing import Any, ClassVar, Protocol

COMPARED_APART = "compared_apart"
"""In the metadata of a field: it may be left unsaid, so that no hash of what is said can have it."""


class Content(Protocol):
    """A data class whose fields are what its owner says, of values that JSON can carry."""

    __dataclass_fields__: ClassVar[dict[str, Any]]


def content_hash(content: Content) -> str:
    """Return the SHA-256 of everything that an owner says. The order of an object's keys does not count.

    Contents of two kinds have two hashes, whatever they say. Another name of a field is another hash, too: what is
    stored then counts as changed, and is written once more when it comes again. Fields whose metadata have
    `COMPARED_APART` are left out.
    """
    names = [name for name, of in content.__dataclass_fields__.items() if COMPARED_APART not in of.metadata]
    named = [type(content).__name__, {name: getattr(content, name) for name in names}]
    return hashlib.sha256(canonical_json(named).encode("ascii")).hexdigest()


def canonical_json(value: object) -> str:
    """Return the one way in which a value is written as JSON, in ASCII."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=True)


def text_hash(*texts: str) -> str:
    """Return the SHA-256 of texts, another than that of the same letters cut elsewhere."""
    digest = hashlib.sha256()
    for text in texts:
        data = text.encode("utf-8")
        digest.update(len(data).to_bytes(8, "big") + data)
    return digest.hexdigest()
