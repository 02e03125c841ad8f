"""Hashes that tell whether something changed."""

from __future__ import annotations

import hashlib


def text_hash(*texts: str) -> str:
    """Return the SHA-256 of texts, told apart from the same letters cut elsewhere."""
    digest = hashlib.sha256()
    for text in texts:
        data = text.encode("utf-8")
        digest.update(len(data).to_bytes(8, "big") + data)
    return digest.hexdigest()
