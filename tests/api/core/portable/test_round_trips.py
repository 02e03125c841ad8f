"""GET, then PUT of what came back, changes nothing; and one rule for fields that are unknown, on every bulk route."""

from __future__ import annotations

from typing import Any

import pytest
from fastapi.testclient import TestClient

from tests.builders import System

TOOL = {
    "name": "create_event",
    "server": "calendar",
    "title": "Create an event",
    "description": "Creates an event.",
    "inputSchema": {"type": "object", "properties": {"at": {"type": "string", "description": "When."}}},
    "annotations": {"readOnlyHint": False},
    "tags": ["time"],
    "metadata": {"id": 7, "created_at": "yesterday"},
}
SERVER = {
    "name": "io.github.acme/clock",
    "title": "Clock",
    "description": "Tells the time.",
    "version": "1.2.0",
    "repository": {"url": "https://example.test"},
    "tags": ["time"],
    "tools": [{"name": "now", "description": "The time now."}],
}
LISTED = {
    "server": {"name": "io.github.acme/listed", "description": "As registries list it.", "version": "3"},
    "_meta": {"io.modelcontextprotocol.registry/official": {"publishedAt": "2026-01-01", "id": 5}},
    "tags": ["listed"],
}
CARD = {
    "name": "Planner",
    "description": "Plans.",
    "url": "https://planner.test",
    "version": "2.0.0",
    "capabilities": {"streaming": True, "pushNotifications": False},
    "skills": [
        {"id": "plan", "name": "Plan a day", "description": "Plans.", "tags": ["day"], "examples": ["today"]},
        {"id": "move", "name": "Move a meeting", "description": "Moves."},
    ],
}
PLACED = {"name": "placed", "path": "/somewhere/else", "is_enabled": False, "capabilities": ["search"]}
MESSAGE = {
    "key": "m1",
    "project": "garden",
    "from": "Ann",
    "to": ["Ben"],
    "bcc": ["Cem"],
    "subject": "Water",
    "body": "Please water.",
    "thread_id": "t",
    "importance": "high",
    "ack_required": True,
    "created_ts": 1_700_000_000_000_000,
}
PROJECT = {"key": "garden", "name": "Garden", "description": "All green."}
WRITTEN: dict[str, tuple[str, dict[str, Any]]] = {
    "a tool": ("tools", TOOL),
    "a tool that says little": ("tools", {"name": "bare"}),
    "an imported row with an id of its own": ("tools", {"name": "imported", "id": "row-7", "source": "a file"}),
    "a prompt": ("tools", {"type": "prompt", "name": "greet", "arguments": [{"name": "whom"}]}),
    "a server": ("servers", SERVER),
    "a server as registries list it": ("servers", LISTED),
    "a server by its path, disabled": ("servers", PLACED),
    "an agent": ("agents", CARD),
    "an agent by its path, disabled": ("agents", PLACED),
    "a project": ("mail/projects", {"key": "other", "name": "Other"}),
    "a product": ("mail/products", {"key": "all", "name": "All", "projects": ["garden"]}),
    "a mail agent": (
        "mail/agents",
        {"name": "Ann", "description": "Waters.", "contact": "a@b.c", "projects": ["garden"]},
    ),
    "a message": ("mail/messages", MESSAGE),
}


@pytest.fixture(autouse=True)
def garden(client: TestClient) -> None:
    assert client.put("/api/v1/mail/projects", json=[PROJECT]).json()["failed"] == 0


def put(client: TestClient, kind: str, thing: dict[str, Any]) -> dict[str, Any]:
    response = client.put(f"/api/v1/{kind}", json=[thing])
    assert response.status_code == 200, response.text
    [result] = response.json()["results"]
    return dict(result)


def stored(client: TestClient, kind: str, id_: object) -> dict[str, Any]:
    response = client.get(f"/api/v1/{kind}/{id_}")
    assert response.status_code == 200, response.text
    return dict(response.json())


@pytest.mark.parametrize("what", WRITTEN)
def test_what_was_read_and_is_written_back_changes_nothing(client: TestClient, what: str) -> None:
    kind, thing = WRITTEN[what]
    before = stored(client, kind, put(client, kind, thing)["id"])
    result = put(client, kind, before)
    assert (result["status"], result["id"], result["warnings"]) == ("unchanged", before["id"], [])
    assert stored(client, kind, before["id"]) == before
    # AND what was written in the first place is the same still
    assert put(client, kind, thing)["status"] == "unchanged"


def test_a_skill_is_patched_with_what_was_read(client: TestClient, system: System) -> None:
    system.create("garden")
    path = "/api/v1/skills/garden"
    read = client.get(path).json()
    assert client.patch(path, json=read).json() == read
    changed = client.patch(path, json=read | {"name": "Another", "is_active": False}).json()
    assert (changed["name"], changed["is_active"]) == ("Another", False)
    for other in ({"id": "elsewhere"}, {"org_id": "acme"}, {"colour": "red"}):
        response = client.patch(path, json=read | other)
        assert (response.status_code, response.json()["detail"][0]["loc"]) == (422, ["body", *other])
    assert client.get(path).json() == changed


