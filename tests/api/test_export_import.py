"""Export and import over HTTP: all kinds, all of it, of one moment, and of nobody else (docs/adr/0052)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from fastapi.testclient import TestClient
from skillroute.core.caller import LAPTOP
from skillroute.core.embedding.hashing import HashingEmbedder
from skillroute.core.portable.cursor import Cursor
from skillroute.core.portable.restore import MAX_LINES

from tests.api.one_app import app_over
from tests.api.routes import fill
from tests.builders import System, lent_system, of_org
from tests.conftest import fresh_database
from tests.doubles import proposing
from tests.portable_lines import exported, imported, of_kind, page, statuses

KINDS = ["skill", "tool", "suggestion", "server", "agent", "project", "product", "mail_agent", "message"]


@pytest.fixture
def other(postgres_server: Any, migrated_template: str, edge_indexes: Any) -> Iterator[System]:
    """Another Skillroute, without rows."""
    with (
        fresh_database(postgres_server, migrated_template) as url,
        lent_system(url, edge_indexes, embedder=HashingEmbedder()) as system,
    ):
        yield system


@pytest.fixture
def other_client(other: System) -> TestClient:
    return TestClient(app_over(other), raise_server_exceptions=False)


def filled(system: System, org: str | None = None) -> None:
    """Store all that an organisation may have, decided and not: by people, by a classifier, and by nobody."""
    caller = of_org(org)
    fill(system, org)
    system.create("video", caller, description="Cut and encode films.", keywords=["film"], parent_domain="media")
    system.create("asleep", caller, description="Nobody needs it now.")
    system.change("asleep", caller, is_active=False)
    first, second, _ = system.put("cut_film", "merge_films", "rest", caller=caller, server="film", tags=["a", "b"])
    system.classifier.answers["cut_film"] = proposing("Films")
    system.classify(first)
    system.parts.review_suggestions.approve(system.suggestions(caller=caller)[-1].id, {}, caller)
    system.classifier.answers["merge_films"] = proposing("Silly")
    system.classify(second)
    system.parts.review_suggestions.reject(system.suggestions(caller=caller)[-1].id, "silly", caller)
    film = {"name": "film", "description": "Films.", "version": "1.2", "is_enabled": False}
    system.parts.sync_registry("server", [film], caller)
    [[message]] = system.rows("SELECT id FROM mcp.mail_messages WHERE org_id IS NOT DISTINCT FROM :org", org=org)
    system.parts.mail.acknowledge(message, "planner", caller)


def test_what_is_exported_is_restored_into_an_empty_skillroute(
    system: System, client: TestClient, other: System, other_client: TestClient
) -> None:
    # GIVEN one of everything
    filled(system)
    lines = exported(client)
    assert list(dict.fromkeys(line["kind"] for line in lines)) == KINDS
    # WHEN it is imported
    assert statuses(imported(other_client, lines)) == {"created"}
    # THEN it is there as it was, to the microsecond, and nothing of it waits that did not wait
    assert exported(other_client) == lines
    assert len(other.waiting("classify")) == len(system.waiting("classify"))
    # AND once more it changes nothing
    assert statuses(imported(other_client, lines)) == {"unchanged"}
    assert other.parts.verify().findings == []


def test_a_line_has_natural_keys_only(system: System, client: TestClient) -> None:
    filled(system)
    for line in exported(client):
        assert not {"id", "tool_id", "project_id", "source_tool_id", "org_id"} & {
            name for name, value in line.items() if not (line["kind"] == "skill" and name == "id")
        }
        assert "/" not in json.dumps([line.get("skill_id"), line.get("resolved_skill_id")])


def test_decisions_of_classifiers_and_of_people_come_back_with_who_decided(
    system: System, client: TestClient, other: System, other_client: TestClient
) -> None:
    filled(system)
    imported(other_client, exported(client))
    stored = "SELECT t.name, c.id, a.confidence, a.is_primary, a.source, a.reasoning, a.assigned_at, r.classifier "
    stored += "FROM mcp.tools t LEFT JOIN mcp.tool_skill_assignments a ON a.tool_id = t.id "
    stored += "LEFT JOIN mcp.skill_categories c ON c.key = a.skill_key "
    stored += "LEFT JOIN mcp.tool_classifications r ON r.tool_id = t.id ORDER BY t.id, c.id"
    assert other.rows(stored) == system.rows(stored)
    # A person's decision is left alone by the next classification.
    [[tool]] = other.rows("SELECT id FROM mcp.tools WHERE name = 'cut_film'")
    assert other.classify(tool)[0].decision == "human"


def test_tools_that_are_switched_off_come_back_so_and_are_switched_on_again(
    system: System, client: TestClient, other: System, other_client: TestClient
) -> None:
    [off, _] = system.put("off", "on")
    system.parts.switch_item(off, LAPTOP, is_active=False)
    lines = exported(client)
    stored = "SELECT name, is_active, is_switched_off FROM mcp.tools ORDER BY id"
    assert statuses(imported(other_client, lines)) == {"created"}
    assert other.rows(stored) == system.rows(stored) == [["off", False, True], ["on", True, False]]
    assert exported(other_client) == lines
    # AND a line that says otherwise is an update, once
    lines[0]["is_switched_off"] = False
    assert [result["status"] for result in imported(other_client, lines)] == ["updated", "unchanged"]
    assert other.rows(stored) == [["off", True, False], ["on", True, False]]
    assert statuses(imported(other_client, lines)) == {"unchanged"}
    [refused] = imported(other_client, [lines[0] | {"is_switched_off": "no"}])
    assert refused["error"]["field"] == "is_switched_off"


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


def test_an_organisation_exports_what_is_its_own(system: System) -> None:
    # GIVEN three owners of things of the same names
    suffixes = {None: "_of_all", "acme": "_of_acme", "globex": "_of_globex"}
    for org, suffix in suffixes.items():
        fill(system, org, suffix)
    everything = {org: b"".join(system.parts.export([], None, of_org(org), limit=1000)).decode() for org in suffixes}
    # THEN nobody's lines name what is another's
    for org, text in everything.items():
        assert {of for of, suffix in suffixes.items() if suffix in text} == {org}


def test_an_organisation_imports_what_is_its_own(system: System, client: TestClient, other: System) -> None:
    filled(system)
    lines = exported(client)
    outcomes = other.parts.import_lines(lines, of_org("acme")).outcomes
    assert [outcome for outcome in outcomes if outcome.status == "failed"] == []
    for table in ("tools", "skill_categories", "skill_suggestions", "registry_entities", "mail_messages"):
        assert other.rows(f"SELECT DISTINCT org_id FROM mcp.{table}") == [["acme"]]
    assert len(list(other.parts.export([], None, LAPTOP, limit=1000))) == 1


def test_a_global_skill_is_named_and_not_taken_along(system: System, other: System) -> None:
    # GIVEN an organisation's tool in a global skill
    system.create("garden", description="Water the plants of the garden.")
    [tool] = system.put("water", caller=of_org("acme"))
    system.assign(tool, of_org("acme"), garden=0.9)
    *lines, _ = (json.loads(line) for line in system.parts.export([], None, of_org("acme"), limit=100))
    assert [line["kind"] for line in lines] == ["tool"]
    # WHEN it is imported where there is no such skill
    [outcome] = other.parts.import_lines(lines, of_org("acme")).outcomes
    # THEN the line fails, and says why
    assert (outcome.status, outcome.field) == ("failed", "skills.assigned.0.skill_id")
    other.create("garden", description="Water the plants of the garden.")
    assert [outcome.status for outcome in other.parts.import_lines(lines, of_org("acme")).outcomes] == ["created"]


def test_pages_are_one_moment_or_the_end_says_what_changed(system: System, client: TestClient) -> None:
    system.put(*(f"tool_{number}" for number in range(5)))
    system.create("garden")
    # GIVEN a page, and a change of one kind before the next one
    *first, last = page(client, limit=3)
    assert [line["kind"] for line in first] == ["skill", "tool", "tool"]
    system.put("tool_0", description="Something else.")
    # WHEN the export goes on to its end
    *rest, end = page(client, limit=100, after=last["after"])
    # THEN the end names that kind, and going on from it repeats that kind alone
    assert (len(rest), end["kind"], end["changed"]) == (3, "end", ["tool"])
    *again, end = page(client, after=end["after"])
    assert {line["kind"] for line in again} == {"tool"}
    assert (len(again), end["kinds"], end["changed"]) == (5, ["tool"], [])
    # AND of what stayed as it is nothing is repeated
    after = page(client, after=end["after"])[-1]["after"]
    assert page(client, after=end["after"]) == [{"kind": "end", "after": after, "kinds": [], "changed": []}]


@pytest.mark.parametrize(
    ("change", "kind"),
    [
        (lambda system, ids: system.assign(ids["item"], garden=0.5), "tool"),
        (lambda system, ids: system.parts.catalogue.delete(ids["item"], LAPTOP), "tool"),
        (lambda system, ids: system.change("garden", parent_domain="home"), "skill"),
        (lambda system, ids: system.parts.review_suggestions.reject(ids["suggestion"], None, LAPTOP), "suggestion"),
        (lambda system, ids: system.sql("UPDATE mcp.registry_entities SET is_enabled = false"), "server"),
        (lambda system, ids: system.parts.mail.delete("product", ids["product"], LAPTOP), "product"),
        (lambda system, ids: system.parts.mail.acknowledge(ids["message"], "planner", LAPTOP), "message"),
    ],
)
def test_every_change_between_two_pages_is_seen(system: System, client: TestClient, change: Any, kind: str) -> None:
    ids = fill(system)
    *_, last = page(client, limit=1)
    change(system, ids)
    lines = page(client, limit=1000, after=last["after"])
    assert kind in lines[-1]["changed"]


def test_what_another_organisation_changes_changes_nothing_for_this_one(system: System) -> None:
    fill(system, "acme", "_a")
    caller = of_org("acme")
    last = json.loads(system.parts.export([], None, caller, limit=1)[-1])
    fill(system, "globex", "_b")
    fill(system, None, "_c")
    assert json.loads(system.parts.export([], last["after"], caller, limit=1000)[-1])["changed"] == []


def test_a_kind_alone_is_exported_where_it_is_asked_for(system: System, client: TestClient) -> None:
    filled(system)
    assert {line["kind"] for line in exported(client, kind="tool,skill", limit=2)} == {"tool", "skill"}
    assert exported(client, kind="message") == of_kind(exported(client), "message")


@pytest.mark.parametrize(
    ("params", "field"),
    [
        ({"kind": "tools"}, "kind"),
        ({"after": "nonsense"}, "after"),
        ({"after": str(Cursor({"tool": ""}, ("tool",), ("tool",), -1))}, "after"),
        ({"after": str(Cursor({"weather": ""}))}, "after"),
        ({"after": str(Cursor({"tool": ""}, todo=("skill",)))}, "after"),
        ({"after": str(Cursor({"tool": ""})), "kind": "skill"}, "kind"),
        ({"limit": 0}, "limit"),
    ],
)
def test_what_no_export_gave_is_refused(shared_client: TestClient, params: dict[str, Any], field: str) -> None:
    response = shared_client.get("/api/v1/export", params=params)
    assert response.status_code == 422
    assert [problem["loc"] for problem in response.json()["detail"]] == [["query", field]]


def test_a_bad_line_is_named_with_its_field_and_the_others_go_on(client: TestClient, system: System) -> None:
    good = {"kind": "tool", "name": "good", "description": "Good."}
    skill = {"kind": "skill", "id": "garden", "name": "Garden", "description": "Water the plants."}
    assigned = {"skill_id": "garden", "confidence": 0.9, "is_primary": True, "source": "similarity"}
    named = {"decided_by": "similarity", "input_hash": "x", "assigned": [assigned]}
    bad: list[tuple[Any, str]] = [
        (7, "line"),
        ({"name": "x"}, "kind"),
        ({"kind": "weather"}, "kind"),
        ({"kind": ["tool"]}, "kind"),
        ({"kind": "tool", "name": ""}, "name"),
        ({"kind": "tool", "name": "late", "created_at": "yesterday"}, "created_at"),
        ({"kind": "tool", "name": "sure", "skills": {"assigned": [{**assigned, "confidence": 2}]}},
         "skills.assigned.0.confidence"),
        ({"kind": "tool", "name": "who", "skills": {"assigned": [{**assigned, "skill_id": "nobody"}]}},
         "skills.assigned.0.skill_id"),
        ({"kind": "tool", "name": "two", "skills": {"assigned": [assigned, assigned]}}, "skills.assigned"),
        ({"kind": "skill", "id": "Big", "name": "Big", "description": "Long enough."}, "id"),
        ({"kind": "suggestion", "suggestion": "new_skill", "name": "X", "source": "similarity", "status": "pending",
          "created_at": "2026-01-01T00:00:00Z", "tool": {"name": "gone"}}, "tool"),
        ({"kind": "server", "server_json": {"description": "no name"}}, "server_json.name"),
        ({"kind": "message", "key": "k", "project": "none", "from": "a", "to": ["b"], "subject": "s"}, "project"),
        ({"kind": "message", "key": "k", "project": "p", "from": "a", "to": ["b"], "subject": "s",
          "acknowledged": {"c": "2026-01-01T00:00:00Z"}}, "acknowledged.c"),
    ]  # fmt: skip
    lines = [skill, *(line for line, _ in bad), good, {**good, "name": "better", "skills": named}]
    results = imported(client, lines)
    assert [result["index"] for result in results] == list(range(len(lines)))
    assert [(result["status"], (result["error"] or {}).get("field")) for result in results] == [
        ("created", None),
        *(("failed", field) for _, field in bad),
        ("created", None),
        ("created", None),
    ]
    assert [row[0] for row in system.rows("SELECT name FROM mcp.tools ORDER BY id")] == ["good", "better"]


@pytest.mark.parametrize("lines", [[{"kind": "end"}, {"kind": "page", "after": "x"}], []])
def test_last_lines_of_pages_are_passed_over(shared_client: TestClient, lines: list[dict[str, Any]]) -> None:
    answer = shared_client.post("/api/v1/import", json=lines).json()
    assert (answer["results"], answer["failed"], answer["degraded"]) == ([], 0, [])


def test_more_lines_than_a_call_takes_are_refused(shared_client: TestClient) -> None:
    lines = [{"kind": "tool", "name": f"t{number}"} for number in range(MAX_LINES + 1)]
    assert shared_client.post("/api/v1/import", json={"lines": lines}).status_code == 422


def test_what_is_there_is_written_over(system: System, client: TestClient) -> None:
    # GIVEN an export, and changes of everything behind it
    filled(system)
    lines = exported(client)
    system.change("garden", name="Another")
    [[tool]] = system.rows("SELECT id FROM mcp.tools WHERE name = 'water_plants'")
    system.assign(tool, video=0.4)
    system.put("rest", server="film", description="Changed.")
    # WHEN it is imported again
    results = imported(client, lines)
    # THEN all is as it was
    assert {result["kind"] for result in results if result["status"] == "updated"} == {"skill", "tool"}
    assert exported(client) == lines


def test_order_of_equals_is_kept(client: TestClient, other_client: TestClient, system: System) -> None:
    # Items are made in an order that is not that of their names; equal results of a search go by it.
    system.put("zebra")
    system.put("monkey", "ape")
    system.put("lion")
    lines = exported(client)
    assert statuses(imported(other_client, lines)) == {"created"}
    names = [tool["name"] for tool in other_client.get("/api/v1/tools").json()]
    assert names == [tool["name"] for tool in client.get("/api/v1/tools").json()]


def test_suggestions_of_deleted_tools_of_one_name_stay_two(
    system: System, client: TestClient, other: System, other_client: TestClient
) -> None:
    # GIVEN two decided suggestions of one moment, name and name of a tool, whose servers went with the tools
    tools = [*system.put("search", server="a"), *system.put("search", server="b")]
    system.classifier.answers["search"] = proposing("Web search")
    system.classify(*tools)
    for place, suggestion in enumerate(system.suggestions()):
        system.parts.review_suggestions.reject(suggestion.id, f"reason {place}", LAPTOP)
    for tool in tools:
        system.parts.catalogue.delete(tool, LAPTOP)
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
    system.parts.review_suggestions.reject(system.suggestions()[0].id, "silly", LAPTOP)
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
