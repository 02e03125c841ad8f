"""The page Suggestions, without a browser: what came after a person looked is not decided on."""

from __future__ import annotations

from fastapi.testclient import TestClient
from skillroute_local.server import local_app

from tests.api.local.console.conftest import Do
from tests.builders import System


def line(number: int) -> dict[str, object]:
    return {
        "kind": "suggestion", "suggestion": "new_skill", "name": "Bee keeping", "description": "Hives.",
        "tool": {"server": "farm", "type": "tool", "name": f"hive_{number}"}, "tool_name": f"hive_{number}",
        "skill_id": None, "reasoning": "None fits.", "source": "llm_auto", "status": "pending",
        "resolved_skill_id": None, "reviewed_by": None, "review_reason": None,
        "created_at": f"2026-11-2{number}T09:00:00Z", "reviewed_at": None,
    }  # fmt: skip


def test_suggestions_that_came_later_are_not_among_those_of_a_group(do: Do, system: System) -> None:
    system.put("hive_1", "hive_2", server="farm")
    with TestClient(local_app(system.parts), base_url="http://localhost") as api:
        answer = api.post("/api/v1/import", json={"lines": [line(1), line(2)]})
    assert answer.status_code == 200, answer.text
    [group] = do("suggestions/groups")
    assert len(do("suggestions/ids", group=group)) == 2
    assert len(do("suggestions/ids", group=group, until=group["last_created_at"])) == 2
    assert len(do("suggestions/ids", group=group, until=group["first_created_at"])) == 1
