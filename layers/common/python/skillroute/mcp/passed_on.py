"""Results of other servers' tools, as clients of each revision can read them."""

from __future__ import annotations

from typing import Any

from skillroute.core.answer_size import MAX_ANSWER_BYTES, size_of
from skillroute.core.input.encodable import encodable
from skillroute.mcp.fit import Json
from skillroute.mcp.revisions import Revision, has_structured_content
from skillroute.mcp.rpc import to_text

_KEPT = ("content", "structuredContent", "isError", "_meta")
_MOST_BYTES = MAX_ANSWER_BYTES - 200_000  # what is around it, and notices of progress, must have room
_SINCE_TEXTS = frozenset({"text", "image", "audio", "resource"})
"""The kinds of content that every revision here has; a later one's become text for clients that do not know them."""


def passed_on(result: Json, revision: Revision) -> Json:
    """Return a result as it came, but for what the client's revision does not know, or what is too large to be sent."""
    kept = {key: result[key] for key in _KEPT if key in result}
    content = kept.get("content")
    kept["content"] = [_known(part, revision) for part in content] if isinstance(content, list) else []
    if not has_structured_content(revision):
        structured = kept.pop("structuredContent", None)
        if structured is not None and not kept["content"]:
            kept["content"] = [{"type": "text", "text": to_text(structured)}]
    if not isinstance(kept.get("_meta", {}), dict):
        del kept["_meta"]
    if size_of(kept) > _MOST_BYTES:
        text = "the tool's answer is too large to be passed on: ask it for less"
        return {"content": [{"type": "text", "text": text}], "isError": True}
    return kept


def _known(part: Any, revision: Revision) -> Any:
    is_known = isinstance(part, dict) and (part.get("type") in _SINCE_TEXTS or has_structured_content(revision))
    return part if is_known else {"type": "text", "text": encodable(to_text(part))}
