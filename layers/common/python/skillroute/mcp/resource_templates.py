"""Which resources there can be: what is listed of them without looking at a catalogue."""

from __future__ import annotations

from skillroute.mcp.fit import Json

TYPE = "text/markdown"

TEMPLATES: list[Json] = [
    {
        "uriTemplate": "skill://{id}",
        "name": "skill",
        "description": "A skill of the catalogue: what it is for, and its tools with their ids.",
        "mimeType": TYPE,
    }
]
