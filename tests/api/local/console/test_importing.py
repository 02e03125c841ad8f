"""The import of the page Servers, without a browser: what it would change, then exactly that; no program is started."""

from __future__ import annotations

import base64
import gzip
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient
from skillroute_local.console.import_sources import MAX_FILE_BYTES

from tests.api.local.console.conftest import page_of
from tests.api.one_app import app_over
from tests.api.tokens import JWT, Signer, claims, key_set
from tests.builders import System, lent_system
from tests.doubles import EdgeIndexes
from tests.stubs.http_mcp_server import serving

TOOLS = {"tools": [{"name": name, "inputSchema": {"type": "object"}, "description": name} for name in ("cut", "join")]}


@pytest.fixture
def page(system: System, tmp_path: Path) -> TestClient:
    return page_of(system, tmp_path / "requests.jsonl")


def sent(content: Any, name: str = "listed.json", **options: Any) -> dict[str, Any]:
    text = content if isinstance(content, str) else json.dumps(content)
    return {"file_name": name, "file": base64.b64encode(gzip.compress(text.encode())).decode(), **options}


def last(page: TestClient, name: str, **fields: Any) -> dict[str, Any]:
    answer = page.post(f"/do/servers/{name}", json=fields)
    assert answer.status_code == 200, answer.text
    events = [json.loads(line) for line in answer.text.splitlines()]
    found: dict[str, Any] = events[-1]
    return found


