"""JSON Schemas of the tools' answers, as OpenAPI and MCP show them; those of the arguments are in `tool_arguments`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, get_args

from skillroute.mail.model import IMPORTANCES
from skillroute.mail.search.budget import Tier
from skillroute.mail.search.model import Mode
from skillroute.mail.search.outcome import IndexState, Stage
from skillroute.mail.search.tool_help import HINT_FIELDS

_STRING: Mapping[str, Any] = {"type": "string"}
_INTEGER: Mapping[str, Any] = {"type": "integer"}


def _object(properties: Mapping[str, Any], *optional: str, description: str = "") -> dict[str, Any]:
    return {
        "type": "object",
        "properties": dict(properties),
        "required": [name for name in properties if name not in optional],
        "additionalProperties": False,
        **({"description": description} if description else {}),
    }


def _list(items: Mapping[str, Any]) -> dict[str, Any]:
    return {"type": "array", "items": dict(items)}


def _one_of(values: tuple[str, ...]) -> dict[str, Any]:
    return {"type": "string", "enum": list(values)}


_MESSAGE: dict[str, Any] = {
    "id": _INTEGER,
    "subject": _STRING,
    "importance": _one_of(IMPORTANCES),
    "ack_required": {"type": "boolean"},
    "created_ts": {"type": "integer", "description": "Microseconds since the epoch."},
    "thread_id": {"type": "string", "description": "Absent when the message belongs to none."},
    "from": {"type": "string", "description": "Name of the agent that sent it."},
}
_WHY: dict[str, Any] = {
    "reason_codes": {**_list(_STRING), "description": "Why it was found; with explain."},
    "score_factors": {
        "type": "object",
        "additionalProperties": {"type": "number"},
        "description": "What its score is made of; with explain.",
    },
}
_ASSISTANCE = _object(
    {
        "applied_filter_hints": _list(_object({"field": _one_of(HINT_FIELDS), "value": _STRING})),
        "did_you_mean": _list(_object({"given": _STRING, "suggestion": _one_of(HINT_FIELDS)})),
    },
    description="What looks like a filter within the query. It is searched as words; arguments filter.",
)
_GUIDANCE = _object(
    {
        "suggestions": _list(
            _object(
                {
                    "filter": {"type": ["string", "null"], "description": "An argument; none for the query itself."},
                    "action": _one_of(("drop", "widen", "simplify")),
                    "message": _STRING,
                }
            )
        )
    },
    description="What else to try; where nothing was found.",
)
_DIAGNOSTICS = _object(
    {
        "degraded": {"type": "boolean", "enum": [True]},
        "fallback_mode": {**_one_of(get_args(Mode)), "description": "What was served."},
        "timeout_stage": {**_one_of(get_args(Stage)), "description": "What there was no time for."},
        "budget_tier": _one_of(get_args(Tier)),
        "budget_remaining_ms": _INTEGER,
        "search_index_state": _one_of(get_args(IndexState)),
        "remediation_hints": _list(_STRING),
    },
    "timeout_stage",
    "budget_remaining_ms",
    description="What was less than asked for, and why; absent when nothing was.",
)
_EXPLAIN = {"type": "object", "description": "What was run, and why: as POST /api/v1/search/messages says it."}

SEARCH_MESSAGES_ANSWER = _object(
    {
        "result": _list(_object({**_MESSAGE, **_WHY}, "thread_id", *_WHY)),
        "assistance": _ASSISTANCE,
        "guidance": _GUIDANCE,
        "explain": _EXPLAIN,
        "next_cursor": _STRING,
        "diagnostics": _DIAGNOSTICS,
    },
    "assistance", "guidance", "explain", "next_cursor", "diagnostics",
)  # fmt: skip
SEARCH_MESSAGES_PRODUCT_ANSWER = _object(
    {
        "result": _list(_object({"id": _INTEGER, "project_id": _INTEGER, **_MESSAGE}, "thread_id")),
        "assistance": _ASSISTANCE,
        "next_cursor": _STRING,
        "diagnostics": _DIAGNOSTICS,
    },
    "assistance", "next_cursor", "diagnostics",
)  # fmt: skip
