"""The page Unanswered, without a browser: what found nothing, what is decided on it, and is taken back whole."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient
from skillroute.core.embedding.hashing import HashingEmbedder

from tests.api.local.console.conftest import Do, page_of
from tests.builders import System, lent_system
from tests.doubles import EdgeIndexes

MOW = "mow the lawn"


@pytest.fixture
def system(database_url: str, edge_indexes: EdgeIndexes) -> Iterator[System]:
    with lent_system(database_url, edge_indexes, embedder=HashingEmbedder(), receipts="on") as system:
        yield system


@pytest.fixture
def tool(system: System) -> int:
    """A tool that was shown for requests that it does not say that it serves."""
    [tool] = system.put("trim", server="garden", description="Trims grass.")
    for query, caller in ((MOW, "ann"), (MOW, "ben"), ("cut the grass", "ann")):
        system.receipt(query, tool, no_match=True, vector=[1.0, 0.0], caller=caller)
    return tool


def row_of(do: Do, query: str = MOW) -> dict[str, Any]:
    row: dict[str, Any]
    [row] = [row for row in do("missed/groups")["rows"] if row["query"] == query]
    return row


def group_of(row: dict[str, Any]) -> dict[str, Any]:
    """Return a group as the page sends it."""
    wordings = [each["query"] for each in row["asked"]]
    seen = row["decision"] and row["decision"]["at"]
    return {"query": row["query"], "wordings": wordings, "seen": seen, "searches": row["searches"]}


def requests_of(do: Do, tool: int) -> list[str]:
    return [request["text"] for request in do("catalogue/tool", tool_id=tool)["tool"]["requests"] or []]


def test_groups_have_their_wordings_with_counts_and_the_tools_that_were_shown(do: Do, tool: int) -> None:
    row = row_of(do)
    assert (row["state"], row["searches"], row["callers"]) == ("open", 3, 2)
    assert [(each["query"], each["searches"], each["callers"]) for each in row["asked"]] == [
        (MOW, 2, 2),
        ("cut the grass", 1, 1),
    ]
    assert [each["id"] for each in row["tools"]] == [tool]


def test_what_serves_a_request_is_found_by_the_next_search(do: Do, tool: int, requests: Path) -> None:
    assert do("missed/nearest", query=MOW)["no_match"]

    do("missed/serve", group=group_of(row_of(do)), tool_id=tool)

    assert requests_of(do, tool) == [MOW]
    assert do("search/judged", query=MOW)["judged"]["needs"] == [["garden/trim"]]
    row = row_of(do)
    assert (row["state"], row["decision"]["tool"]) == ("served", {"id": tool, "title": "garden/trim"})
    found = do("missed/nearest", query=MOW)
    assert [one["db_id"] for one in found["tools"]] == [tool]
    assert found["tools"][0]["explain"]["cosine"] > 0.3


def test_undo_takes_the_request_and_the_judgement_back(do: Do, tool: int, requests: Path) -> None:
    mine = [{"query": "x", "needs": []}, {"query": MOW, "needs": [["other"], ["third"]], "note": "kept"}]
    requests.write_text("".join(f"{json.dumps(line)}\n" for line in mine), "utf-8")
    before = requests.read_text("utf-8")
    done = do("missed/serve", group=group_of(row_of(do)), tool_id=tool)
    # What is marked already stays, and the tool joins it.
    judged = do("search/judged", query=MOW)["judged"]
    assert (judged["needs"], judged["note"]) == ([["other", "garden/trim"], ["third"]], "kept")

    assert do("missed/undo", query=MOW, seen=done["at"]) == {"kept": []}

    assert requests_of(do, tool) == []
    assert requests.read_text("utf-8") == before
    assert row_of(do)["state"] == "open"


def test_undo_leaves_what_others_judged_since(do: Do, tool: int) -> None:
    done = do("missed/serve", group=group_of(row_of(do)), tool_id=tool)
    do("search/judge", query=MOW, right=["garden/trim", "other"], wrong=[])
    assert do("missed/undo", query=MOW, seen=done["at"]) == {"kept": ["the judged request"]}
    assert do("search/judged", query=MOW)["judged"]["needs"] == [["garden/trim", "other"]]
    assert requests_of(do, tool) == []


def test_a_tool_with_eight_requests_takes_one_for_another(do: Do, tool: int) -> None:
    eight = [f"request {number}" for number in range(8)]
    do("catalogue/requests", tool_id=tool, texts=eight, seen=[])
    group = group_of(row_of(do))

    assert do("missed/serve", group=group, tool_id=tool) == {"full": eight, "title": "garden/trim"}
    assert row_of(do)["state"] == "open"

    done = do("missed/serve", group=group, tool_id=tool, replace="request 3")
    assert sorted(requests_of(do, tool)) == sorted([*eight[:3], *eight[4:], MOW])
    do("missed/undo", query=MOW, seen=done["at"])
    assert sorted(requests_of(do, tool)) == eight


def test_a_long_request_is_shortened_for_the_tool_and_taken_back(do: Do, system: System, tool: int) -> None:
    long = f"{MOW}\n" + "and rake it " * 40
    system.receipt(long, tool, no_match=True, vector=[0.0, 1.0])
    done = do("missed/serve", group=group_of(row_of(do, long)), tool_id=tool)
    [text] = requests_of(do, tool)
    assert text.startswith(f"{MOW} and rake it")
    assert 280 < len(text) <= 300
    assert do("search/judged", query=long)["judged"]["needs"] == [["garden/trim"]]
    do("missed/undo", query=long, seen=done["at"])
    assert requests_of(do, tool) == []


def test_a_decision_that_was_made_elsewhere_is_not_written_over(do: Do, page: TestClient, tool: int) -> None:
    early = group_of(row_of(do))
    do("missed/decide", group=early, decision="dismissed")
    late = page.post("/do/missed/serve", json={"group": early, "tool_id": tool})
    assert (late.status_code, late.json()["now"]["decision"]) == (412, "dismissed")
    assert requests_of(do, tool) == []
    # Who has seen it decides otherwise.
    do("missed/serve", group=group_of(row_of(do)), tool_id=tool)
    assert row_of(do)["state"] == "served"


@pytest.mark.parametrize("decision", ["nothing", "missing", "dismissed"])
def test_a_request_that_no_tool_serves_leaves_what_is_open(do: Do, tool: int, requests: Path, decision: str) -> None:
    done = do("missed/decide", group=group_of(row_of(do)), decision=decision)
    assert row_of(do)["state"] == decision
    assert requests.exists() is (decision == "nothing")
    if decision == "nothing":
        assert do("search/judged", query=MOW)["judged"]["needs"] == []
    do("missed/undo", query=MOW, seen=done["at"])
    assert row_of(do)["state"] == "open"
    assert do("search/judged", query=MOW)["judged"] is None


def test_a_decision_is_found_when_another_wording_is_the_most_frequent(do: Do, system: System, tool: int) -> None:
    do("missed/decide", group=group_of(row_of(do)), decision="missing")
    for caller in "xyz":
        system.receipt("cut the grass", tool, no_match=True, vector=[1.0, 0.0], caller=caller)
    [row] = do("missed/groups")["rows"]
    assert (row["query"], row["state"], row["decision"]["query"]) == ("cut the grass", "missing", MOW)


def test_looking_for_the_nearest_tools_is_no_search_of_a_caller(do: Do, system: System, tool: int) -> None:
    before = row_of(do)
    do("missed/nearest", query=MOW)
    assert system.parts.receipts is not None
    assert system.parts.receipts.flush()
    assert row_of(do) == before


def test_groups_are_exported_to_plan_with(do: Do, system: System, tool: int) -> None:
    system.receipt("=1+1", no_match=True, vector=[0.0, 1.0])
    do("missed/decide", group=group_of(row_of(do)), decision="missing")
    lines = do("missed/export", state="missing", form="jsonl")
    assert lines["name"] == "unanswered.jsonl"
    [one] = map(json.loads, lines["text"].splitlines())
    assert (one["request"], one["searches"], one["nearest_tools"]) == (MOW, 3, ["garden/trim"])
    rows = list(csv.DictReader(io.StringIO(do("missed/export")["text"])))
    # No program of tables computes what was searched for.
    assert {(row["request"], row["state"]) for row in rows} == {(MOW, "missing"), ("'=1+1", "open")}


def test_requests_without_texts_are_counted_with_their_tools(do: Do, system: System) -> None:
    [tool] = system.put("trim", server="garden", description="Trims grass.")
    system.receipt(MOW, tool, no_match=True, keeps_text=False)
    [row] = do("missed/groups")["rows"]
    assert (row["query"], row["searches"], row["asked"], row["state"]) == (None, 1, [], "open")
    assert do("missed/export", form="csv")["text"].splitlines()[1].startswith(",1,1,")


def test_without_receipts_the_memory_of_the_process_is_shown(
    database_url: str, edge_indexes: EdgeIndexes, tmp_path: Path
) -> None:
    with lent_system(database_url, edge_indexes, embedder=HashingEmbedder(), receipts="off") as system:
        system.put("trim", server="garden", description="Trims grass.")
        page = page_of(system, tmp_path / "requests.jsonl")
        page.post("/do/search/run", json={"request": {"query": "zyx wvu"}})
        found = page.post("/do/missed/groups", json={}).json()
    assert (found["receipts"], found["of_process"]) == ("off", 1)
    assert [(row["query"], row["searches"], row["source"]) for row in found["rows"]] == [("zyx wvu", 1, "process")]


def test_who_may_not_see_requests_is_told_the_scope_and_sees_what_is_judged(locked: Callable[..., TestClient]) -> None:
    keeper = locked("skills", "acme")
    for query, decision in ((MOW, "nothing"), ("my secret", "dismissed")):
        answer = keeper.post("/do/missed/decide", json={"group": {"query": query}, "decision": decision})
        assert answer.status_code == 200, answer.text
    reader = locked("search", "acme")
    found = reader.post("/do/missed/groups", json={}).json()
    assert (found["scope"], [row["query"] for row in found["rows"]]) == ("skills", [MOW])
    refused = reader.post("/do/missed/decide", json={"group": {"query": "x"}, "decision": "missing"})
    assert (refused.status_code, refused.json()["code"]) == (403, "insufficient_scope")
    # Another organisation has decisions of its own, and those of callers without one are the operator's.
    assert locked("skills", "globex").post("/do/missed/groups", json={}).json()["rows"] == []
    assert locked("skills").post("/do/missed/groups", json={}).json()["scope"] == "admin"


def test_a_judgement_that_cannot_be_written_leaves_the_tool_as_it_was(
    do: Do, page: TestClient, tool: int, requests: Path
) -> None:
    group = group_of(row_of(do))
    requests.mkdir()  # no file can be there
    answer = page.post("/do/missed/serve", json={"group": group, "tool_id": tool})
    assert answer.status_code == 507
    requests.rmdir()
    assert requests_of(do, tool) == []
    assert row_of(do)["state"] == "open"
