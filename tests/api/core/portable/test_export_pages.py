"""Pages of an export: of one moment, of some kinds, of an owner (docs/adr/0052)."""

from __future__ import annotations

import json
from typing import Any

import pytest
from fastapi.testclient import TestClient
from skillroute.core.caller import LAPTOP
from skillroute.core.portable.cursor import Cursor

from tests.api.routes import fill
from tests.builders import System, of_org
from tests.portable_lines import exported, filled, of_kind, page


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
        (lambda system, ids: system.parts.catalogue.read.delete(ids["item"], LAPTOP), "tool"),
        (lambda system, ids: system.change("garden", parent_domain="home"), "skill"),
        (lambda system, ids: system.parts.skills.review.reject(ids["suggestion"], None, LAPTOP), "suggestion"),
        (lambda system, ids: system.sql("UPDATE mcp.registry_entities SET is_enabled = false"), "server"),
        (lambda system, ids: system.parts.mail.read.delete("product", ids["product"], LAPTOP), "product"),
        (lambda system, ids: system.parts.mail.read.acknowledge(ids["message"], "planner", LAPTOP), "message"),
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
    last = json.loads(system.parts.portable.export([], None, caller, limit=1)[-1])
    fill(system, "globex", "_b")
    fill(system, None, "_c")
    assert json.loads(system.parts.portable.export([], last["after"], caller, limit=1000)[-1])["changed"] == []


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
