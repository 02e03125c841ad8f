"""Sources as they come in: dry runs, removal, MCP servers good and bad; against a client that keeps what it is sent."""

from __future__ import annotations

import itertools
import json
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest
from skillroute.catalogue.schemas import read_item
from skillroute.core.hashing import content_hash
from skillroute_client.lines import Earlier
from skillroute_local.client import Client, Found
from skillroute_local.errors import LocalError, Refused
from skillroute_local.importing import formats
from skillroute_local.importing.compare import Change
from skillroute_local.importing.content import content_of
from skillroute_local.importing.model import Choices
from skillroute_local.importing.pruning import Pruning
from skillroute_local.importing.report import ImportReport
from skillroute_local.importing.run import Import
from skillroute_local.importing.send import BATCH
from skillroute_local.importing.wanted import wanted

from tests.stubs.http_mcp_server import serving

STUB = Path(__file__).parents[3] / "stubs" / "mcp_server.py"


class Kept(Client):
    """A Skillroute in memory that keeps items and servers, as an organisation's caller or a global one sees them."""

    def __init__(self, org_id: str | None = None) -> None:
        super().__init__("http://nobody.example")
        self.org_id = org_id
        self.by_key: dict[tuple[object, ...], dict[str, Any]] = {}
        self.servers: list[dict[str, Any]] = []
        self.ids = itertools.count(1)

    @property
    def stored(self) -> list[dict[str, Any]]:
        return list(self.by_key.values())

    def put(
        self, kind: str, values: list[dict[str, Any]], *, dry_run: bool | None = None, earlier: Earlier | None = None
    ) -> dict[str, Any]:
        if dry_run:
            before, self.by_key, self.servers = (self.by_key, self.servers), dict(self.by_key), list(self.servers)
            answer = self.put(kind, values)
            self.by_key, self.servers = before
            return answer
        results = []
        for index, value in enumerate(values):
            if kind == "servers":
                self.servers.append(value)
                results.append({"index": index, "id": len(self.servers), "status": "created", "error": None})
                continue
            row = self.keep(value, self.org_id)
            results.append({"index": index, "id": row["id"], "status": row.pop("status"), "error": None})
        return {"degraded": [], "results": results}

    def keep(self, value: dict[str, Any], org_id: str | None) -> dict[str, Any]:
        row = self.row(value, org_id)
        key = org_id, row["server"], row["type"], row["name"]
        held = self.by_key.get(key)
        row["id"] = held["id"] if held else next(self.ids)
        row["is_switched_off"] = held["is_switched_off"] if held else False
        same = held is not None and held["content_hash"] == row["content_hash"]
        self.by_key[key] = row
        return {**row, "status": "created" if held is None else "unchanged" if same else "updated"}

    def items(self, *, limit: int, offset: int, **where: str) -> list[dict[str, Any]]:
        found = [row for row in self.stored if row["server"] == where.get("server", row["server"])]
        if where.get("is_active") == "false":
            found = [row for row in found if row["is_switched_off"]]
        return found[offset : offset + min(limit, 2)]  # pages may be short

    def item(self, item_id: int) -> dict[str, Any]:
        return next(row for row in self.stored if row["id"] == item_id)

    def get(self, resource: str, id_: str) -> Found:
        return Found(next(row for row in self.stored if row["id"] == int(id_)), None)

    def replace_item(self, item_id: int, value: Mapping[str, Any], *, version: str | None) -> Found:
        row = self.get("tools", str(item_id)).value
        named = {name: row[name] for name in ("server", "type", "name")}
        return Found(self.keep({**named, **value}, row["org_id"]), None)

    def switch_item(self, item_id: int, *, is_active: bool, version: str | None = None) -> dict[str, Any]:
        row = self.get("tools", str(item_id)).value
        if row["org_id"] != self.org_id:
            raise Refused("403: it is not yours", status=403, detail="it is not yours")
        row["is_switched_off"] = not is_active
        return row

    def delete_item(self, item_id: int) -> None:
        [key] = [key for key, row in self.by_key.items() if row["id"] == item_id]
        del self.by_key[key]

    @staticmethod
    def row(value: dict[str, Any], org_id: str | None) -> dict[str, Any]:
        content = read_item(value)
        fields = {name: getattr(content, name) for name in ("input_schema", "output_schema", "annotations", "metadata")}
        return {
            **fields, "org_id": org_id, "server": content.key.server, "type": content.key.type,
            "name": content.key.name, "description": content.description, "tags": list(content.tags),
            "content_hash": content_hash(content),
        }  # fmt: skip

    @property
    def names(self) -> list[str]:
        """Of what is switched on."""
        return sorted(f"{row['server']}/{row['name']}" for row in self.stored if not row["is_switched_off"])


