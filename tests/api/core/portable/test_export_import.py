"""What is exported is restored: all kinds, all of it, and of nobody else (docs/adr/0052)."""

from __future__ import annotations

import json

from fastapi.testclient import TestClient
from skillroute.core.caller import LAPTOP

from tests.api.routes import fill
from tests.builders import System, of_org
from tests.portable_lines import exported, filled, imported, statuses

KINDS = ["skill", "tool", "suggestion", "server", "agent", "agent_skill", "project", "product", "mail_agent", "message"]


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
    system.parts.catalogue.switch(off, LAPTOP, is_active=False)
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


def test_an_organisation_exports_what_is_its_own(system: System) -> None:
    # GIVEN three owners of things of the same names
    suffixes = {None: "_of_all", "acme": "_of_acme", "globex": "_of_globex"}
    for org, suffix in suffixes.items():
        fill(system, org, suffix)
    everything = {
        org: b"".join(system.parts.portable.export([], None, of_org(org), limit=1000)).decode() for org in suffixes
    }
    # THEN nobody's lines name what is another's
    for org, text in everything.items():
        assert {of for of, suffix in suffixes.items() if suffix in text} == {org}


def test_an_organisation_imports_what_is_its_own(system: System, client: TestClient, other: System) -> None:
    filled(system)
    lines = exported(client)
    outcomes = other.parts.portable.import_lines(lines, of_org("acme")).outcomes
    assert [outcome for outcome in outcomes if outcome.status == "failed"] == []
    for table in ("tools", "skill_categories", "skill_suggestions", "registry_entities", "mail_messages"):
        assert other.rows(f"SELECT DISTINCT org_id FROM mcp.{table}") == [["acme"]]
    assert len(list(other.parts.portable.export([], None, LAPTOP, limit=1000))) == 1


def test_a_global_skill_is_named_and_not_taken_along(system: System, other: System) -> None:
    # GIVEN an organisation's tool in a global skill
    system.create("garden", description="Water the plants of the garden.")
    [tool] = system.put("water", caller=of_org("acme"))
    system.assign(tool, of_org("acme"), garden=0.9)
    *lines, _ = (json.loads(line) for line in system.parts.portable.export([], None, of_org("acme"), limit=100))
    assert [line["kind"] for line in lines] == ["tool"]
    # WHEN it is imported where there is no such skill
    [outcome] = other.parts.portable.import_lines(lines, of_org("acme")).outcomes
    # THEN the line fails, and says why
    assert (outcome.status, outcome.field) == ("failed", "skills.assigned.0.skill_id")
    other.create("garden", description="Water the plants of the garden.")
    assert [outcome.status for outcome in other.parts.portable.import_lines(lines, of_org("acme")).outcomes] == [
        "created"
    ]


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


def test_requests_of_tools_are_the_organisation_s_own_and_a_line_without_them_leaves_them(
    system: System, client: TestClient, other: System, other_client: TestClient
) -> None:
    # GIVEN the same tool of two organisations, one of which has requests
    system.put("cut", server="film", requests=[{"text": "shorten my clip", "source": "person"}])
    system.put("cut", caller=of_org("acme"), server="film")
    [line] = [line for line in exported(client) if line["kind"] == "tool"]
    assert line["requests"] == [{"text": "shorten my clip", "source": "person"}]
    # WHEN it is restored, and comes once more as what a server lists
    assert statuses(imported(other_client, [line])) == {"created"}
    without = {name: value for name, value in line.items() if name != "requests"}
    assert statuses(imported(other_client, [without])) == {"unchanged"}
    # THEN it has them, and the other one never had any
    assert exported(other_client) == [line]
    stored = "SELECT org_id, requests -> 0 ->> 'text' FROM mcp.tools ORDER BY id"
    assert system.rows(stored) == [[None, "shorten my clip"], ["acme", None]]
    # AND an empty list takes them away
    assert statuses(imported(other_client, [{**line, "requests": []}])) == {"updated"}
    assert exported(other_client)[0]["requests"] == []


def test_packaged_requests_are_no_part_of_a_line_and_come_back_with_the_tool(
    system: System, client: TestClient, other: System, other_client: TestClient
) -> None:
    system.put("playwright_navigate", server="Playwright Server", description="Navigate to a URL")
    [line] = exported(client)
    assert line["requests"] is None
    assert statuses(imported(other_client, [line])) == {"created"}
    stored = "SELECT requests -> 0 ->> 'source', requests FROM mcp.tools"
    assert other.rows(stored) == system.rows(stored)
    assert other.rows(stored)[0][0] == "packaged"
    assert statuses(imported(other_client, [line])) == {"unchanged"}
