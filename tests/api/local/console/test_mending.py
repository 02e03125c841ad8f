"""Mending and dismissing findings, without a browser: what is written where nobody was faster, and remembered."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from fastapi.testclient import TestClient

from tests.api.local.console.conftest import Do
from tests.builders import System


def findings(page: TestClient) -> list[dict[str, Any]]:
    answer = page.post("/do/doctor/examine", json={"search": False})
    found: list[dict[str, Any]] = json.loads(answer.text.splitlines()[-1])["report"]["findings"]
    return found


def test_a_description_is_written_where_nobody_was_faster(do: Do, page: TestClient, system: System) -> None:
    [tool] = system.put("send", server="mail", description="TODO", tags=["kept"])

    saved = do("catalogue/describe", tool_id=tool, text="Send a letter by post.", seen="TODO")
    assert (saved["description"], saved["tags"]) == ("Send a letter by post.", ["kept"])

    late = page.post("/do/catalogue/describe", json={"tool_id": tool, "text": "mine", "seen": "TODO"})
    assert (late.status_code, late.json()["code"]) == (412, "version_conflict")
    assert late.json()["now"] == "Send a letter by post."
    assert "Send a letter by post." in late.json()["detail"]
    # Taking it back is the same action.
    assert do("catalogue/describe", tool_id=tool, text="TODO", seen="Send a letter by post.")["description"] == "TODO"


def test_who_writes_a_description_approves_it_but_not_what_waits(do: Do, system: System) -> None:
    mine, waiting = system.put("mine", "waiting", description="Sends letters.")
    do("catalogue/describe", tool_id=mine, text="Sends letters, by post.", seen="Sends letters.")
    assert do("changes/listed")["total"] == 0

    system.put("waiting", description="Sends letters, and reads yours.")
    assert [row["id"] for row in do("changes/listed")["rows"]] == [waiting]
    do("catalogue/describe", tool_id=waiting, text="Sends letters!", seen="Sends letters, and reads yours.")
    assert [row["id"] for row in do("changes/listed")["rows"]] == [waiting]


def test_what_writes_a_description_over_is_known(do: Do, system: System) -> None:
    [plain] = system.put("plain", server="mail")
    [operation] = system.put("operation", metadata={"http": {"method": "GET", "url": "https://api.example.com/x"}})
    assert do("doctor/tool", tool_id=plain)["written_by"] == "unknown"
    found = do("doctor/tool", tool_id=operation)
    assert (found["written_by"], found["tool"]["name"], found["skills"]) == ("import", "operation", [])


def test_a_dismissed_finding_comes_back_when_its_texts_have_changed(do: Do, page: TestClient, system: System) -> None:
    system.put("get_it", server="toys", description="TODO")
    [empty] = [found for found in findings(page) if found["code"] == "description_empty"]

    [kept] = do("doctor/dismiss", finding=empty["id"], code=empty["code"], about="toys/get_it", reason=" a toy ")
    assert (kept["id"], kept["about"], kept["reason"]) == (empty["id"], "toys/get_it", "a toy")
    # Dismissed once more, in another tab, it keeps its reason; examined again it is the same finding.
    again = {"finding": empty["id"], "code": empty["code"], "about": "toys/get_it", "reason": "no toy"}
    refused = page.post("/do/doctor/dismiss", json=again)
    assert (refused.status_code, refused.json()["code"]) == (409, "already_dismissed")
    assert [row["reason"] for row in do("doctor/dismissed")] == ["a toy"]
    assert empty["id"] in {found["id"] for found in findings(page)}

    system.put("get_it", server="toys", description="N/A")
    [changed] = [found for found in findings(page) if found["code"] == "description_empty"]
    assert changed["id"] != empty["id"]
    assert do("doctor/restore", finding=empty["id"]) == do("doctor/dismissed") == []


def test_each_finding_has_an_id_of_its_own(page: TestClient, system: System) -> None:
    for server in ("toys", "games"):
        system.put("get_it", "get_that", server=server, description="TODO")
    ids = [found["id"] for found in findings(page)]
    assert len(ids) > 4
    assert len(set(ids)) == len(ids)


def test_what_one_organisation_dismissed_no_other_sees(locked: Callable[..., TestClient]) -> None:
    finding = {"finding": "abc", "code": "description_empty", "about": "toys/get_it"}
    assert locked("search skills", "acme").post("/do/doctor/dismiss", json=finding).status_code == 200
    seen = {org: locked("search", org).post("/do/doctor/dismissed", json={}).json() for org in ("acme", "Acme", None)}
    assert {org: len(rows) for org, rows in seen.items()} == {"acme": 1, "Acme": 0, None: 0}


def test_dismissing_takes_the_right_to_change_skills(locked: Callable[..., TestClient]) -> None:
    finding = {"finding": "abc", "code": "description_empty", "about": "toys/get_it"}
    refused = locked("search", "acme").post("/do/doctor/dismiss", json=finding)
    assert (refused.status_code, refused.json()["code"]) == (403, "insufficient_scope")
    assert locked("search", "acme").post("/do/doctor/restore", json={"finding": "abc"}).status_code == 403
    assert locked("catalog", "acme").post("/do/doctor/dismissed", json={}).status_code == 403