class NoBar:
    """A progress bar that nobody sees."""

    def sized(self, size: int) -> None:
        pass

    def advance(self, done: int) -> None:
        pass

    def end(self) -> None:
        pass


def no_bar(_: str) -> NoBar:
    return NoBar()


def importing(
    client: Client, *paths: Path, choices: Choices | None = None, mcp: str | None = None, prune: bool = False
) -> Import:
    pruning = Pruning(is_confirmed=True) if prune else None
    return Import(wanted({"items": paths}, mcp, choices or Choices(), None, watch=False), client, pruning=pruning)


def imported(client: Client, *paths: Path, **options: Any) -> ImportReport:
    return importing(client, *paths, **options).write(no_bar)


def dry_run(client: Client, path: Path, choices: Choices | None = None) -> list[Change]:
    changes: list[Change] = []
    importing(client, path, choices=choices, prune=True).compare(no_bar, changes.append)
    return changes


def listed(path: Path, *names: str) -> Path:
    """Write items of the server garden, one a line."""
    path.write_text("".join(json.dumps({"name": name, "server": "garden"}) + "\n" for name in names), encoding="utf-8")
    return path


@pytest.fixture
def garden(tmp_path: Path) -> Callable[..., Path]:
    """What writes a tools/list answer with tools of these names."""

    def write(*names: str, **more: object) -> Path:
        path = tmp_path / "garden.json"
        tools = [{"name": name, "description": name, "inputSchema": {"type": "object"}} for name in names]
        path.write_text(json.dumps({"tools": [*tools, *more.pop("and_", [])], **more}), encoding="utf-8")  # type: ignore[misc]
        return path

    return write


GARDEN = Choices(server="garden")


