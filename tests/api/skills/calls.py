"""Skills and suggestions made over HTTP, and what the tests of their routes compare answers with."""

from __future__ import annotations

import re
from typing import Any

from fastapi.testclient import TestClient

from tests.builders import System
from tests.doubles import proposing

CALENDAR = {
    "id": "calendar_management",
    "name": "Calendar Management",
    "description": "Tools for managing calendars and events...",
    "keywords": ["calendar", "event", "schedule"],
    "examples": ["create_event", "list_events"],
    "parent_domain": "productivity",
}
MOMENT = re.compile(r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$")


def create(client: TestClient, skill_id: str = "mail", **fields: Any) -> dict[str, Any]:
    response = client.post(
        "/api/v1/skills", json={"id": skill_id, "name": skill_id, "description": f"All about {skill_id}.", **fields}
    )
    assert response.status_code == 201, response.text
    answer: dict[str, Any] = response.json()
    return answer


def suggest(client: TestClient, system: System, tool: str = "encode", name: str = "Video") -> int:
    [tool_id] = system.put(tool)
    system.classifier.answers[tool] = proposing(name)
    system.classify(tool_id)
    return int(client.get("/api/v1/skills/suggestions").json()[-1]["id"])