def plan(page: TestClient, source: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = last(page, "compare", source=source)["plan"]
    return found


def named(found: dict[str, Any]) -> list[tuple[str, str, str]]:
    return [(change["what"], change["name"], change["detail"]) for change in found["changes"]]


def names(system: System) -> set[str]:
    answer = TestClient(app_over(system)).get("/api/v1/tools").json()
    return {row["name"] for row in answer}


def test_nothing_is_written_before_it_was_shown_and_then_that(page: TestClient, system: System) -> None:
    source = sent(TOOLS, server="film")
    shown = plan(page, source)
    assert named(shown) == [("created", "film/cut", ""), ("created", "film/join", "")]
    assert (shown["writes"], shown["servers"], names(system)) == (2, ["film"], set())

    written = last(page, "write", source=source, shown=shown["digest"])["written"]

    assert written["counts"] == {"items": {"created": 2}}
    assert names(system) == {"cut", "join"}
    assert named(plan(page, source)) == [("unchanged", "film/cut", ""), ("unchanged", "film/join", "")]


def test_what_changed_meanwhile_is_shown_and_not_written_over(page: TestClient, system: System) -> None:
    system.put("cut", server="film", description="Old.")
    source = sent(TOOLS, server="film")
    shown = plan(page, source)
    assert ("updated", "film/cut", "description, input_schema") in named(shown)
    # GIVEN somebody who changes the same fields of it
    system.put("cut", server="film", description="Somebody's.")

    again = last(page, "write", source=source, shown=shown["digest"])["plan"]

    assert again["is_another"]
    assert names(system) == {"cut"}
    assert "written" in last(page, "write", source=source, shown=again["digest"])


def test_another_file_is_not_what_was_shown(page: TestClient, system: System) -> None:
    shown = plan(page, sent(TOOLS, server="film"))
    other = {"tools": [TOOLS["tools"][0], {"name": "join", "inputSchema": {"type": "object"}, "description": "Evil."}]}
    assert last(page, "write", source=sent(other, server="film"), shown=shown["digest"])["plan"]["is_another"]
    assert names(system) == set()


def test_what_is_gone_is_switched_off_where_that_is_asked_for_alone(page: TestClient, system: System) -> None:
    system.put("cut", "join", "fade", server="film")
    assert not [change for change in named(plan(page, sent(TOOLS, server="film"))) if change[0] == "removed"]
    refused = plan(page, sent(TOOLS, server="film", prune="some"))
    assert not [change for change in named(refused) if change[0] == "removed"]
    assert refused["problems"]

    source = sent(TOOLS, server="film", prune="all")
    shown = plan(page, source)
    assert ("removed", "film/fade", "") in named(shown)
    last(page, "write", source=source, shown=shown["digest"])
    off = TestClient(app_over(system)).get("/api/v1/tools", params={"is_active": "false"}).json()
    assert [row["name"] for row in off] == ["fade"]


def test_refused_rows_are_named_and_the_rest_goes_in(page: TestClient, system: System) -> None:
    source = sent({"tools": [*TOOLS["tools"], {"name": "bad", "inputSchema": {"type": "array"}}]}, server="film")
    shown = plan(page, source)
    assert [line for line in shown["problems"] if "bad" in line or "/2/" in line]
    last(page, "write", source=source, shown=shown["digest"])
    assert names(system) == {"cut", "join"}


def test_of_many_rows_the_first_are_shown(page: TestClient) -> None:
    items = "\n".join(json.dumps({"server": "big", "name": f"t{number}", "description": "x"}) for number in range(230))
    shown = plan(page, sent(items, "big.jsonl"))
    assert (len(shown["changes"]), shown["more"], shown["writes"]) == (200, 30, 230)


def test_a_server_at_an_address_is_listed_and_imported(page: TestClient, system: System) -> None:
    with serving() as port:
        source = {"address": f"http://127.0.0.1:{port}/mcp", "server": "stub"}
        shown = plan(page, source)
        assert ("created", "stub/echo", "") in named(shown)
        last(page, "write", source=source, shown=shown["digest"])
    assert "echo" in names(system)


def test_programs_of_an_mcp_json_are_not_started_and_the_command_for_a_terminal_is_told(
    page: TestClient, system: System, tmp_path: Path
) -> None:
    trap = tmp_path / "started"
    with serving() as port:
        servers = {
            "web": {"url": f"http://127.0.0.1:{port}/mcp"},
            "trap": {"command": "touch", "args": [str(trap)]},
            "secret": {"command": "uvx", "args": ["it"], "env": {"TOKEN": "${TOKEN}"}},
        }
        shown = plan(page, sent({"mcpServers": servers}, "mcp.json"))
    assert {row["name"]: row["command"] for row in shown["programs"]} == {
        "trap": f"skillroute import --mcp 'touch {trap}' --server trap",
        "secret": "skillroute import mcp.json --format mcp-config --server secret",
    }
    assert ("created", "web/echo", "") in named(shown)
    assert not trap.exists()


def test_where_callers_have_tokens_no_address_is_reached_for_them(system: System, tmp_path: Path) -> None:
    page = page_of(system, tmp_path / "requests.jsonl", reaches=False)
    with serving() as port:
        url = f"http://127.0.0.1:{port}/mcp"
        problem = last(page, "compare", source={"address": url, "server": "stub"})["problem"]
        assert (problem["status"], problem["code"]) == (403, "address_not_reached")
        assert "skillroute console" in problem["remedy"]
        shown = plan(page, sent({"mcpServers": {"web": {"url": url}}}, "mcp.json", prune="all"))
    assert (shown["changes"], shown["problems"]) == (
        [],
        ["mcp.json: web is at an address, which this page does not reach"],
    )
    assert plan(page, sent(TOOLS, server="film"))["writes"] == 2


@pytest.mark.parametrize("name", ["mcp.json", "anything.json", "settings.json"])
@pytest.mark.parametrize(
    "entry",
    [
        {"headers": {"x": "${SECRET_OF_THIS_MACHINE}"}},
        {"headers": {"x": "keyring:skillroute"}},
        {"headers": {"x": "${userHome}"}},
        {"bearer_token_env_var": "SECRET_OF_THIS_MACHINE"},
    ],
)
def test_nothing_of_this_machine_is_put_into_a_file_that_was_sent(
    page: TestClient, monkeypatch: pytest.MonkeyPatch, name: str, entry: dict[str, Any]
) -> None:
    monkeypatch.setenv("SECRET_OF_THIS_MACHINE", "hush")
    with serving() as port:
        servers = {"web": {"url": f"http://127.0.0.1:{port}/mcp", **entry}}
        shown = plan(page, sent({"mcpServers": servers}, name))
    assert (shown["changes"], len(shown["problems"])) == ([], 1)
    assert "hush" not in json.dumps(shown)


def test_a_file_of_this_machine_is_not_read_for_one_that_was_sent(page: TestClient, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("hush", "utf-8")
    servers = {"web": {"type": "remote", "url": f"http://127.0.0.1:9/{{file:{tmp_path}/secret}}"}}
    shown = plan(page, sent({"mcp": servers}, "opencode.json"))
    assert "terminal" in shown["problems"][0]
    assert "hush" not in json.dumps(shown)


@pytest.mark.parametrize(
    ("source", "why"),
    [
        ({}, "a file or an address"),
        ({"address": "http://127.0.0.1:9/mcp"}, "needs the name"),
        ({"address": "touch /tmp/x", "server": "x"}, "pattern"),
        ({"file_name": "a.json", "file": "####"}, "did not arrive"),
        ({"file_name": "a.json", "file": base64.b64encode(gzip.compress(b"{}")[:-4]).decode()}, "did not arrive"),
        (sent(" " * (MAX_FILE_BYTES + 1)), "more than 20 MB"),
    ],
)
def test_what_is_no_source_is_refused(page: TestClient, source: dict[str, Any], why: str) -> None:
    answer = page.post("/do/servers/compare", json={"source": source})
    assert why in answer.text


@pytest.mark.parametrize("name", ["../../etc/passwd", "..", "", "a\\b.json", "x" * 250])
def test_the_name_of_a_file_leads_nowhere(page: TestClient, name: str) -> None:
    assert plan(page, sent(TOOLS, name, server="film"))["writes"] == 2


@pytest.fixture
def locked(database_url: str, edge_indexes: EdgeIndexes, tmp_path: Path) -> Iterator[Callable[[str], TestClient]]:
    signer = Signer("k")
    settings = JWT | {"jwt_keys": key_set(signer.public())}
    with lent_system(database_url, edge_indexes, **settings) as system:

        def page(scope: str) -> TestClient:
            page = page_of(system, tmp_path / "requests.jsonl")
            page.headers["authorization"] = f"Bearer {signer.sign(claims(scope))}"
            return page

        yield page


def test_who_may_not_write_the_catalogue_has_nothing_reached_for_them(locked: Callable[[str], TestClient]) -> None:
    page = locked("search")
    # Nothing listens there, which would be the error if it were reached.
    for source in ({"address": "http://127.0.0.1:9/mcp", "server": "x"}, sent(TOOLS, server="film")):
        problem = last(page, "compare", source=source)["problem"]
        assert (problem["status"], problem["code"]) == (403, "insufficient_scope")
        assert "catalog" in problem["detail"]
    assert plan(locked("catalog search"), sent(TOOLS, server="film"))["writes"] == 2