class TestRemoval:
    def test_what_is_gone_from_a_source_goes_and_nothing_else(self, garden: Callable[..., Path]) -> None:
        with Kept() as client:
            client.put("items", [{"name": "bake", "server": "bakery"}, {"name": "free"}])
            client.put("items", [{"name": "plan", "server": "garden", "type": "prompt"}])
            imported(client, garden("dig", "rake"), choices=GARDEN)

            report = imported(client, garden("dig", "sow"), choices=GARDEN, prune=True)

            assert client.names == ["/free", "bakery/bake", "garden/dig", "garden/plan", "garden/sow"]
            assert report.counts["items"] == {"created": 1, "unchanged": 1, "removed": 1}

    def test_without_prune_nothing_goes(self, garden: Callable[..., Path]) -> None:
        with Kept() as client:
            imported(client, garden("dig", "rake"), choices=GARDEN)
            imported(client, garden("dig"), choices=GARDEN)

            assert client.names == ["garden/dig", "garden/rake"]

    @pytest.mark.parametrize(
        ("names", "more", "why"),
        [
            (("dig",), {"nextCursor": "2"}, "the list goes on: it has a nextCursor"),
            (("dig",), {"and_": [7]}, "a part of it could not be read, so what is missing may be there"),
            ((), {}, "it lists nothing at all"),
        ],
    )
    def test_where_it_is_not_sure_what_is_gone_nothing_goes_and_the_reason_is_given(
        self, garden: Callable[..., Path], names: tuple[str, ...], more: dict[str, Any], why: str
    ) -> None:
        with Kept() as client:
            imported(client, garden("dig", "rake"), choices=GARDEN)

            report = imported(client, garden(*names, **more), choices=GARDEN, prune=True)

            assert client.names == ["garden/dig", "garden/rake"]
            assert report.notes == [f"garden.json: nothing is removed: {why}"]

    def test_what_is_refused_in_its_new_form_stays_in_its_old_one(self, garden: Callable[..., Path]) -> None:
        with Kept() as client:
            imported(client, garden("dig", "rake", "sow"), choices=GARDEN)
            liar = {"name": "rake", "inputSchema": {"type": "array"}}
            wordy = {"name": "sow", "description": "x" * 50_001, "inputSchema": {"type": "object"}}

            report = imported(client, garden("dig", and_=[liar, wordy]), choices=GARDEN, prune=True)

            assert client.names == ["garden/dig", "garden/rake", "garden/sow"]
            assert len(report.problems) == 2

    def test_items_of_no_server_are_never_removed(self, garden: Callable[..., Path]) -> None:
        with Kept() as client:
            imported(client, garden("dig", "rake"))

            report = imported(client, garden("dig"), prune=True)

            assert client.names == ["/dig", "/rake"]
            assert report.notes[1:] == [
                "garden.json: nothing is removed: its items are of no server: name one with --server"
            ]

    def test_global_items_are_not_an_organisations_to_remove(self, garden: Callable[..., Path]) -> None:
        with Kept("acme") as client:
            client.keep({"name": "rake", "server": "garden"}, None)
            imported(client, garden("dig", "sow"), choices=GARDEN)

            imported(client, garden("dig"), choices=GARDEN, prune=True)

            assert client.names == ["garden/dig", "garden/rake"]

    def test_nor_to_bring_back(self, tmp_path: Path) -> None:
        # GIVEN a global item and an organisation's that are switched off
        with Kept() as client:
            imported(client, listed(tmp_path / "a.jsonl", "dig", "rake"))
            imported(client, listed(tmp_path / "a.jsonl", "dig"), prune=True)
            client.org_id = "acme"
            imported(client, listed(tmp_path / "a.jsonl", "sow", "hoe"))
            imported(client, listed(tmp_path / "a.jsonl", "sow"), prune=True)
            assert client.names == ["garden/dig", "garden/sow"]

            # WHEN the organisation imports both
            report = imported(client, listed(tmp_path / "a.jsonl", "sow", "hoe", "rake"), prune=True)

            # THEN its own comes back, and it has one of its own beside the other, which stays off
            assert (report.problems, client.names) == ([], [f"garden/{name}" for name in ("dig", "hoe", "rake", "sow")])
            assert [row["is_switched_off"] for row in client.stored if row["name"] == "rake"] == [True, False]

    def test_of_lines_the_servers_that_they_name_are_listed_in_full(self, tmp_path: Path) -> None:
        file = tmp_path / "items.jsonl"
        rows = [{"name": name, "server": server} for server, name in (("a", "x"), ("a", "y"), ("b", "z"))]
        with Kept() as client:
            file.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
            imported(client, file)
            file.write_text("".join(json.dumps(row) + "\n" for row in [rows[0], {"name": "w"}]), encoding="utf-8")
            imported(client, file, prune=True)

            assert client.names == ["/w", "a/x", "b/z"]

    def test_sources_that_share_a_server_leave_each_other_alone(self, tmp_path: Path) -> None:
        with Kept() as client:
            files = [listed(tmp_path / "a.jsonl", "dig", "rake"), listed(tmp_path / "b.jsonl", "sow", "hoe")]
            both = importing(client, *files, prune=True)
            both.write(no_bar)
            listed(files[0], "dig", "dig too")
            listed(files[1], "sow", "sow too")

            report = both.write(no_bar)
            assert client.names == ["garden/dig", "garden/dig too", "garden/sow", "garden/sow too"]
            assert report.counts["items"]["removed"] == 2

            # AND when only one is imported again, as a watched one that changed
            listed(files[1], "sow", "sow too", "reap")
            both.write(no_bar, [1])
            listed(files[1], "sow")
            both.write(no_bar, [1])
            assert client.names == ["garden/dig", "garden/dig too", "garden/sow"]

    @pytest.mark.parametrize("text", ["{broken", '{"name": "sow", "server": "garden"}\n{broken\n'])
    def test_beside_a_source_that_cannot_be_read_nothing_goes(self, tmp_path: Path, text: str) -> None:
        with Kept() as client:
            good, bad = listed(tmp_path / "a.jsonl", "dig", "rake"), listed(tmp_path / "b.jsonl", "sow", "hoe")
            imported(client, good, bad)
            listed(good, "dig", "hoe")
            bad.write_text(text, encoding="utf-8")

            report = imported(client, good, bad, prune=True)

            assert client.names == ["garden/dig", "garden/hoe", "garden/rake", "garden/sow"]
            assert report.notes == ["nothing is removed: b.jsonl could not be read as a whole, and may have it"]

    @pytest.mark.parametrize("fails_at", [1, 2, 3])
    def test_after_an_import_that_was_cut_short_nothing_goes_until_every_source_was_read(
        self, tmp_path: Path, fails_at: int
    ) -> None:
        first, second = tmp_path / "a.jsonl", tmp_path / "b.jsonl"
        names = [f"a{number}" for number in range(2 * BATCH)]
        with Kept() as client:
            imported(client, listed(first, *names), listed(second, "sow"))
            both = importing(client, first, second, prune=True)
            put, calls = client.put, itertools.count(1)

            def away(kind: str, values: list[dict[str, Any]]) -> dict[str, Any]:
                if next(calls) == fails_at:
                    raise LocalError("Skillroute does not answer")
                return put(kind, values)

            client.put = away  # type: ignore[method-assign]
            with pytest.raises(LocalError):
                both.write(no_bar)
            both.write(no_bar, [1])
            assert client.names == sorted([*(f"garden/{name}" for name in names), "garden/sow"])

            # AND what is gone by then goes once all were read, be it gone from one that was read before
            listed(second, "sow too")
            both.write(no_bar, [1])
            listed(first, "a1")
            both.write(no_bar, [0])
            assert client.names == ["garden/a1", "garden/sow too"]

    def test_of_a_server_that_one_source_has_a_part_of_nothing_goes(self, tmp_path: Path) -> None:
        def page(number: int, *names: str, **more: str) -> Path:
            tools = [{"name": name, "inputSchema": {"type": "object"}} for name in names]
            path = tmp_path / f"page{number}.json"
            path.write_text(json.dumps({"tools": tools, **more}), encoding="utf-8")
            return path

        with Kept() as client:
            imported(client, page(1, "dig"), page(2, "rake"), page(3, "sow"), choices=GARDEN)
            client.put("items", [{"name": name, "server": "bakery"} for name in ("bake", "knead")])
            other = tmp_path / "b.json"
            other.write_text('{"name": "bake", "server": "bakery"}', "utf-8")

            pages = page(1, "dig", nextCursor="2"), page(3, "sow")
            report = imported(client, *pages, other, choices=GARDEN, prune=True)

            assert client.names == ["bakery/bake", "garden/dig", "garden/rake", "garden/sow"]
            assert report.notes[:-1] == [
                "page1.json: nothing is removed: the list goes on: it has a nextCursor",
                "page3.json: nothing of garden is removed: page1.json has only a part of it",
            ]

    def test_a_server_that_failed_loses_nothing_to_a_file_about_it(self, tmp_path: Path) -> None:
        config = tmp_path / "mcp.json"
        servers = {"garden": {"command": sys.executable, "args": [str(STUB), "dying"]}}
        config.write_text(json.dumps({"mcpServers": servers}), encoding="utf-8")
        with Kept() as client:
            imported(client, listed(tmp_path / "all.jsonl", "dig", "rake"))

            imported(client, config, listed(tmp_path / "own.jsonl", "dig"), prune=True)

            assert client.names == ["garden/dig", "garden/rake"]

    def test_a_server_that_lists_prompts_only_keeps_its_tools(self, tmp_path: Path) -> None:
        file = tmp_path / "garden.json"
        with Kept() as client:
            client.put("items", [{"name": name, "server": "garden"} for name in ("dig", "rake")])
            client.put("items", [{"name": "old", "server": "garden", "type": "prompt"}])
            file.write_text(json.dumps({"tools": [], "prompts": [{"name": "plan"}], "resources": []}), encoding="utf-8")

            report = imported(client, file, choices=GARDEN, prune=True)

            assert client.names == ["garden/dig", "garden/plan", "garden/rake"]
            assert report.notes[:-1] == ["garden.json: no tool of garden is removed: it lists none"]

    def test_whose_the_items_are_is_asked_once(self, garden: Callable[..., Path]) -> None:
        with Kept() as client:
            imported(client, garden("dig", "rake", "sow", "hoe"), choices=GARDEN)
            item, asked = client.item, list[int]()

            def counted(item_id: int) -> dict[str, Any]:
                asked.append(item_id)
                return item(item_id)

            client.item = counted  # type: ignore[method-assign]
            imported(client, garden("dig"), choices=GARDEN, prune=True)

            assert (client.names, len(asked)) == (["garden/dig"], 1)

    @pytest.mark.parametrize("method", ["stat", "open"])
    def test_a_file_that_is_renamed_while_it_is_read_is_named_and_nothing_goes(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, method: str
    ) -> None:
        file = listed(tmp_path / "a.jsonl", "dig", "rake")
        with Kept() as client:
            imported(client, file)
            content = content_of(file)
            monkeypatch.setattr(formats, "content_of", lambda _: content)
            renamed = FileNotFoundError(2, "No such file or directory")
            if method == "stat":
                file.unlink()
            else:
                monkeypatch.setattr(Path, "open", Mock(side_effect=renamed))

            report = imported(client, file, prune=True)

            assert report.problems == ["a.jsonl: cannot be read: No such file or directory"]
            assert client.names == ["garden/dig", "garden/rake"]

    def test_what_cannot_be_removed_is_named_and_stops_nothing(self, garden: Callable[..., Path]) -> None:
        with Kept() as client:
            imported(client, garden("dig", "rake", "sow"), choices=GARDEN)
            replace = client.replace_item

            def refuse_one(item_id: int, value: Mapping[str, Any], *, version: str | None) -> Found:
                if client.item(item_id)["name"] == "rake":
                    raise LocalError("404: no item with id 2")
                return replace(item_id, value, version=version)

            client.replace_item = refuse_one  # type: ignore[method-assign]
            report = imported(client, garden("dig"), choices=GARDEN, prune=True)

            assert client.names == ["garden/dig", "garden/rake"]
            assert report.problems == ["garden.json: garden/rake cannot be removed: 404: no item with id 2"]


