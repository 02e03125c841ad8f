"""JSON pointers (RFC 6901), by which refusals name a place in a document."""

from __future__ import annotations


def pointer(base: str, *keys: object) -> str:
    """Return a place within another one.

    Examples
    --------
    >>> pointer("petstore.yaml#", "paths", "/pets", "get")
    'petstore.yaml#/paths/~1pets/get'
    """
    return base + "".join(f"/{str(key).replace('~', '~0').replace('/', '~1')}" for key in keys)
