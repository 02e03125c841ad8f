"""The page Evaluation, without a browser: requests edited where nobody was faster, asked, and compared with before."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient
from skillroute.core.embedding.hashing import HashingEmbedder
from skillroute_client import AsyncSkillroute, Unreachable

from tests.api.local.console.conftest import Do, page_of
from tests.builders import System, lent_system
from tests.doubles import EdgeIndexes

Locked = Callable[..., TestClient]


def write(path: Path, *lines: dict[str, Any]) -> None:
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines), "utf-8")


def read(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def ran(page: TestClient, **fields: Any) -> list[dict[str, Any]]:
    answer = page.post("/do/evaluation/run", json=fields)
    assert answer.status_code == 200, answer.text
    return [json.loads(line) for line in answer.text.splitlines()]


@pytest.fixture
def toys(system: System, requests: Path) -> None:
    """Two tools, a request for each, one for both, and one for nothing that is there."""
    system.put("send_letter", server="post", description="Send a letter to somebody by post.")
    system.put("bake_bread", server="oven", description="Bake a loaf of bread.")
    write(
        requests,
        {"query": "send a letter", "needs": [["post/send_letter"]]},
        {"query": "bake a loaf of bread", "needs": [["bake_bread"]]},
        {"query": "bake bread and send a letter", "needs": [["oven/bake_bread"], ["post/send_letter"]]},
        {"query": "zzz", "needs": []},
    )


def test_requests_are_shown_as_people_divided_them(do: Do, requests: Path) -> None:
    write(requests, {"query": "a", "needs": [["x", "y"], ["z"]], "wrong": ["w"], "source": "use"}, {"query": "b"})
    with requests.open("a", encoding="utf-8") as file:
        file.write("not json\n")
    shown = do("evaluation/requests")
    assert shown["rows"] == [
        {"query": "a", "needs": [["x", "y"], ["z"]], "wrong": ["w"], "source": "use", "is_whole": True},
        {"query": "b", "needs": [], "wrong": [], "source": None, "is_whole": False},
    ]
    assert (shown["name"], shown["unread"], shown["history"]) == ("requests.jsonl", 1, [])


def test_needs_are_edited_and_what_else_people_wrote_stays(do: Do, requests: Path) -> None:
    write(requests, {"query": "a", "needs": [["x"]], "note": "kept"}, {"query": "b", "needs": []})
    seen = {"needs": [["x"]], "wrong": []}

    saved = do("evaluation/save", query="a", needs=[["x", "y", "x"], ["z"]], wrong=["w"], seen=seen)

    assert saved["needs"] == [["x", "y"], ["z"]]
    assert read(requests)[0] == {"query": "a", "needs": [["x", "y"], ["z"]], "note": "kept", "wrong": ["w"]}
    # Another text for it stays in its place.
    do("evaluation/save", query="a!", needs=[["x"]], wrong=[], seen=saved, was="a")
    assert [row["query"] for row in read(requests)] == ["a!", "b"]
    do("evaluation/save", query="c", needs=[], wrong=[])
    assert read(requests)[-1] == {"query": "c", "needs": []}


def test_what_another_tab_changed_is_not_written_over(do: Do, page: TestClient, requests: Path) -> None:
    write(requests, {"query": "a", "needs": [["x"]]}, {"query": "b", "needs": []})
    seen = {"needs": [["x"]], "wrong": []}
    do("evaluation/save", query="a", needs=[["theirs"]], wrong=[], seen=seen)

    late = page.post("/do/evaluation/save", json={"query": "a", "needs": [["mine"]], "wrong": [], "seen": seen})
    assert (late.status_code, late.json()["now"]["needs"]) == (412, [["theirs"]])
    assert page.post("/do/evaluation/remove", json={"query": "a", "seen": seen}).status_code == 412
    # A new one of the same words, and another one given these, are refused as well.
    new = page.post("/do/evaluation/save", json={"query": "b", "needs": [["x"]], "wrong": []})
    assert (new.status_code, new.json()["now"]["needs"]) == (412, [])
    renamed = {"query": "b", "was": "a", "needs": [], "wrong": [], "seen": {"needs": [["theirs"]], "wrong": []}}
    assert page.post("/do/evaluation/save", json=renamed).status_code == 409
    gone = page.post("/do/evaluation/save", json={"query": "z", "needs": [], "wrong": [], "seen": seen})
    assert (gone.status_code, gone.json()["now"]) == (412, {"is_gone": True})
    assert read(requests) == [{"query": "a", "needs": [["theirs"]]}, {"query": "b", "needs": []}]


def test_a_request_is_taken_out_and_put_back_whole(do: Do, page: TestClient, requests: Path) -> None:
    lines = [{"query": "a", "needs": [], "note": "kept"}, {"query": "b", "needs": []}]
    write(requests, *lines)
    taken = do("evaluation/remove", query="a", seen={"needs": [], "wrong": []})
    assert read(requests) == lines[1:]
    do("evaluation/restore", lines=taken)
    assert read(requests) == [lines[1], lines[0]]
    assert page.post("/do/evaluation/restore", json={"lines": taken}).status_code == 412


@pytest.mark.usefixtures("toys")
def test_a_run_ends_with_the_scorecard_that_eval_has(page: TestClient) -> None:
    *events, last = ran(page, settings={"mode": "lexical", "strategy": "direct", "tool_threshold": ""})

    assert events[0]["doing"] == "reading the catalogue"
    assert (events[-1]["done"], events[-1]["total"]) == (4, 4)
    report = last["report"]
    assert (report["requests"], report["answerable"], report["tools"]) == (4, 3, 2)
    assert report["settings"] == {"mode": "lexical", "strategy": "direct"}
    assert report["measures"]["recall@5"] == 1.0
    assert set(last["says"]) == set(report["measures"])
    assert last["changes"] is None
    [line] = last["history"]
    assert (line["requests"], line["tools"], line["measures"]) == (4, 2, report["measures"])
    assert line["version"]
    assert "answers" not in line


def test_a_run_leaves_no_receipt_and_misses_nothing(
    database_url: str, edge_indexes: EdgeIndexes, requests: Path
) -> None:
    with lent_system(database_url, edge_indexes, embedder=HashingEmbedder(), receipts="on") as system:
        system.put("send_letter", server="post", description="Send a letter to somebody by post.")
        write(requests, {"query": "send a letter", "needs": [["send_letter"]]}, {"query": "zzz", "needs": []})
        page = page_of(system, requests)
        assert ran(page)[-1]["report"]["requests"] == 2
        assert page.post("/do/health/state", json={}).json()["found_nothing"] == []
        assert system.parts.receipts is not None
        assert system.parts.receipts.flush()
        assert system.rows("SELECT * FROM mcp.receipts") == []


def test_a_run_says_what_was_found_newly_and_what_is_lost(page: TestClient, system: System, requests: Path) -> None:
    system.put("send_letter", server="post", description="Send a letter.")
    system.put("bake_bread", server="oven", description="Bake a loaf.")
    write(
        requests,
        {"query": "to friends far away", "needs": [["send_letter"]]},
        {"query": "loaf", "needs": [["bake_bread"]]},
    )
    direct = {"mode": "lexical", "strategy": "direct"}
    first = ran(page, settings=direct, floors=["recall@5=0.4"])[-1]
    assert [row["query"] for row in first["failed"]] == ["to friends far away"]
    assert (first["failed"][0]["needs"], first["gate"]) == ([["post/send_letter"]], [])

    system.put("send_letter", server="post", description="Send a letter to friends far away.")
    system.put("bake_bread", server="oven", description="Does it.")
    with requests.open("a", encoding="utf-8") as file:
        file.write('{"query": "bread", "needs": [["bake_bread"]]}\n')
    second = ran(page, settings=direct, floors=["recall@5=0.9"])[-1]

    changes = second["changes"]
    assert (changes["found"], changes["lost"], changes["compared"]) == (["to friends far away"], ["loaf"], 2)
    assert changes["differences"]["recall@5"]["mean"] == 0.0
    assert changes["differences"]["recall@5"]["low"] < 0 < changes["differences"]["recall@5"]["high"]
    assert second["gate"] == ["recall@5 is 0.6667, below 0.9"]
    assert [line["requests"] for line in second["history"]] == [3, 2]
    assert len({line["digest"] for line in second["history"]}) == 2

    system.put("send_letter", server="post", description="Does it.")
    third = ran(page, settings=direct)[-1]
    assert third["gate"] == ["recall@5 is 0.3333, 0.3334 below the baseline's 0.6667; 0.01 is allowed"]


@pytest.mark.usefixtures("toys")
def test_the_newest_hundred_runs_are_kept(page: TestClient, requests: Path) -> None:
    history = requests.with_name("requests.history.jsonl")
    old = {"at": "2026-01-01", "settings": {}, "digest": "", "requests": 1, "measures": {}, "answers": {"a": {}}}
    write(history, *[old | {"tools": number} for number in range(100)])
    last = ran(page)[-1]
    lines = read(history)
    assert (len(last["history"]), len(lines), lines[0]["tools"]) == (100, 100, 1)
    assert [number for number, line in enumerate(lines) if "answers" in line] == [99]


def test_nothing_is_measured_where_a_line_is_wrong(page: TestClient, requests: Path) -> None:
    for text, why in (("", "no request to ask"), ('{"query": "a", "needs": [[]]}\n', "requests.jsonl:1")):
        requests.write_text(text, "utf-8")
        [last] = ran(page)
        assert last["problem"]["status"] == 422
        assert why in last["problem"]["detail"]


@pytest.mark.usefixtures("toys")
def test_settings_and_floors_that_there_are_not_are_refused(page: TestClient) -> None:
    assert ran(page, settings={"mode": "magic"})[-1]["problem"]["status"] == 422
    assert "recall@7" in ran(page, floors=["recall@7=0.5"])[-1]["problem"]["detail"]


@pytest.mark.usefixtures("toys")
def test_what_fails_on_the_way_is_the_last_event_and_no_run(page: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    async def broken(*_: object, **__: object) -> None:
        raise Unreachable("no answer") from ConnectionError("the line is cut")

    monkeypatch.setattr(AsyncSkillroute, "search", broken)
    last = ran(page)[-1]
    assert (last["problem"]["status"], "the line is cut" in last["problem"]["detail"]) == (502, True)
    assert page.post("/do/evaluation/requests", json={}).json()["history"] == []


def test_each_organisation_has_its_own_requests_and_runs(locked: Locked) -> None:
    new = {"query": "a", "needs": [["x"]], "wrong": []}
    assert locked("search skills", "acme").post("/do/evaluation/save", json=new).status_code == 200
    for org, count in (("acme", 1), ("Acme", 0), (None, 0)):
        assert len(locked("search", org).post("/do/evaluation/requests", json={}).json()["rows"]) == count


def test_changing_requests_takes_the_right_to_change_skills(locked: Locked) -> None:
    reader = locked("search", "acme")
    for action, fields in (
        ("save", {"query": "a", "needs": [], "wrong": []}),
        ("remove", {"query": "a", "seen": {}}),
        ("restore", {"lines": [{"query": "a", "needs": []}]}),
    ):
        refused = reader.post(f"/do/evaluation/{action}", json=fields)
        assert (refused.status_code, refused.json()["code"]) == (403, "insufficient_scope")
    assert locked("catalog", "acme").post("/do/evaluation/requests", json={}).status_code == 403


def test_a_run_of_who_may_only_search_is_shown_and_not_kept(locked: Locked, requests: Path) -> None:
    write(requests, {"query": "zzz", "needs": []})
    last = ran(locked("search"))[-1]
    assert (last["report"]["requests"], last["history"]) == (1, [])
    assert "the token lacks the scope 'skills'" in last["not_kept"]
    assert len(ran(locked("search skills"))[-1]["history"]) == 1