class TestDryRun:
    def test_shows_each_change_and_makes_none(self, garden: Callable[..., Path]) -> None:
        with Kept() as client:
            imported(client, garden("dig", "rake", "sow"), choices=GARDEN)
            before = list(client.stored)
            changed = {"name": "rake", "description": "Rake more.", "inputSchema": {"type": "object"}, "title": "R"}

            changes = dry_run(client, garden("dig", "hoe", and_=[changed]), GARDEN)

            assert [(change.what, change.name, change.detail) for change in changes] == [
                ("unchanged", "garden/dig", ""),
                ("created", "garden/hoe", ""),
                ("updated", "garden/rake", "description, metadata"),
                ("removed", "garden/sow", ""),
            ]
            assert client.stored == before

    def test_shows_no_global_item_as_gone_that_an_organisation_cannot_remove(self, garden: Callable[..., Path]) -> None:
        with Kept("acme") as client:
            client.keep({"name": "rake", "server": "garden"}, None)
            imported(client, garden("dig", "sow"), choices=GARDEN)

            changes = dry_run(client, garden("dig"), GARDEN)

            assert [change.name for change in changes if change.what == "removed"] == ["garden/sow"]

    def test_names_the_doubt_where_only_global_items_are_there(self, garden: Callable[..., Path]) -> None:
        with Kept("acme") as client:
            client.keep({"name": "rake", "server": "garden"}, None)

            report = importing(client, garden("dig"), choices=GARDEN, prune=True).compare(no_bar, lambda _: None)

            assert report.notes == [
                "global items are among those to be removed: the import of an organisation keeps them"
            ]

    def test_says_what_the_import_then_does(self, garden: Callable[..., Path]) -> None:
        with Kept() as client:
            imported(client, garden("dig", "rake"), choices=GARDEN)
            file = garden("dig", "hoe")
            changes = dry_run(client, file, GARDEN)
            report = imported(client, file, choices=GARDEN, prune=True)

            counted = {what: sum(change.what == what for change in changes) for what in report.counts["items"]}
            assert counted == report.counts["items"] == {"created": 1, "unchanged": 1, "removed": 1}

    def test_of_an_organisations_item_and_a_global_one_the_organisations_counts(
        self, garden: Callable[..., Path]
    ) -> None:
        with Kept("acme") as client:
            imported(client, garden("dig"), choices=GARDEN)
            client.keep({"name": "dig", "server": "garden"}, None)

            assert [change.what for change in dry_run(client, garden("dig"), GARDEN)] == ["unchanged"]


