"""The events that the SNS topic `NotificationsTopicArn` gets, as webhooks of the document."""

from __future__ import annotations

from typing import Any

from skillroute_local.api_document.walk import SCHEMAS, Json, pascal

_Field = tuple[Json, str]

_TEXT: Json = {"type": "string"}
_MAYBE: Json = {"type": ["string", "null"]}
_NUMBER: Json = {"type": "integer"}
_ROUTE = "Method and path of the request that does it."

_SUGGESTION: dict[str, _Field] = {
    "suggestion_id": (_NUMBER, "The suggestion's id."),
    "suggested_name": (_TEXT, "The name that the new skill would have; absent of a description."),
    "suggested_description": (_TEXT, "What the skill would say."),
    "reasoning": (_MAYBE, "Why it was suggested; absent of a description."),
    "tool_id": (_NUMBER, "The tool that fits no skill; absent of a description."),
    "tool_name": (_TEXT, "The tool's name."),
    "server": (_TEXT, "The tool's server; empty where it has none."),
    "skill_id": (_TEXT, "The skill that a description is suggested for; absent of a new skill."),
    "description": (_TEXT, "The description that this skill has now."),
    "approve": (_TEXT, _ROUTE),
    "reject": (_TEXT, _ROUTE),
}
_APPROVED: dict[str, _Field] = {
    "skill_id": (_TEXT, "The id of the skill that was created."),
    "name": (_TEXT, "The skill's name."),
    "description": (_TEXT, "The skill's description."),
    "tool_ids": ({"type": "array", "items": _NUMBER}, "The tools that were assigned to it."),
    "undo": (_TEXT, _ROUTE),
}
_GIVEN_UP: dict[str, _Field] = {
    "queue": ({"type": "string", "enum": ["classify", "aggregate", "learn"]}, "The queue whose message was given up."),
    "key": (_TEXT, "What the work was about: a tool, a skill or an organisation; absent where it is unreadable."),
    "message_id": (_TEXT, "SQS's id of a message that cannot be read."),
    "tool_name": (_MAYBE, "The tool's name, where it is one and is known."),
    "attempts": (_NUMBER, "How often it was tried."),
    "reason": (_MAYBE, "What the last attempt failed with."),
    "to_do": (_TEXT, "What to do about it, with the command."),
}


def _event(
    name: str, summary: str, subject: str, fields: dict[str, _Field], required: list[str], example: Json
) -> dict[str, Json]:
    details = {field: {**schema, "description": text} for field, (schema, text) in fields.items()}
    properties: dict[str, Any] = {
        "event": {
            "type": "string",
            "const": name,
            "description": "Which event it is; a message attribute of SNS, too.",
        },
        "subject": {"type": "string", "description": "One line for people."},
        "details": {"$ref": f"{SCHEMAS}{pascal(name)}Details", "description": "What a person needs to act."},
    }
    return {
        f"{pascal(name)}Event": {
            "type": "object",
            "description": summary,
            "properties": properties,
            "required": list(properties),
            "examples": [{"event": name, "subject": subject, "details": example}],
        },
        f"{pascal(name)}Details": {
            "type": "object",
            "description": f"What a person needs to act on `{name}`. New fields may come.",
            "properties": details,
            "required": required,
        },
    }


EVENTS: dict[str, Json] = {
    **_event(
        "suggestion_created",
        "A classifier suggested a skill of a new name, or a language model a description.",
        "Skill suggested: Garden watering",
        _SUGGESTION,
        ["suggestion_id", "suggested_description", "approve", "reject"],
        {
            "suggestion_id": 12,
            "suggested_name": "Garden watering",
            "suggested_description": "Watering plants and opening the valves of irrigation systems.",
            "reasoning": "No skill is about gardens.",
            "tool_id": 481,
            "tool_name": "water_plants",
            "server": "garden",
            "approve": "POST /api/v1/skills/suggestions/12/approve",
            "reject": "POST /api/v1/skills/suggestions/12/reject",
        },
    ),
    **_event(
        "skill_auto_approved",
        "A skill was suggested so often that it was created without anybody's decision.",
        "Skill created: Garden watering",
        _APPROVED,
        list(_APPROVED),
        {
            "skill_id": "garden_watering",
            "name": "Garden watering",
            "description": "Watering plants and opening the valves of irrigation systems.",
            "tool_ids": [481, 482, 497],
            "undo": "DELETE /api/v1/skills/garden_watering",
        },
    ),
    **_event(
        "message_dead_lettered",
        "Work was given up after several attempts.",
        "Skillroute: classify gave up water_plants after 5 attempts",
        _GIVEN_UP,
        ["queue", "attempts", "reason", "to_do"],
        {
            "queue": "classify",
            "key": "481",
            "tool_name": "water_plants",
            "attempts": 5,
            "reason": "the classifier did not answer within 20 s",
            "to_do": "remove the cause, then run `skillroute dlq redrive classify 481`",
        },
    ),
}
"""Component schemas of all events and their details."""

_DELIVERY = (
    "Published to the SNS topic `NotificationsTopicArn`; subscribe an HTTPS endpoint, a queue or an address to it. "
    "With SNS's raw message delivery the body is this; without, it is the text in the field `Message` of SNS's "
    "envelope. An event may come more than once, and two in another order."
)


def webhooks() -> Json:
    """Return the document's webhooks, one for each event."""
    found: Json = {}
    for component, schema in EVENTS.items():
        if not component.endswith("Event"):
            continue
        name = schema["properties"]["event"]["const"]
        found[name] = {
            "post": {
                "summary": schema["description"].rstrip("."),
                "description": _DELIVERY,
                "operationId": f"on_{name}",
                "tags": ["suggestions" if name != "message_dead_lettered" else "operations"],
                "security": [],
                "requestBody": {
                    "required": True,
                    "content": {"application/json": {"schema": {"$ref": SCHEMAS + component}}},
                },
                "responses": {
                    "200": {"description": "Taken."},
                    "4XX": {"description": "Not taken: SNS tries again as the subscription's policy says."},
                },
            }
        }
    return found
