"""The events of the scenario, as handlers get them: tests of handlers and those under `sam local` take the same.

They are built from tables. Some are kept as files in events/, for people and for `sam local`;
``python -m tests.events`` writes those anew.
"""

from __future__ import annotations

import hashlib
import importlib.util
import json
import uuid
from pathlib import Path
from types import ModuleType
from typing import Any

from skillroute_local.gateway import body_sent, http_event, signed_by, with_claims
from skillroute_local.lambda_events import schedule_event, sqs_event
from skillroute_local.queue_server import REGION, ensure_queues, sqs_client

from tests.event_requests import OF_OTHERS, SIGNED, body_of

ROOT = Path(__file__).parents[1]
FILES = ROOT / "events"

JWT = {"SKILLROUTE_JWT_ISSUER": "https://issuer.example.com", "SKILLROUTE_JWT_AUDIENCE": "skillroute"}
"""Settings that the claims of the events fit."""

ADMIN_ROLE = "arn:aws:iam::123456789012:role/agent-gateway"
"""The role that signed the events of AuthMode iam."""

Event = dict[str, Any]

KEPT = (
    *(
        "search",
        "search_jwt",
        "mcp_call",
        "search_registry",
        "search_messages",
        "catalog_list",
        "catalog_put",
        "servers_put",
    ),
    *(
        "skills_create",
        "skills_list",
        "sqs_classify",
        "sqs_aggregate",
        "sqs_learn",
        "schedule_relay",
        "call_tool",
        "call_see_again",
    ),
)
"""The events that are files as well: what README and the layers' check name, and one of each trigger."""

_CLAIMS = {
    "iss": JWT["SKILLROUTE_JWT_ISSUER"],
    "aud": JWT["SKILLROUTE_JWT_AUDIENCE"],
    "iat": "1700000000",
    "nbf": "1700000000",
    "exp": "4102444800",
}
_POISON = {"tool_id": "1; DROP TABLE tools"}
_MESSAGES: dict[str, list[tuple[Any, int]]] = {
    "sqs_classify": [({"tool_id": 1}, 1), ({"tool_id": 2}, 1)],
    "sqs_classify_mixed": [
        *(({"tool_id": number}, 1) for number in (1, 2, 3)),
        (_POISON, 5),
        *(({"tool_id": number}, 1) for number in range(4, 10)),
    ],
    "sqs_classify_poisoned": [("not JSON", 1), ({"skill_id": "communication"}, 2), ({"tool_id": 1.5}, 3)],
    "sqs_aggregate": [({"skill_id": "calendar_management"}, 1), ({"skill_id": "communication"}, 1)],
    "sqs_learn": [({"org_id": "acme"}, 1)],
    "sqs_learn_poisoned": [({"org_id": ""}, 1)],
    "sqs_aggregate_mixed": [
        ({"skill_id": "communication"}, 1),
        ({"skill_id": 7}, 4),
        ({"skill_id": "communication"}, 1),
    ],
}
"""What is in each batch, and how often each message was received."""

_CALL = {
    "caller": {"org_id": "acme", "name": "ann", "scopes": ["search"]},
    "tool_id": 1,
    "arguments": {"title": "Standup"},
}
"""As function `mcp` sends it, for a caller that it has identified."""

EVENTS = frozenset({*SIGNED, *OF_OTHERS, *_MESSAGES, "schedule_relay", "call_tool", "call_see_again"})
"""The name of every event."""


def event(name: str) -> Event:
    """Return an event."""
    if name in _MESSAGES:
        return _batch(name)
    if name == "schedule_relay":
        return schedule_event() | {"id": "53dc4d37-cffa-4f76-80c9-8b7d4a4d2eaa", "time": "2026-11-21T09:40:00Z"}
    if name == "call_see_again":
        return {"see_again": True}
    if name == "call_tool":
        return _CALL
    if name in SIGNED:
        return http_event(SIGNED[name], body_of(name), signed_by(ADMIN_ROLE))
    request, claims = OF_OTHERS[name]
    body = body_of(request if request in SIGNED else name)
    return http_event(SIGNED.get(request, request), body, None if claims is None else with_claims(_CLAIMS | claims))


def message_id(place: int) -> str:
    """Return the id of a message by its place in the batch."""
    return str(uuid.uuid5(uuid.NAMESPACE_OID, f"message {place}"))


def _batch(name: str) -> Event:
    queue = name.split("_")[1]
    messages = []
    for place, (what, receives) in enumerate(_MESSAGES[name]):
        body = what if isinstance(what, str) else json.dumps(what)
        attributes = {
            "ApproximateReceiveCount": str(receives),
            "SentTimestamp": "1795254000123",
            "SenderId": "AROAIOSFODNN7EXAMPLE:skillroute-catalog",
            "ApproximateFirstReceiveTimestamp": "1795254000456",
        }
        messages.append(
            {
                "MessageId": message_id(place),
                "ReceiptHandle": f"AQEBwJnKyrHigUMZj6rYigCgxlaS3SLy0a{place}",
                "Body": body,
                "Attributes": attributes,
                "MD5OfBody": hashlib.md5(body.encode(), usedforsecurity=False).hexdigest(),
            }
        )
    return sqs_event(f"arn:aws:sqs:{REGION}:123456789012:skillroute-{queue}", messages)


def write(name: str, folder: Path) -> Path:
    """Write an event into a folder, and return its file."""
    file = folder / f"{name}.json"
    file.write_text(json.dumps(event(name), indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    return file


def answer(response: dict[str, Any]) -> tuple[int, Any]:
    """Return status and JSON of what an HTTP function answered."""
    return response["statusCode"], json.loads(body_sent(response)) if response["body"] else None


def function_module(function: str) -> ModuleType:
    """Load a function's module as Lambda does, anew each time."""
    spec = importlib.util.spec_from_file_location(f"{function}_app", ROOT / "functions" / function / "app.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def delete_queues(endpoint: str) -> None:
    """Leave no messages behind: all of moto's servers in one process share their queues."""
    client = sqs_client(endpoint)
    for url in ensure_queues(endpoint).values():
        client.delete_queue(QueueUrl=url)
    client.close()


if __name__ == "__main__":
    for _name in KEPT:
        write(_name, FILES)