class TestMcpServers:
    def config(self, tmp_path: Path, *behaviours: str, **more: object) -> Path:
        servers = {name: {"command": sys.executable, "args": [str(STUB), name]} for name in behaviours}
        path = tmp_path / "mcp.json"
        path.write_text(json.dumps({"mcpServers": {**servers, **more}}), encoding="utf-8")
        return path

    def test_all_that_a_server_lists_comes_in_with_every_field(self, tmp_path: Path) -> None:
        with Kept() as client:
            report = imported(client, self.config(tmp_path, "good"))

            by_name = {row["name"]: row for row in client.stored}
            assert report.problems == []
            assert report.notes == ["mcp.json: good lists 10 tools, 1 prompt, 1 resource"]
            assert client.servers == []  # unless --register asks for it
            assert by_name["echo"]["metadata"] == {"title": "Echo", "x-of-the-server": {"kept": True}}
            assert by_name["echo"]["annotations"] == {"readOnlyHint": True}
            assert [by_name[name]["type"] for name in ("review", "readme")] == ["prompt", "resource"]
            assert {row["server"] for row in client.stored} == {"good"}

    def test_one_that_is_wrong_is_reported_and_stops_no_other(self, tmp_path: Path) -> None:
        # GIVEN servers that die, lie, list 10,000 tools, and are none, beside a good one
        bad = ("dying", "lying", "huge")
        path = self.config(tmp_path, *bad, "good", missing={"command": str(tmp_path / "none")}, wrong={"args": []})

        with Kept() as client:
            report = imported(client, path)

            # THEN each is reported by its name, with what is wrong
            problems = "\n".join(report.problems)
            for said in (
                'mcp.json: mcpServers.wrong has neither "command" nor "url"',
                "mcp.json: dying: its program ended before it answered the handshake; its last line was: the token is ",
                "mcp.json: missing: the program ",
                "mcp.json: lying: tool wordy: inputSchema: ",
                "mcp.json: lying: tool listy: inputSchema.type: ",
                "mcp.json: huge: tools after the first 5000 are left out",
            ):
                assert said in problems, problems
            # AND what was right comes in, and a tool without what is no schema in its own
            servers = [row["server"] for row in client.stored]
            assert (servers.count("good"), servers.count("lying"), servers.count("huge")) == (12, 5, 5_002)
            [left_out] = report.left_out
            assert left_out.startswith(
                "mcp.json#/lying/tools/1/inputSchema/properties/n/type: left out: is not a JSON Schema: "
            )

    def test_one_that_hangs_is_left_after_the_time_that_it_has(
        self, tmp_path: Path, garden: Callable[..., Path]
    ) -> None:
        with Kept() as client:
            hanging = self.config(tmp_path, "hanging")
            report = imported(client, hanging, garden("dig"), choices=Choices(timeout_s=1.0))

            assert report.problems == ["mcp.json: hanging: no answer to the handshake within 1 s"]
            assert client.names == ["/dig"]

    def test_only_of_servers_that_were_listed_in_full_something_goes(self, tmp_path: Path) -> None:
        with Kept() as client:
            for server in ("good", "lying", "dying", "other"):
                client.put("items", [{"name": "old", "server": server, "type": "tool"}])

            imported(client, self.config(tmp_path, "good", "lying", "dying", wrong={"args": []}), prune=True)

            assert [name for name in client.names if name.endswith("/old")] == ["dying/old", "lying/old", "other/old"]

    def test_a_server_that_is_chosen_is_the_only_one_that_is_started(self, tmp_path: Path) -> None:
        with Kept() as client:
            report = imported(client, self.config(tmp_path, "good", "dying"), choices=Choices(server="good"))
            none = imported(client, self.config(tmp_path, "good"), choices=Choices(server="bad"))

            assert report.problems == []
            assert none.problems == ["mcp.json: names no server 'bad' that is switched on: check --server"]

    def test_a_command_is_a_server_and_what_it_says_of_itself_is_registered(self) -> None:
        with Kept() as client:
            choices = Choices(server="stub", register=True)
            report = imported(client, mcp=f"{sys.executable} {STUB} good", choices=choices)

            assert (report.problems, len(client.stored)) == ([], 12)
            assert client.servers == [
                {"path": "/stub", "name": "stub", "title": "Stub", "description": "For tests.", "version": "1.2"}
            ]

    def test_the_address_of_a_server_is_registered_where_that_is_asked_for(self) -> None:
        with serving() as port, Kept() as client:
            url = f"http://127.0.0.1:{port}/mcp"
            imported(client, mcp=url, choices=Choices(server="far", register=True))
            assert "remotes" not in client.servers[-1]

            report = imported(client, mcp=url, choices=Choices(server="far", register=True, with_address=True))

            assert client.servers[-1]["remotes"] == [{"type": "streamable-http", "url": url}]
            assert (report.problems, report.left_out) == ([], [])

    def test_an_address_with_a_secret_and_a_command_are_left_out_and_named(self) -> None:
        choices = Choices(server="far", register=True, with_address=True)
        with serving() as port, Kept() as client:
            secret = imported(client, mcp=f"http://127.0.0.1:{port}/mcp?api_key=hunter2", choices=choices)
            command = imported(client, mcp=f"{sys.executable} {STUB} good", choices=choices)

            assert ["remotes" in server for server in client.servers] == [False, False]
            assert "looks like a secret" in str(secret.left_out)
            assert "hunter2" not in str((secret, client.servers))
            assert "started by a command" in str(command.left_out)

    @pytest.mark.parametrize(("target", "server"), [("x", None), ("", "a"), ('"', "a")])
    def test_a_command_that_is_none_or_has_no_name_says_what_to_do(self, target: str, server: str | None) -> None:
        with Kept() as client, pytest.raises(LocalError, match="--mcp"):
            imported(client, mcp=target, choices=Choices(server=server))
