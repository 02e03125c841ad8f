"""Suggestions that are exported and restored, decided or not (docs/adr/0052)."""

from __future__ import annotations

from fastapi.testclient import TestClient
from skillroute.core.caller import LAPTOP

from tests.builders import System
from tests.doubles import proposing
from tests.portable_lines import exported, imported, of_kind, statuses


def test_suggestions_of_tools_of_one_name_are_of_their_servers(
    system: System, client: TestClient, other: System, other_client: TestClient
) -> None:
    tools = [*system.put("search", server="a"), *system.put("search", server="b")]
    system.classifier.answers["search"] = proposing("Web search")
    system.classify(*tools)  # at the same moment
    stored = (
        "SELECT t.server, s.suggested_name FROM mcp.skill_suggestions s JOIN mcp.tools t ON t.id = s.source_tool_id"
    )
    assert sorted(system.rows(stored)) == [["a", "Web search"], ["b", "Web search"]]
    lines = exported(client)
    assert statuses(imported(other_client, lines)) == {"created"}
    assert statuses([result for line in lines for result in imported(other_client, [line])]) == {"unchanged"}
    assert sorted(other.rows(stored)) == sorted(system.rows(stored))


def test_what_was_decided_on_the_description_of_a_deleted_skill_is_not_exported(
    system: System, client: TestClient, other_client: TestClient
) -> None:
    client.post("/api/v1/skills", json={"id": "mail", "name": "Mail", "description": "Reading and sending letters."})
    system.rows(
        "INSERT INTO mcp.skill_suggestions (kind, suggested_name, suggested_description, target_skill_key, source, "
        "status, reviewed_at) SELECT 'description', 'Mail', 'Mail.', key, 'llm_auto', 'rejected', now() "
        "FROM mcp.skill_categories WHERE id = 'mail'"
    )
    assert len(of_kind(exported(client), "suggestion")) == 1
    client.delete("/api/v1/skills/mail")
    assert statuses(imported(other_client, exported(client))) <= {"created"}


def test_suggestions_of_deleted_tools_of_one_name_stay_two(
    system: System, client: TestClient, other: System, other_client: TestClient
) -> None:
    # GIVEN two decided suggestions of one moment, name and name of a tool, whose servers went with the tools
    tools = [*system.put("search", server="a"), *system.put("search", server="b")]
    system.classifier.answers["search"] = proposing("Web search")
    system.classify(*tools)
    for place, suggestion in enumerate(system.suggestions()):
        system.parts.skills.review.reject(suggestion.id, f"reason {place}", LAPTOP)
    for tool in tools:
        system.parts.catalogue.read.delete(tool, LAPTOP)
    stored = "SELECT source_tool_name, review_reason FROM mcp.skill_suggestions ORDER BY id"
    assert system.rows(stored) == [["search", "reason 0"], ["search", "reason 1"]]
    # WHEN they are imported, together or one by one
    lines = exported(client)
    assert [line["occurrence"] for line in of_kind(lines, "suggestion")] == [1, 2]
    assert statuses(imported(other_client, lines)) == {"created"}
    # THEN there are two, each as it was, and once more changes nothing
    assert other.rows(stored) == system.rows(stored)
    assert statuses([result for line in lines for result in imported(other_client, [line])]) == {"unchanged"}
    assert exported(other_client, limit=1) == lines


def test_an_open_suggestion_that_was_decided_since_makes_room_for_the_next(
    system: System, client: TestClient, other: System, other_client: TestClient
) -> None:
    # GIVEN a copy of an open suggestion, which is decided where it came from, where another is made for its tool
    [tool] = system.put("cut")
    system.classifier.answers["cut"] = proposing("Films")
    system.classify(tool)
    assert statuses(imported(other_client, exported(client))) == {"created"}
    system.parts.skills.review.reject(system.suggestions()[0].id, "silly", LAPTOP)
    system.classifier.answers["cut"] = proposing("Video")
    system.put("cut", description="Cuts a film into pieces.")
    system.classify(tool)
    # WHEN the copy is brought up to date
    lines = exported(client)
    assert [line["status"] for line in of_kind(lines, "suggestion")] == ["rejected", "pending"]
    results = imported(other_client, lines)
    # THEN it has both
    assert [result["status"] for result in results] == ["updated", "updated", "created"]
    assert exported(other_client) == lines