@pytest.mark.parametrize("what", WRITTEN)
def test_a_change_of_what_was_read_is_all_that_changes(client: TestClient, what: str) -> None:
    kind, thing = WRITTEN[what]
    before = stored(client, kind, put(client, kind, thing)["id"])
    field = "subject" if kind == "mail/messages" else "description"
    assert put(client, kind, before | {field: "Something else."})["status"] == "updated"
    after = stored(client, kind, before["id"])
    assert after[field] == "Something else."
    moving = {field, "updated_at", "content_hash", "server_json", "agent_card"}
    assert {name: after[name] for name in after.keys() - moving} == {
        name: before[name] for name in before.keys() - moving
    }
    # AND read once more it is the same
    assert put(client, kind, after)["status"] == "unchanged"


def test_the_fields_of_a_document_follow_what_was_changed_beside_it(client: TestClient) -> None:
    before = stored(client, "servers", put(client, "servers", SERVER)["id"])
    put(client, "servers", before | {"name": "Timepiece", "tags": [], "description": "Tells it."})
    document = {name: value for name, value in SERVER.items() if name != "tools"}
    after = stored(client, "servers", before["id"])
    assert after["server_json"] == document | {"title": "Timepiece", "tags": [], "description": "Tells it."}
    assert (after["name"], after["path"], after["tool_count"]) == ("Timepiece", before["path"], 1)


@pytest.mark.parametrize(
    ("kind", "thing"),
    [
        ("servers", {"name": "clock"}),
        ("servers", SERVER),
        ("servers", LISTED),
        ("agents", CARD | {"title": "A card has none."}),
        ("agents", PLACED),
    ],
)
def test_another_name_makes_no_other_thing(client: TestClient, kind: str, thing: dict[str, Any]) -> None:
    before = stored(client, kind, put(client, kind, thing)["id"])
    result = put(client, kind, before | {"name": "Timepiece"})
    assert (result["status"], result["id"]) == ("updated", before["id"])
    after = stored(client, kind, before["id"])
    assert (after["name"], after["path"]) == ("Timepiece", before["path"])
    assert put(client, kind, after)["status"] == "unchanged"


def test_a_document_as_registries_list_it_is_changed_within(client: TestClient) -> None:
    before = stored(client, "servers", put(client, "servers", LISTED)["id"])
    put(client, "servers", before | {"description": "Another.", "tags": ["new"]})
    document = stored(client, "servers", before["id"])["server_json"]
    assert document == LISTED | {"tags": ["new"], "server": LISTED["server"] | {"description": "Another."}}  # type: ignore[operator]


def test_an_agents_skills_keep_what_its_card_says_of_them(client: TestClient) -> None:
    before = stored(client, "agents", put(client, "agents", CARD)["id"])
    skills = [before["skills"][0] | {"description": "Plans well."}, {"name": "Rest"}]
    put(client, "agents", before | {"skills": skills})
    card = stored(client, "agents", before["id"])["agent_card"]
    assert card["skills"] == [CARD["skills"][0] | {"description": "Plans well."}, {"name": "Rest"}]  # type: ignore[index]
    assert (card["url"], card["version"], card["capabilities"]) == (
        "https://planner.test",
        "2.0.0",
        CARD["capabilities"],
    )


@pytest.mark.parametrize(
    ("kind", "within", "bad"),
    [("servers", "server_json", 3), ("agents", "agent_card", [])],
)
def test_a_document_that_is_none_is_refused_by_its_place(client: TestClient, kind: str, within: str, bad: Any) -> None:
    assert put(client, kind, {"name": "a", within: bad})["error"] == {"field": within, "message": "must be an object"}
    assert put(client, kind, {"name": "a", within: {"name": ""}})["error"]["field"] == f"{within}.name"
    assert put(client, kind, {"name": 3, within: {"name": "a"}})["error"]["field"] == "name"


@pytest.mark.parametrize(("kind", "within"), [("servers", "server_json"), ("agents", "agent_card")])
def test_a_document_that_holds_itself_is_unwrapped_and_never_endlessly(
    client: TestClient, kind: str, within: str
) -> None:
    nested: dict[str, Any] = {"name": "clock", "colour": "red"}
    for _ in range(2):
        nested = {"name": "clock", within: nested}
    assert stored(client, kind, put(client, kind, nested)["id"])[within] == {"name": "clock", "colour": "red"}
    for _ in range(300):
        nested = {"name": "clock", within: nested}
    assert put(client, kind, nested)["error"]["field"] == within


@pytest.mark.parametrize("skills", [[{"name": []}], [{"name": {}}], ["x"], "x", 3, [None]])
def test_skills_that_are_none_are_refused_and_not_merged(client: TestClient, skills: Any) -> None:
    result = put(client, "agents", {"name": "Planner", "agent_card": CARD, "skills": skills})
    assert (result["status"], result["error"]["field"].partition(".")[0]) == ("failed", "skills")


