"""JSON Schemas of the tools' answers, as OpenAPI and MCP show them; those of the arguments are in `tool_arguments`."""

from __future__ import annotations

from typing import get_args

from skillroute.core.input.json_schema import (
    BOOLEAN,
    INTEGER,
    NUMBER,
    OBJECT,
    STRING,
    Schema,
    described,
    list_of,
    object_of,
    one_of,
)
from skillroute.mail.model import IMPORTANCES
from skillroute.mail.search.budget import Tier
from skillroute.mail.search.model import Mode
from skillroute.mail.search.outcome import IndexState, Stage
from skillroute.mail.search.tools.help import HINT_FIELDS

_MESSAGE: dict[str, Schema] = {
    "id": INTEGER,
    "subject": STRING,
    "importance": one_of(IMPORTANCES),
    "ack_required": BOOLEAN,
    "created_ts": described(INTEGER, "Microseconds since the epoch."),
    "thread_id": described(STRING, "Absent when the message belongs to none."),
    "from": described(STRING, "Name of the agent that sent it."),
    "snippet": described(STRING, "Its body around the query's words, without secrets; of the first 50 results."),
}
_ALWAYS = [name for name in _MESSAGE if name not in {"thread_id", "snippet"}]
_WHY: dict[str, Schema] = {
    "reason_codes": list_of(STRING, "Why it was found; with explain."),
    "score_factors": {
        **OBJECT,
        "additionalProperties": NUMBER,
        "description": "What its score is made of; with explain.",
    },
}
_ASSISTANCE = described(
    object_of(
        {
            "applied_filter_hints": list_of(object_of({"field": one_of(HINT_FIELDS), "value": STRING})),
            "did_you_mean": list_of(object_of({"given": STRING, "suggestion": one_of(HINT_FIELDS)})),
        }
    ),
    "What looks like a filter within the query. It is searched as words; arguments filter.",
)
_SUGGESTION = object_of(
    {
        "filter": {"type": ["string", "null"], "description": "An argument; none for the query itself."},
        "action": one_of(("drop", "widen", "simplify")),
        "message": STRING,
    }
)
_GUIDANCE = described(object_of({"suggestions": list_of(_SUGGESTION)}), "What else to try; where nothing was found.")
_DIAGNOSTICS = described(
    object_of(
        {
            "degraded": {"type": "boolean", "enum": [True]},
            "fallback_mode": described(one_of(get_args(Mode)), "What was served."),
            "timeout_stage": described(one_of(get_args(Stage)), "What there was no time for."),
            "budget_tier": one_of(get_args(Tier)),
            "budget_remaining_ms": INTEGER,
            "search_index_state": one_of(get_args(IndexState)),
            "remediation_hints": list_of(STRING),
        },
        *("degraded", "fallback_mode", "budget_tier", "search_index_state", "remediation_hints"),
    ),
    "What was less than asked for, and why; absent when nothing was.",
)
_EXPLAIN = described(OBJECT, "What was run, and why: as POST /api/v1/search/messages says it.")

SEARCH_MESSAGES_ANSWER = object_of(
    {
        "result": list_of(object_of({**_MESSAGE, **_WHY}, *_ALWAYS)),
        "assistance": _ASSISTANCE,
        "guidance": _GUIDANCE,
        "explain": _EXPLAIN,
        "next_cursor": STRING,
        "diagnostics": _DIAGNOSTICS,
    },
    "result",
)
SEARCH_MESSAGES_PRODUCT_ANSWER = object_of(
    {
        "result": list_of(object_of({"id": INTEGER, "project_id": INTEGER, **_MESSAGE}, "project_id", *_ALWAYS)),
        "assistance": _ASSISTANCE,
        "next_cursor": STRING,
        "diagnostics": _DIAGNOSTICS,
    },
    "result",
)
