"""`skillroute requests write` over real PostgreSQL and a replica: the whole command, but for its process."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from click.testing import Result
from skillroute.core.caller import LAPTOP, Caller
from skillroute.core.embedding.hashing import HashingEmbedder
from skillroute.core.errors.model import ClassifierUnavailable, IndexUnavailable
from skillroute.skills.classification.classifiers import llm
from skillroute.skills.tool_requests.nearest import NearestTools
from skillroute_local.commands.requests import app
from skillroute_local.errors import Misused
from typer.testing import CliRunner

from tests.stubs.chat_server import OUT_OF_ORDER, ChatServer, saying
from tests.unit.core.stubs import Answer, Request
from tests.worlds.desk import ACME, Desk, tool

CALL = 5
"""Tools of one call."""


@pytest.fixture
def desk(emptied_database_url: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Desk]:
    monkeypatch.setenv("SKILLROUTE_DATABASE_URL", emptied_database_url)
    monkeypatch.setenv("SKILLROUTE_EMBEDDING_PROVIDER", "hashing")
    desk = Desk(emptied_database_url)
    desk.use(HashingEmbedder())
    yield desk
    desk.close()


def asked(request: Request) -> list[dict[str, Any]]:
    """Return the tools that a prompt asks about."""
    question = request.body["messages"][-1]["content"]
    found: list[dict[str, Any]] = json.loads(question.removeprefix("<tools>\n").removesuffix("\n</tools>"))
    return found


def well(request: Request) -> Answer:
    """Answer with a good request of each tool, and a copy."""
    answers = [
        {
            "number": each["number"],
            "requests": [f"please do {each['name']} with {each['description']}", each["description"]],
        }
        for each in asked(request)
    ]
    return saying(json.dumps({"tools": answers}))


@pytest.fixture
def chat(monkeypatch: pytest.MonkeyPatch) -> Iterator[ChatServer]:
    with ChatServer() as server:
        monkeypatch.setenv("SKILLROUTE_CHAT_PROVIDER", "openai")
        monkeypatch.setenv("SKILLROUTE_CHAT_MODEL", "some-model")
        monkeypatch.setenv("SKILLROUTE_CHAT_BASE_URL", server.base_url)
        monkeypatch.setattr(llm, "CONCURRENCY", 1)
        server.usual = well
        yield server


def run(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["write", *arguments])


def fill(desk: Desk, number: int = 3, server: str = "s", caller: Caller = LAPTOP) -> list[str]:
    names = [f"tool{n:02}" for n in range(number)]
    items = [tool(name, f"zeta{n} eta{n} theta{n}", server=server) for n, name in enumerate(names)]
    desk.put(*items, caller=caller)
    return names


def stored(desk: Desk) -> dict[str, list[tuple[str, str]]]:
    """Return the requests of the tools that have some, by name."""
    rows = desk.sql("SELECT name, requests FROM mcp.tools WHERE requests <> '[]' ORDER BY id")
    return {name: [(each["text"], each["source"]) for each in requests] for name, requests in rows}


def test_tools_without_requests_get_some_and_the_copies_are_counted(desk: Desk, chat: ChatServer) -> None:
    names = fill(desk)

    done = run("--json")

    assert done.exit_code == 0, done.output
    answer = {"tools": 3, "requests": 3, "dropped": {"copy": 3}, "none_kept": 0, "unanswered": 0}
    assert json.loads(done.stdout) == answer
    assert stored(desk) == {
        name: [(f"please do {name} with zeta{n} eta{n} theta{n}", "llm")] for n, name in enumerate(names)
    }
    assert len(chat.requests) == 1
    [[texts]] = desk.sql(
        "SELECT texts FROM mcp.documents d JOIN mcp.tools t ON d.key = t.id::text WHERE name = 'tool00'"
    )
    assert texts[-1] == "please do tool00 with zeta0 eta0 theta0"


def test_a_person_reads_what_was_written_and_what_was_not(desk: Desk, chat: ChatServer) -> None:
    fill(desk, 2)
    chat.script.append(saying(json.dumps({"tools": [{"number": 1, "requests": ["zeta0 eta0 theta0", 7]}]})))

    done = run()

    assert "0 requests written for 0 tools" in done.stdout
    assert "dropped: 1 copy, 1 malformed" in done.stderr
    assert "1 tool left without new requests" in done.stderr
    assert "1 tool without an answer" in done.stderr


def test_an_interrupted_run_goes_on_where_it_ended(desk: Desk, chat: ChatServer) -> None:
    names = fill(desk, 2 * CALL + 1)
    first = iter([well])

    def well_once(request: Request) -> Answer:
        return next(first, lambda _: OUT_OF_ORDER)(request)

    chat.usual = well_once

    done = run()

    # THEN what was stored before the model went away stays, and the command says both
    assert isinstance(done.exception, ClassifierUnavailable)
    assert f"{CALL} requests written for {CALL} tools" in done.stdout
    assert "run the same command again" in done.stderr
    assert list(stored(desk)) == names[:CALL]

    # AND programs get the error alone
    assert run("--json").stdout == ""

    # WHEN it is run again, only the others are asked for, and after that none
    chat.usual = well
    chat.requests.clear()
    assert run().exit_code == 0
    assert list(stored(desk)) == names
    assert [each["name"] for request in chat.requests for each in asked(request)] == names[CALL:]
    chat.requests.clear()
    assert "0 requests written" in run().stdout
    assert chat.requests == []


def test_a_dry_run_asks_nothing_and_says_what_it_would_cost(desk: Desk, chat: ChatServer) -> None:
    fill(desk, CALL + 1)

    estimate = json.loads(run("--dry-run", "--json").stdout)

    assert (estimate["tools"], estimate["calls"], stored(desk)) == (CALL + 1, 2, {})
    assert estimate["output_tokens"] > 0
    assert "6 tools, 2 calls, about" in run("--dry-run").stdout
    assert chat.requests == []
    # AND the estimate is of what is sent then
    run()
    sent = sum(len(message["content"]) for request in chat.requests for message in request.body["messages"])
    assert estimate["input_tokens"] > sent / 4


def test_without_a_language_model_the_settings_are_named(desk: Desk) -> None:
    fill(desk)
    done = run()
    assert isinstance(done.exception, Misused)
    assert "SKILLROUTE_CHAT_PROVIDER" in str(done.exception)
    assert "SKILLROUTE_CHAT_MODEL" in str(done.exception)
    assert run("--dry-run").exit_code == 0  # which needs none


def test_people_s_requests_stay_and_again_replaces_those_of_a_model(desk: Desk, chat: ChatServer) -> None:
    desk.put(
        tool("by_person", "alpha", requests=[{"text": "theirs", "source": "person"}]),
        tool("imported", "beta", requests=["imported"]),
        tool("mixed", "gamma", requests=[{"text": "mine", "source": "llm"}, {"text": "theirs", "source": "person"}]),
        tool("by_model", "delta", requests=[{"text": "former", "source": "llm"}]),
        tool("emptied", "epsilon", requests=[]),
    )
    before = stored(desk)

    run()
    assert stored(desk) == before  # an empty list says that none are wanted

    run("--again")
    assert stored(desk) == {**before, "by_model": [("please do by_model with delta", "llm")]}


def test_a_server_and_a_number_bound_what_is_asked_for(desk: Desk, chat: ChatServer) -> None:
    fill(desk, 3, server="a")
    fill(desk, 3, server="b")

    assert json.loads(run("--server", "b", "--limit", "2", "--json").stdout)["tools"] == 2

    rows = desk.sql("SELECT server, name FROM mcp.tools WHERE requests IS NOT NULL ORDER BY id")
    assert rows == [["b", "tool00"], ["b", "tool01"]]


def test_an_organisation_s_tools_are_its_own_and_no_other_s(desk: Desk, chat: ChatServer) -> None:
    fill(desk, 1, server="of_all")
    fill(desk, 2, server="of_acme", caller=ACME)

    assert json.loads(run("--org", "acme", "--json").stdout)["tools"] == 2

    assert desk.sql("SELECT DISTINCT org_id FROM mcp.tools WHERE requests IS NOT NULL") == [["acme"]]
    assert {each["server"] for request in chat.requests for each in asked(request)} == {"of_acme"}


def test_the_model_is_not_asked_for_what_cannot_be_checked(
    desk: Desk, chat: ChatServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(desk)

    def away(_: NearestTools) -> None:
        raise IndexUnavailable("the index is away")

    monkeypatch.setattr(NearestTools, "require_ready", away)

    assert isinstance(run().exception, IndexUnavailable)
    assert chat.requests == []


def test_no_tool_is_queued_for_classification(desk: Desk, chat: ChatServer) -> None:
    fill(desk)
    desk.sql("DELETE FROM mcp.outbox")
    run()
    assert len(stored(desk)) == 3
    assert desk.sql("SELECT key FROM mcp.outbox WHERE queue = 'classify'") == []
