"""The page Learning, without a browser: states, and judged requests that go into the file."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import httpx
import pytest
from fastapi.testclient import TestClient
from skillroute.learning.learn.learn import LearnReport
from skillroute_local.evaluating.requests import read_requests

from tests.api.local.console.conftest import page_of
from tests.api.tokens import JWT, Signer, claims, key_set
from tests.builders import System, lent_system
from tests.doubles import EdgeIndexes, at

Do = Callable[..., Any]


@pytest.fixture
def requests(tmp_path: Path) -> Path:
    return tmp_path / "requests.jsonl"


@pytest.fixture
def do(system: System, requests: Path) -> Do:
    """Carry out an action that must succeed."""
    page = page_of(system, requests)

    def run(name: str, **fields: Any) -> Any:
        answer = page.post(f"/do/learning/{name}", json=fields)
        assert answer.status_code == 200, answer.text
        return answer.json()

    return run


@pytest.fixture
def tool(system: System) -> int:
    """A tool that was called for a request, and one that nothing fits."""
    [tool] = system.put("fly", server="travel")
    system.outcome(system.receipt("book a flight", tool), "called", tool)
    system.outcome(system.receipt("mow the lawn", tool), "nothing_fits")
    return tool


def waiting(do: Do) -> list[tuple[str, list[list[str]]]]:
    return [(row["query"], row["needs"]) for row in do("judged")["rows"]]


def test_states_are_shown_switched_and_forgotten(do: Do, system: System, tool: int) -> None:
    older, newer = system.learned(tool, is_live=False), system.learned(tool)
    assert do("status")["live"]["id"] == newer
    assert do("switch", state_id=older)["live"]["id"] == older
    assert [row["tool_id"] for row in do("requests", state_id=older)] == [tool]
    assert do("switch", state_id=None)["live"] is None
    assert do("forget", tool_id=tool)["requests"] == 2
    assert do("requests", state_id=older) == []


def test_accepted_requests_go_into_the_file_as_evaluations_read_it(do: Do, requests: Path, tool: int) -> None:
    for query, needs in waiting(do):
        assert do("accept", query=query, needs=needs) == {"name": "requests.jsonl"}
    assert waiting(do) == []
    problems: list[str] = []
    with requests.open("rb") as lines:
        rows = list(read_requests(lines, "requests.jsonl", problems.append))
    assert problems == []
    assert {row.request.query: row.request.needs for row in rows} == {
        "book a flight": [["travel/fly"]],
        "mow the lawn": [],
    }
    assert {json.loads(line)["source"] for line in requests.read_text("utf-8").splitlines()} == {"use"}


def test_what_a_person_judged_is_not_asked_again_and_stays(do: Do, requests: Path, tool: int) -> None:
    line = json.dumps({"query": "book a flight", "needs": [["other"]], "note": "mine"})
    requests.write_text(f"{line}\n", "utf-8")
    assert waiting(do) == [("mow the lawn", [])]
    do("accept", query="book a flight", needs=[["travel/fly"]])
    assert requests.read_text("utf-8") == f"{line}\n"


def test_rejected_requests_come_back_when_use_judges_otherwise(
    do: Do, system: System, requests: Path, tool: int
) -> None:
    do("reject", query="book a flight", needs=[["travel/fly"]])
    assert waiting(do) == [("mow the lawn", [])]
    assert not requests.exists()
    [other] = system.put("drive", server="travel")
    system.outcome(system.receipt("book a flight", other), "called", other)
    assert waiting(do)[0] == ("book a flight", [["travel/drive", "travel/fly"]])


class TestWithTokens:
    @pytest.fixture
    def signer(self) -> Signer:
        return Signer("k")

    @pytest.fixture
    def system(self, database_url: str, edge_indexes: EdgeIndexes, signer: Signer) -> Iterator[System]:
        with lent_system(database_url, edge_indexes, **JWT, jwt_keys=key_set(signer.public())) as system:
            yield system

    @pytest.fixture
    def page(self, system: System, requests: Path) -> TestClient:
        return page_of(system, requests)

    def test_each_organisation_has_decisions_of_its_own(
        self, page: TestClient, system: System, signer: Signer, requests: Path
    ) -> None:
        [tool] = system.put("fly")
        for org in ("acme", "globex"):
            system.outcome(system.receipt("book a flight", tool, org=org), "called", tool, org=org)

        def ask(org: str, name: str, scope: str = "skills", **fields: Any) -> Any:
            token = {"authorization": f"Bearer {signer.sign(claims(scope, org))}"}
            return page.post(f"/do/learning/{name}", json=fields, headers=token)

        assert ask("acme", "accept", query="book a flight", needs=[["fly"]]).json()["name"].startswith("requests.acme.")
        assert ask("acme", "judged").json()["rows"] == []
        assert [row["query"] for row in ask("globex", "judged").json()["rows"]] == ["book a flight"]
        ask("globex", "reject", query="book a flight", needs=[["fly"]])
        assert ask("globex", "judged").json()["rows"] == []
        assert not requests.exists()
        refused = ask("acme", "reject", "search", query="book a flight", needs=[["fly"]])
        assert (refused.status_code, refused.json()["code"]) == (403, "insufficient_scope")


@pytest.fixture
def organisations(database_url: str, edge_indexes: EdgeIndexes, signer: Signer) -> Iterator[System]:
    with lent_system(database_url, edge_indexes, **JWT, jwt_keys=key_set(signer.public())) as made:
        yield made


@pytest.fixture
def keeper(organisations: System, requests: Path, signer: Signer) -> Callable[..., TestClient]:
    """Return what opens the console with a token of an organisation, or of none."""

    def page(scope: str, org: str | None, *, is_lent: bool = True) -> TestClient:
        lend = (lambda: nullcontext(organisations.parts)) if is_lent else None
        page = page_of(organisations, requests, lend=lend)
        page.headers["authorization"] = f"Bearer {signer.sign(claims(scope, org))}"
        return page

    return page


def learn(page: TestClient) -> httpx.Response:
    return page.post("/do/learning/learn", json={})


def test_it_is_learned_of_the_use_of_ones_own_organisation_alone(
    organisations: System, keeper: Callable[..., TestClient]
) -> None:
    system = organisations
    [tool] = system.put("fly", org="acme")
    model = str(system.embedder.model)
    search = system.receipt("book a flight", tool, org="acme", model=model, vector=at(0.1, 2))
    system.outcome(search, "called", tool, org="acme")

    found = {org: learn(keeper("skills", org)).json() for org in ("acme", "globex")}

    assert found["acme"] == {
        "state_id": None,
        "is_live": False,
        "reason": "no request led three times to one tool",
    }
    assert found["globex"]["reason"] == "no outcome fits a receipt of callers who may teach"


def test_what_may_go_live_for_all_is_learned_by_the_operator_alone(keeper: Callable[..., TestClient]) -> None:
    refused = learn(keeper("skills", None))
    assert (refused.status_code, "'admin'" in refused.json()["detail"]) == (403, True)
    assert learn(keeper("admin", None)).status_code == 200


def test_one_learns_at_a_time(
    organisations: System, keeper: Callable[..., TestClient], monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, ended = threading.Event(), threading.Event()

    def held(org_id: str | None) -> LearnReport:
        begun.set()
        assert ended.wait(60)
        return LearnReport(org_id, None, False, "nothing", {})

    monkeypatch.setitem(vars(organisations.parts), "learn", held)
    page = keeper("skills", "acme")
    with ThreadPoolExecutor(1) as pool:
        first = pool.submit(learn, page)
        assert begun.wait(60)
        second = learn(page)
        ended.set()
        assert (first.result().status_code, second.status_code) == (200, 409)
    assert second.json()["detail"] == "something is being learned already"


def test_who_may_not_decide_on_what_is_learned_does_not_learn(keeper: Callable[..., TestClient]) -> None:
    refused = learn(keeper("search", "acme"))
    assert (refused.status_code, "skills" in refused.json()["detail"]) == (403, True)


@pytest.mark.parametrize("is_lent", [True, False])
def test_the_page_knows_whether_it_can_learn(keeper: Callable[..., TestClient], is_lent: bool) -> None:
    page = keeper("skills", "acme", is_lent=is_lent)
    assert page.post("/do/learning/status", json={}).json()["can_learn"] is is_lent
    assert (learn(page).status_code == 200) is is_lent
