"""The events of events/, as handlers get them: the tests of handlers and those under `sam local` read the same."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from types import ModuleType
from typing import Any

from skillroute_local.queue_server import ensure_queues, sqs_client

ROOT = Path(__file__).parents[1]
EVENTS = {file.stem: file for file in sorted((ROOT / "events").glob("*.json"))}
"""Every event file by its name."""

JWT = {"SKILLROUTE_JWT_ISSUER": "https://issuer.example.com", "SKILLROUTE_JWT_AUDIENCE": "skillroute"}
"""Settings that the claims of the events fit."""

ADMIN_ROLE = "arn:aws:iam::123456789012:role/agent-gateway"
"""The role that signed the events of AuthMode iam."""

Event = dict[str, Any]


def event(name: str) -> Event:
    """Return an event."""
    read: Event = json.loads(EVENTS[name].read_text(encoding="utf-8"))
    return read


def answer(response: dict[str, Any]) -> tuple[int, Any]:
    """Return status and JSON of what an HTTP function answered."""
    return response["statusCode"], json.loads(response["body"]) if response["body"] else None


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
