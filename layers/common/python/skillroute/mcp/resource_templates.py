"""Which resources there can be: what is listed of them without looking at a catalogue."""

from __future__ import annotations

from skillroute.mcp.fit import Json

TYPE = "text/markdown"

TEMPLATES: list[Json] = [
    {
        "uriTemplate": "tool-group://{id}",
        "name": "tool-group",
        "description": "A group of tools of the catalogue: its purpose, and its tools with their ids.",
        "mimeType": TYPE,
    },
    {
        "uriTemplate": "skill://{+path}",
        "name": "agent-skill",
        "description": "A file of an Agent Skill; the skill's instructions are in its SKILL.md.",
    },
]
