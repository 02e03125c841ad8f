"""The page Overview, without a browser: the present, the history, the catalogue by kind, and the last changes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import nullcontext
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient
from skillroute.core.caller import LAPTOP
from skillroute.core.trace.model import TraceEvent
from skillroute.core.trace.repository import add_trace
from skillroute_client import AsyncSkillroute
from skillroute_local.console.app import KEY_HEADER, console_app
from skillroute_local.console.lent_parts import LendParts
from skillroute_local.history.figures import Counts, Span
from skillroute_local.history.ring import HistoryFile
from skillroute_local.history.source import FileHistory, History, HistoryUnavailable

from tests.api.one_app import app_over
from tests.api.tokens import JWT, Signer, claims, key_set
from tests.builders import System, lent_system
from tests.client_over import URL, async_client_over
from tests.component.core.queue.clocked import Clocked
from tests.doubles import EdgeIndexes

NOW = 1_800_000_030


def page_of(
    system: System, path: Path, *, lend: LendParts | None = None, history: History | None = None, token: str = ""
) -> TestClient:
    def connect(given: str | None) -> AsyncSkillroute:
        return async_client_over(app_over(system), token=given)

    console = console_app(connect, url=URL, requests=path / "requests", lend=lend, history=history)
    headers = {"authorization": f"Bearer {token}"} if token else {}
    return TestClient(console, headers={KEY_HEADER: "page"} | headers)


def do(page: TestClient, name: str, **fields: Any) -> Any:
    answer = page.post(f"/do/overview/{name}", json=fields)
    assert answer.status_code == 200, answer.text
    return answer.json()


@pytest.fixture
def queued(database_url: str, edge_indexes: EdgeIndexes) -> Iterator[System]:
    with lent_system(database_url, edge_indexes, queue=Clocked()) as system:
        yield system


def test_the_present_has_what_waits(queued: System, tmp_path: Path) -> None:
    queued.put("water", "mow")
    now = do(page_of(queued, tmp_path, lend=lambda: nullcontext(queued.parts)), "now")
    assert now["health"]["status"] == "ok"
    assert (now["waiting"]["classify"], now["waiting"]["dead"]) == (2, 0)
    assert (now["changed"], now["suggested"]) == (0, 0)
    # Queues are of all organisations: without the parts the page has none.
    assert do(page_of(queued, tmp_path), "now")["waiting"] is None


def test_the_history_is_shown_where_it_is_kept_and_else_how_to_get_it(system: System, tmp_path: Path) -> None:
    file = HistoryFile(tmp_path / "history.sqlite")
    file.add(Span(NOW - 30, 60.0, Counts(searches=6.0)))
    page = page_of(system, tmp_path, history=FileHistory(file, now=lambda: NOW))
    found = do(page, "series", range_="1h")
    assert (found["step_s"], found["series"]["rate"][-1], found["series"]["rate"][-2]) == (60, 6.0, None)

    without = do(page_of(system, tmp_path), "series", range_="1h")
    assert without["series"] is None
    assert "skillroute console" in without["remedy"]
    assert page.post("/do/overview/series", json={"range_": "2y"}).status_code == 422


def test_a_history_that_cannot_be_read_says_which_right_is_missing(system: System, tmp_path: Path) -> None:
    class Denied:
        def series(self, range_: str) -> dict[str, Any]:
            raise HistoryUnavailable("your credentials may not", "Ask for cloudwatch:GetMetricData.")

    found = do(page_of(system, tmp_path, history=Denied()), "series", range_="7d")
    assert found == {
        "series": None, "why": "your credentials may not", "remedy": "Ask for cloudwatch:GetMetricData.",
    }  # fmt: skip


def test_the_catalogue_is_counted_by_kind(system: System, tmp_path: Path) -> None:
    system.put("water", "mow")
    system.put("greeting", type="prompt")
    system.create("gardening", name="Gardening", description="All about gardens.")
    assert do(page_of(system, tmp_path), "catalogue") == {
        "tool": 2, "prompt": 1, "resource": 0, "skills": 1, "servers": 0, "agents": 0, "agent_skills": 0,
        "messages": 0,
    }  # fmt: skip


def test_the_last_changes_come_from_the_trace_and_else_from_the_lists(system: System, tmp_path: Path) -> None:
    page = page_of(system, tmp_path)
    system.put("water")
    before = do(page, "latest")
    assert (before["events"], [row["name"] for row in before["items"]]) == (None, ["water"])

    event = TraceEvent(
        at=datetime.now(UTC) - timedelta(minutes=1), caller=LAPTOP, kind="change", outcome="ok", door="http",
        what="PUT /api/v1/tools", took_ms=1.5,
    )  # fmt: skip
    add_trace(system.pool, [event.row()])
    [shown] = do(page, "latest")["events"]
    assert shown["what"] == "PUT /api/v1/tools"


def test_who_may_only_search_sees_no_figure_that_is_not_theirs(
    database_url: str, edge_indexes: EdgeIndexes, tmp_path: Path
) -> None:
    signer = Signer("k")
    settings = JWT | {"jwt_keys": key_set(signer.public())}
    with lent_system(database_url, edge_indexes, **settings) as system:
        page = page_of(system, tmp_path, token=signer.sign(claims("search", "acme")))
        now = do(page, "now")
        assert (now["health"]["counts"], now["health"]["index_lag"]) == (None, None)
        assert (now["changed"], now["suggested"], now["waiting"]) == (None, None, None)
        latest = do(page, "latest")
        assert (latest["events"], latest["may_read"]) == (None, False)
        assert do(page, "catalogue")["tool"] == 0
        # Without a token the page asks for one, once.
        without = page_of(system, tmp_path)
        assert do(without, "catalogue")["tool"] is None
        assert do(without, "latest") == {"events": None, "items": [], "may_read": False}
        assert without.post("/do/overview/now", json={}).status_code == 401
