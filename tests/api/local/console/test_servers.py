"""The page Servers, without a browser: all servers under one name each, and switching several as they were seen."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient
from skillroute_local.console import servers

from tests.api.local.console.test_app import page_of
from tests.builders import System


@pytest.fixture
def page(system: System, tmp_path: Path) -> TestClient:
    return page_of(system, tmp_path / "requests.jsonl")


def do(page: TestClient, name: str, **fields: Any) -> Any:
    answer = page.post(f"/do/servers/{name}", json=fields)
    assert answer.status_code == 200, answer.text
    return answer.json()


def rows(page: TestClient) -> dict[str, dict[str, Any]]:
    return {row["name"]: row for row in do(page, "listed")["rows"]}


def wanted(*found: dict[str, Any]) -> list[dict[str, Any]]:
    return [
        {"key": row["key"], "id": row["id"], "name": row["name"], "was_enabled": row["is_enabled"]} for row in found
    ]


def test_every_server_stands_there_once_registered_or_not(page: TestClient, system: System) -> None:
    system.put("one", "two", server="Team Files")
    system.put("three", server="team-files")
    system.put("four", server="mail")
    assert {name: (row["tool_count"], row["id"]) for name, row in rows(page).items()} == {
        "Team Files": (3, None),
        "mail": (1, None),
    }
    do(page, "switch", servers=wanted(rows(page)["mail"]), on=False)
    mail = rows(page)["mail"]
    assert (mail["tool_count"], mail["is_enabled"], mail["id"] is not None) == (1, False, True)
    assert mail["outcome"] is None


def test_registered_servers_do_not_wait_for_a_long_catalogue(
    page: TestClient, system: System, monkeypatch: pytest.MonkeyPatch
) -> None:
    system.put("one", "two", "three", server="mail")
    do(page, "switch", servers=wanted(rows(page)["mail"]), on=True)
    system.put("four", "five", server="files")
    monkeypatch.setattr(servers, "_PAGE", 2)

    answer = page.post("/do/servers/listed", json={})

    first, *between, last = map(json.loads, answer.text.splitlines())
    assert (first["reading"], [row["name"] for row in first["rows"]]) == ({"done": 2, "total": 5}, ["mail"])
    assert between == [{"reading": {"done": 4, "total": 5}}]
    assert (last["reading"], {row["name"] for row in last["rows"]}) == (None, {"mail", "files"})


def test_changed_definitions_are_counted_by_server(page: TestClient, system: System) -> None:
    for description in ("First.", "Second."):
        system.put("one", "two", description=description, server="mail")
    system.put("three", server="files")
    assert {name: row["waiting"] for name, row in rows(page).items()} == {"mail": 2, "files": 0}
    assert rows(page)["mail"]["changed_at"] is not None


def test_the_tools_of_a_server_are_those_of_all_its_names(page: TestClient, system: System) -> None:
    system.put("one", server="Team Files")
    system.put("two", server="team-files")
    found = do(page, "tools", names=rows(page)["Team Files"]["names"])
    assert ([row["name"] for row in found["rows"]], found["total"]) == (["one", "two"], 2)


def test_several_are_switched_and_what_somebody_else_switched_meanwhile_is_left(
    page: TestClient, system: System
) -> None:
    for name in ("files", "mail", "maps"):
        system.put(f"of_{name}", server=name)
    do(page, "switch", servers=wanted(*rows(page).values()), on=True)
    seen = rows(page)
    # GIVEN a second tab that switches one off
    do(page, "switch", servers=wanted(seen["mail"]), on=False)

    results = do(page, "switch", servers=wanted(*seen.values()), on=False)

    became = {result["now"]["name"]: result["status"] for result in results}
    assert became == {"files": "switched", "mail": "changed", "maps": "switched"}
    assert not any(row["is_enabled"] for row in rows(page).values())
    undone = do(page, "switch", servers=wanted(*(rows(page)[name] for name in ("files", "maps"))), on=True)
    assert {result["status"] for result in undone} == {"switched"}
    assert {name: row["is_enabled"] for name, row in rows(page).items()} == {"files": True, "mail": False, "maps": True}


def test_one_that_is_gone_keeps_no_other_from_being_switched(page: TestClient, system: System) -> None:
    system.put("one", server="files")
    gone = {"key": "999", "id": 999, "name": "gone", "was_enabled": True}
    results = do(page, "switch", servers=[gone, *wanted(rows(page)["files"])], on=False)
    assert [result["status"] for result in results] == ["failed", "switched"]
    assert results[0]["why"] == "no server with id 999. It may have been deleted: reload the list."
    assert page.post("/do/servers/switch", json={"servers": [gone], "on": False}).status_code == 404


def test_one_that_was_registered_meanwhile_is_not_written_over(page: TestClient, system: System) -> None:
    system.put("one", server="files")
    seen = rows(page)["files"]
    do(page, "switch", servers=wanted(seen), on=False)
    answer = page.post("/do/servers/switch", json={"servers": wanted(seen), "on": True})
    assert (answer.status_code, answer.json()["code"]) == (412, "version_conflict")
    assert not rows(page)["files"]["is_enabled"]
