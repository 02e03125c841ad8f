"""How files become calls: what a call holds, and what a file may look like."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from skillroute.core.http.body import TEXTS
from skillroute_local.client import Client, Written
from skillroute_local.importing import content, items
from skillroute_local.importing.model import Choices
from skillroute_local.importing.objects import read_named
from skillroute_local.importing.report import ImportReport
from skillroute_local.importing.run import Import
from skillroute_local.importing.send import BATCH
from skillroute_local.importing.wanted import wanted


class Recorded(Client):
    """A client that calls nobody and takes everything."""

    def __init__(self) -> None:
        super().__init__("http://nobody.example")
        self.calls: list[list[dict[str, Any]]] = []

    def put(self, kind: str, values: list[dict[str, Any]]) -> dict[str, Any]:
        self.calls.append(values)
        results = [{"index": index, "id": index, "status": "created", "error": None} for index in range(len(values))]
        return {"degraded": [], "results": results}

    def items(self, *, limit: int, offset: int, **where: str) -> list[dict[str, Any]]:
        return []


class Bar:
    def __init__(self, progress: Callable[[int], None]) -> None:
        self.advance = progress

    def sized(self, size: int) -> None:
        pass

    def end(self) -> None:
        pass


def import_file(
    client: Client, kind: Written, path: Path, progress: Callable[[int], None] = lambda _: None
) -> ImportReport:
    named: dict[Written, list[Path]] = {"items": [], kind: [path]}
    sources = wanted(named, None, Choices(), None, watch=False)
    return Import(sources, client).write(lambda _: Bar(progress))


@contextmanager
def imported(path: Path, kind: str) -> Iterator[Recorded]:
    done = 0

    def progress(size: int) -> None:
        nonlocal done
        done += size

    with Recorded() as client:
        import_file(client, kind, path, progress)  # type: ignore[arg-type]
        assert done == path.stat().st_size
        yield client


def test_a_call_holds_as_many_servers_as_their_tools_allow(tmp_path: Path) -> None:
    # GIVEN servers of 0, 80, 90, 120, 130 and 300 tools
    file = tmp_path / "servers.jsonl"
    counts = (0, 80, 90, 120, 130, 300)
    rows = [
        {"name": f"s{place}", "tools": [{"name": f"t{each}"} for each in range(count)]}
        for place, count in enumerate(counts)
    ]
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")

    with imported(file, "servers") as client:
        # THEN each call embeds 256 texts at most, and a server that alone has more goes alone
        assert [[len(server["tools"]) for server in call] for call in client.calls] == [[0, 80, 90], [120, 130], [300]]


def test_a_call_holds_a_batch_of_items(tmp_path: Path) -> None:
    file = tmp_path / "tools.jsonl"
    file.write_text("".join(f'{{"name": "t{number}"}}\n' for number in range(2 * BATCH + 1)), encoding="utf-8")

    with imported(file, "items") as client:
        assert [len(call) for call in client.calls] == [BATCH, BATCH, 1]


@pytest.mark.parametrize("kind", ["servers", "agents"])
def test_a_call_holds_as_many_servers_or_agents_as_its_route_takes(tmp_path: Path, kind: str) -> None:
    file = tmp_path / "all.jsonl"
    agent = {"card": {"name": "a", "description": "Plans."}} if kind == "agents" else {}
    rows = ({"name": f"n{number}", "path": f"/n{number}", **agent} for number in range(201))
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")

    with imported(file, kind) as client:
        assert [len(call) for call in client.calls] == [100, 100, 1]


def test_a_call_of_messages_has_as_many_bytes_as_its_route_takes(tmp_path: Path) -> None:
    file = tmp_path / "messages.jsonl"
    file.write_text(
        "".join(json.dumps({"key": str(n), "body": "x" * 90_000}) + "\n" for n in range(30)), encoding="utf-8"
    )

    with imported(file, "messages") as client:
        assert [len(call) for call in client.calls] == [5] * 6
        assert all(len(json.dumps(call)) < TEXTS.max_bytes for call in client.calls)


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ('{"name": "a"}', ["a"]),
        ('{"name": "a"}\n\n{"name": "b"}\n', ["a", "b"]),
        ('\n{\n"name": "a"}\n', ["a"]),
        ('[{"name": "a"}, {"name": "b"}]', ["a", "b"]),
        ('[\n{"name": "a"},\n{"name": "b"}]\n', ["a", "b"]),
        ('{"servers": [{"name": "a"}, {"name": "b"}], "metadata": {}}', ["a", "b"]),
        ('{"agents": [{"name": "a"}]}', [None]),
        ("[]", []),
    ],
)
def test_a_file_may_be_lines_or_a_document(tmp_path: Path, text: str, names: list[str | None]) -> None:
    file, problems = tmp_path / "file.json", list[object]()
    file.write_text(text, encoding="utf-8")

    rows = list(read_named(file, "servers", lambda *problem: problems.append(problem)).rows)

    assert ([row.value.get("name") for row in rows], problems) == (names, [])


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "file.json:1:1: the file is empty"),
        ('{\n"name": ', "file.json:2:9: is not JSON: Expecting value"),
        ('[{"name": "' + "x" * 200 + '"}]', "file.json: is larger than 0 MB: split it, or write one object a line"),
    ],
)
def test_a_document_of_servers_is_held_to_the_rules_of_all_documents(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, problem: str
) -> None:
    monkeypatch.setattr(content, "MAX_DOCUMENT_BYTES", 100)
    file = tmp_path / "file.json"
    file.write_text(text, encoding="utf-8")

    with Recorded() as client:
        assert import_file(client, "servers", file).problems == [problem]


def test_a_line_of_messages_is_bounded_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(items, "MAX_LINE_BYTES", 100)
    file = tmp_path / "messages.jsonl"
    file.write_text("".join(json.dumps({"key": key}) + "\n" for key in ("a", "b" * 200, "c")), encoding="utf-8")

    with Recorded() as client:
        report = import_file(client, "messages", file)

        assert client.calls == [[{"key": "a"}, {"key": "c"}]]
        assert report.problems == ["messages.jsonl:2: the line is larger than 0 MB"]


class Called(Client):
    """A client that notes what it would send."""

    def __init__(self) -> None:
        super().__init__("http://nobody.example", http=httpx.Client(transport=httpx.MockTransport(self._answer)))
        self.sent: list[tuple[str, str, Any]] = []

    def _answer(self, request: httpx.Request) -> httpx.Response:
        if request.method == "GET":
            return httpx.Response(200, json=[])
        self.sent.append((request.method, request.url.path, json.loads(request.content)))
        result = {"index": 0, "id": 1, "status": "created", "error": None}
        return httpx.Response(200, json={"degraded": [], "results": [result]})


@pytest.mark.parametrize(
    ("kind", "path", "name"),
    [
        ("items", "/api/v1/tools", "items"),
        ("servers", "/api/v1/servers", "servers"),
        ("agents", "/api/v1/agents", "agents"),
        ("projects", "/api/v1/mail/projects", "projects"),
        ("products", "/api/v1/mail/products", "products"),
        ("mail_agents", "/api/v1/mail/agents", "agents"),
        ("messages", "/api/v1/mail/messages", "messages"),
    ],
)
@pytest.mark.parametrize("is_document", [False, True])
def test_each_kind_is_written_where_it_belongs(
    tmp_path: Path, kind: str, path: str, name: str, is_document: bool
) -> None:
    if kind == "items" and is_document:
        return  # tools come one a line
    file = tmp_path / "some.jsonl"
    said = {"name": "x"}
    file.write_text(json.dumps({name: [said]} if is_document else said), encoding="utf-8")
    with Called() as client:
        import_file(client, kind, file)  # type: ignore[arg-type]
    assert client.sent == [("PUT", path, {name: [said]})]


class Refusing(Recorded):
    """A client whose Skillroute has a model that takes no text with poison in it."""

    def put(self, kind: str, values: list[dict[str, Any]]) -> dict[str, Any]:
        answer = super().put(kind, values)
        for value, result in zip(values, answer["results"], strict=True):
            result["refusal"] = "not taken" if "poison" in value["description"] else None
        return answer | {"degraded": ["embedding_refused"]}


def test_what_the_model_refuses_is_named_and_waits_for_nobody(tmp_path: Path) -> None:
    file = tmp_path / "tools.jsonl"
    file.write_text('{"name": "a", "description": "good"}\n{"name": "b", "description": "poison"}\n', encoding="utf-8")

    with Refusing() as client:
        report = import_file(client, "items", file)

    assert report.refused == ["tools.jsonl:2: not taken"]
    assert (report.waiting_for_model, report.problems) == (False, [])
