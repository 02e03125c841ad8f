"""The hash that tells whether an item changed."""

from __future__ import annotations

import hashlib
import json

from skillroute.catalogue.model import ItemContent


def content_hash(content: ItemContent) -> str:
    """Return the SHA-256 of everything that an item's owner says of it. The order of object keys does not count."""
    said = {
        "key": list(content.key),
        "description": content.description,
        "input_schema": content.input_schema,
        "output_schema": content.output_schema,
        "annotations": content.annotations,
        "tags": list(content.tags),
        "metadata": content.metadata,
    }
    canonical = json.dumps(said, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return hashlib.sha256(canonical.encode("ascii")).hexdigest()