def test_a_skill_that_was_read_and_is_written_back_changes_nothing(client: TestClient, system: System) -> None:
    system.create("mail")
    system.assign(*system.put("t"), mail=1.0)
    for is_active in (True, False):
        client.patch("/api/v1/skills/mail", json={"is_active": is_active})
        before = client.get("/api/v1/skills/mail").json()
        response = client.put("/api/v1/skills/mail", json=before)
        assert (response.status_code, response.json()) == (200, before)
        assert client.get("/api/v1/skills/mail").json() == before


def test_a_skill_is_not_written_over_another_one(client: TestClient, system: System) -> None:
    system.create("mail")
    mail = client.get("/api/v1/skills/mail").json()
    response = client.put("/api/v1/skills/maps", json=mail)
    assert (response.status_code, response.json()["detail"][0]["loc"]) == (422, ["body", "id"])
    assert client.get("/api/v1/skills/maps").status_code == 404


# Fields that are unknown

NAMED = {
    "tools": {"name": "n"},
    "servers": {"name": "n"},
    "agents": {"name": "n"},
    "mail/projects": {"key": "n", "name": "n"},
    "mail/products": {"key": "n", "name": "n"},
    "mail/agents": {"name": "n"},
    "mail/messages": {"key": "n", "project": "garden", "from": "Ann", "to": ["Ben"], "subject": "n"},
}


@pytest.mark.parametrize("kind", NAMED)
def test_a_field_that_was_probably_meant_otherwise_comes_back_as_a_warning(client: TestClient, kind: str) -> None:
    wrong, meant = ("boddy", "body") if kind == "mail/messages" else ("descripton", "description")
    result = put(client, kind, {**NAMED[kind], wrong: "Something."})
    assert result["status"] == "created"
    [warning] = result["warnings"]
    assert (warning["field"], warning["type"]) == (wrong, "unknown_field")
    assert warning["message"].endswith(f": did you mean {meant}?")


@pytest.mark.parametrize("kind", ["tools", "servers", "agents"])
def test_written_alone_a_thing_is_not_emptied_for_a_misspelling(client: TestClient, kind: str) -> None:
    id_ = put(client, kind, {**NAMED[kind], "description": "Something."})["id"]
    response = client.put(f"/api/v1/{kind}/{id_}", json={**NAMED[kind], "descripton": "Something else."})
    assert response.status_code == 422
    [problem] = response.json()["detail"]
    assert (problem["loc"], problem["msg"]) == (["body", "descripton"], "is unknown: did you mean description?")
    assert stored(client, kind, id_)["description"] == "Something."


@pytest.mark.parametrize("kind", NAMED)
def test_a_field_that_is_like_no_other_is_kept_or_else_named(client: TestClient, kind: str) -> None:
    result = put(client, kind, {**NAMED[kind], "colour": "red"})
    if kind.startswith("mail/"):
        assert [(each["field"], each["message"]) for each in result["warnings"]] == [
            ("colour", "is unknown and was left out")
        ]
        return
    assert result["warnings"] == []
    document = {"tools": "metadata", "servers": "server_json", "agents": "agent_card"}[kind]
    assert stored(client, kind, result["id"])[document]["colour"] == "red"


def test_a_tool_within_a_server_is_warned_of_by_its_place(client: TestClient) -> None:
    tools = [{"name": "a", "title": "A", "_meta": {}}, {"name": "b", "input_shema": {}}]
    [warning] = put(client, "servers", {"name": "n", "tools": tools})["warnings"]
    assert warning["field"] == "tools.1.input_shema"


def test_an_item_that_failed_has_its_warnings_too(client: TestClient) -> None:
    result = put(client, "tools", {"name": "", "descripton": "x"})
    assert (result["status"], [each["field"] for each in result["warnings"]]) == ("failed", ["descripton"])


def test_a_field_beside_the_one_that_it_is_like_is_no_misspelling(client: TestClient) -> None:
    assert put(client, "tools", {"name": "n", "description": "A.", "descriptions": ["B."]})["warnings"] == []


@pytest.mark.parametrize("kind", NAMED)
def test_what_was_read_of_another_organisation_is_refused(client: TestClient, kind: str) -> None:
    result = put(client, kind, {**NAMED[kind], "id": 1, "org_id": "acme"})
    assert (result["status"], result["error"]["field"]) == ("failed", "org_id")
    # AND what was not read names no organisation that counts
    written = put(client, kind, {**NAMED[kind], "org_id": "acme"})
    assert (written["status"], stored(client, kind, written["id"])["org_id"]) == ("created", None)


def test_a_thousand_unknown_fields_are_few_warnings(client: TestClient) -> None:
    result = put(client, "tools", {"name": "n", **{f"descriptio{number}": 1 for number in range(900)}})
    assert (result["status"], len(result["warnings"])) == ("created", 20)
