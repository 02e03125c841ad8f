"""The Python client against the real routes: many things in one operation, blocking and awaited."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest
import skillroute_client as sdk
from skillroute_client import Skillroute, models
from skillroute_client.resources import portable

from tests.api.one_app import app_over
from tests.api.routes import fill, version_in
from tests.builders import System
from tests.client_over import URL, AppTransport, async_client_over, client_over
from tests.doubles import proposing


@pytest.fixture
def skillroute(system: System) -> Skillroute:
    return client_over(app_over(system))


@pytest.fixture
def ids(system: System) -> dict[str, Any]:
    return fill(system)


def put(skillroute: Skillroute, *names: str, server: str = "calendar") -> list[int]:
    written = skillroute.tools.put([{"server": server, "name": name, "description": f"To {name}."} for name in names])
    return [result.id for result in written.results if result.id is not None]


class TestSearch:
    def test_several_are_answered_each_with_its_answer_or_its_error(self, skillroute: Skillroute) -> None:
        [tool_id] = put(skillroute, "create_event")
        answer = skillroute.search_batch(
            [{"query": "create an event", "mode": "lexical", "strategy": "direct"}, {"query": " "}]
        )
        found, refused = answer.results
        assert found.answer is not None
        assert [(tool.tool_id, tool.name) for tool in found.answer.tools] == [(tool_id, "create_event")]
        assert refused.error is not None
        assert (refused.error.status, refused.error.code, refused.answer) == (422, "invalid_request", None)
        assert (answer.metadata.answered, answer.metadata.failed) == (1, 1)

    def test_tools_come_as_mcp_has_them(self, skillroute: Skillroute) -> None:
        schema = {"type": "object", "properties": {"title": {"type": "string"}}}
        skillroute.tools.put([{"server": "calendar", "name": "create_event", "input_schema": schema}])
        [tool] = skillroute.search_mcp("create event", mode="lexical", strategy="direct", server="calendar").tools
        assert (tool.name, tool.input_schema, tool.meta["skillroute/server"]) == ("create_event", schema, "calendar")

    def test_servers_that_nothing_is_known_of_are_named(self, skillroute: Skillroute) -> None:
        put(skillroute, "create_event")
        servers = ["calendar", "é/x"]
        answer = skillroute.search("create event", mode="lexical", server=servers, strategy="direct")
        matches = skillroute.search_tools("create event", mode="lexical", server=servers, explain=True)
        assert (answer.unknown_servers, matches.unknown_servers) == (["é/x"], ["é/x"])
        assert matches[0].explain is not None
        assert (matches.descriptions_cut, matches.annotations_omitted) == (False, 0)


class TestWriting:
    def test_skills_are_written_in_bulk_after_a_dry_run(self, skillroute: Skillroute) -> None:
        skills = [{"id": "mail", "name": "Mail", "description": "Letters of all kinds."}, {"id": "Big", "name": "x"}]
        tried = skillroute.skills.put_many(skills, dry_run=True)
        assert (tried.created, tried.failed, list(skillroute.skills.list())) == (1, 1, [])
        written = skillroute.skills.put_many(skills)
        assert [(result.index, result.status) for result in written.results] == [(0, "created"), (1, "failed")]
        assert written.results[0].id == "mail"
        assert {note.field for note in written.failures[0].errors} == {"id", "description"}

    def test_a_dry_run_of_tools_servers_and_agents_writes_nothing(self, skillroute: Skillroute) -> None:
        one = [{"name": "clock", "description": "Time."}]
        for kind in (skillroute.tools, skillroute.servers, skillroute.agents):
            assert kind.put(one, dry_run=True).created == 1
            assert list(kind.list()) == []

    def test_a_tool_is_switched_off_and_on(self, skillroute: Skillroute) -> None:
        [tool_id] = put(skillroute, "create_event")
        read = skillroute.tools.get(tool_id)
        off = skillroute.tools.patch(tool_id, is_active=False, if_match=read.etag)
        assert (off.is_active, off.is_switched_off) == (False, True)
        assert [tool.id for tool in skillroute.tools.list(is_active=False)] == [tool_id]
        with pytest.raises(sdk.VersionConflict):
            skillroute.tools.patch(tool_id, is_active=True, if_match=read.etag)
        assert skillroute.tools.patch(tool_id, is_active=True).is_active

    def test_the_skills_of_a_tool_have_a_version(self, skillroute: Skillroute) -> None:
        [tool_id] = put(skillroute, "create_event")
        skillroute.skills.create("mail", name="Mail", description="Letters of all kinds.")
        read = skillroute.tools.skills(tool_id)
        assigned = skillroute.tools.assign(tool_id, [{"skill_id": "mail"}], if_match=read.etag)
        assert ([skill.skill_id for skill in assigned], assigned.etag != read.etag) == (["mail"], True)
        with pytest.raises(sdk.VersionConflict) as raised:
            skillroute.tools.assign(tool_id, [], if_match=read.etag)
        assert raised.value.current == version_in(assigned.etag)

    def test_lists_are_sorted_and_read_since_a_moment(self, skillroute: Skillroute) -> None:
        put(skillroute, "b", "a", "c")
        assert [tool.name for tool in skillroute.tools.list(sort="-name", limit=2)] == ["c", "b", "a"]
        later = datetime.now(UTC) + timedelta(days=1)
        assert list(skillroute.tools.list(updated_since=later)) == []
        assert len(list(skillroute.tools.list(updated_since=later - timedelta(days=2)))) == 3


class TestDeleting:
    def test_tools_are_deleted_by_their_ids_each_with_a_result(self, skillroute: Skillroute) -> None:
        first, second = put(skillroute, "one", "two")
        deleted = skillroute.tools.delete_many([first, 999_999])
        assert (deleted.deleted, deleted.failed) == (1, 1)
        assert [(result.id, result.error and result.error.code) for result in deleted.failures] == [
            (999_999, "item_not_found")
        ]
        assert [tool.id for tool in skillroute.tools.list()] == [second]

    def test_tools_of_a_server_are_deleted_call_by_call(
        self, skillroute: Skillroute, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("skillroute.catalogue.delete_many.MAX_OF_SERVER", 2)
        put(skillroute, "one", "two", "three")
        [kept] = put(skillroute, "four", server="mail")
        deleted = skillroute.tools.delete_of_server("calendar")
        assert (deleted.deleted, deleted.more, len(deleted.results)) == (3, False, 3)
        assert [tool.id for tool in skillroute.tools.list()] == [kept]
        assert skillroute.tools.delete_of_server("mail", type="prompt").deleted == 0


class TestSuggestions:
    @pytest.fixture(autouse=True)
    def suggested(self, system: System) -> None:
        system.parts.suggest_skills._approve_after = 0
        names = {"cut": "Video", "join": "video", "water": "Gardening"}
        ids = system.put(*names)
        system.classifier.answers |= {tool: proposing(name) for tool, name in names.items()}
        system.classify(*ids)

    def test_names_are_listed_with_counts_and_examples(self, skillroute: Skillroute) -> None:
        pages = skillroute.suggestions.groups(limit=1)
        video, gardening = pages
        assert (video.name.lower(), video.count, video.skill_id, video.skill_exists) == ("video", 2, "video", False)
        assert {example.source_tool_name for example in video.examples} == {"cut", "join"}
        assert (gardening.count, pages.first().total) == (1, 2)
        assert len(list(skillroute.suggestions.list(name="VIDEO", sort="-updated_at"))) == 2

    def test_decisions_have_a_result_each(self, skillroute: Skillroute) -> None:
        reviewed = skillroute.suggestions.review(
            [
                models.Decision(action="approve", name="Video", skill={"keywords": ["film"]}),
                {"action": "merge", "name": "Gardening", "skill_id": "nowhere"},
                {"action": "reject", "ids": [999_999]},
            ]
        )
        approved, merged, unknown = reviewed.results
        assert (reviewed.approved, reviewed.failed, approved.decided) == (2, 2, 2)
        assert approved.skill is not None
        assert (approved.skill.id, approved.skill.keywords) == ("video", ["film"])
        assert merged.error is not None
        assert (merged.status, merged.error.code) == ("failed", "skill_not_found")
        assert [one.error and one.error.code for one in unknown.suggestions] == ["suggestion_not_found"]


class TestExportAndImport:
    def test_a_walk_yields_the_lines_and_the_one_that_ends_it(
        self, skillroute: Skillroute, ids: dict[str, Any]
    ) -> None:
        lines = [json.loads(line) for line in skillroute.export(limit=2)]
        assert [line["kind"] for line in lines[:2]] == ["skill", "tool"]
        assert (lines[-1]["kind"], lines[-1]["changed"]) == ("end", [])
        assert "page" not in {line["kind"] for line in lines}
        assert [json.loads(line)["kind"] for line in skillroute.export(kinds=["project"])][:-1] == ["project"] * sum(
            line["kind"] == "project" for line in lines
        )

    def test_from_the_end_on_it_has_what_changed_since(self, skillroute: Skillroute, ids: dict[str, Any]) -> None:
        *_, end = skillroute.export(kinds=["skill", "project"])
        skillroute.skills.put("late", {"name": "Late", "description": "Comes late."})
        *rows, last = skillroute.export(after=json.loads(end)["after"])
        assert {json.loads(row)["kind"] for row in rows} == {"skill"}
        assert json.loads(last)["kind"] == "end"

    def test_an_export_is_imported_as_it_is(
        self, skillroute: Skillroute, ids: dict[str, Any], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(portable, "LINES_OF_A_CALL", 2)
        lines = list(skillroute.export())
        skillroute.skills.delete(ids["skill"])
        calls: list[int] = []
        report = skillroute.import_lines([b"\n", *lines], progress=lambda report: calls.append(len(report.results)))
        assert (report.created > 0, report.failed, report.is_repeated) == (True, 0, False)
        assert [result.index for result in report.results] == list(range(1, len(lines)))  # neither blanks nor the end
        assert report.created + report.updated + report.unchanged == len(report.results) == sum(calls)
        assert set(calls[:-1]) == {2}

    def test_what_is_wrong_has_the_place_of_its_line(self, skillroute: Skillroute) -> None:
        good = {"kind": "skill", "id": "garden", "name": "Garden", "description": "Water the plants."}
        report = skillroute.import_lines([good, "", json.dumps(good | {"id": "Big"}), b'{"kind": "page", "after": ""}'])
        assert [(failed.index, failed.kind, failed.errors[0].field) for failed in report.failures] == [
            (2, "skill", "id")
        ]

    @pytest.mark.parametrize(
        ("line", "says"), [("{broken", "line 2 is not JSON: "), ("[1]", "line 2 is not a JSON object")]
    )
    def test_a_line_that_cannot_be_read_is_named(self, skillroute: Skillroute, line: str, says: str) -> None:
        with pytest.raises(ValueError, match=says):
            skillroute.import_lines([{"kind": "skill"}, line])

    def test_large_lines_go_in_calls_of_their_own(
        self, skillroute: Skillroute, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(portable, "BYTES_OF_A_CALL", 300)
        rows = [{"kind": "skill", "id": f"s{n}", "name": "S", "description": "d" * 200} for n in range(3)]
        calls: list[int] = []
        skillroute.import_lines(rows, progress=lambda report: calls.append(report.created))
        assert calls == [1, 1, 1]

    def test_an_answer_that_was_lost_is_told(self, system: System) -> None:
        skillroute = client_over(app_over(system), http=_Losing(app_over(system), [1]), sleep=lambda _: None)
        skillroute.health()
        report = skillroute.import_lines(
            [{"kind": "skill", "id": "a", "name": "A", "description": "Letters of all kinds."}]
        )
        assert (report.unchanged, report.is_repeated) == (1, True)
        assert not skillroute.skills.get("a").is_repeated


class _Losing(httpx.Client):
    """Carries out every request, and breaks the connection after those of these numbers."""

    def __init__(self, app: Any, lost: list[int]) -> None:
        super().__init__(transport=AppTransport(app), base_url=URL)
        self._numbers: Iterator[int] = iter(range(1_000))
        self._lost = lost

    def send(self, *args: Any, **kwargs: Any) -> httpx.Response:
        answer = super().send(*args, **kwargs)
        if next(self._numbers) in self._lost:
            raise httpx.RemoteProtocolError("the server closed the connection")
        return answer


def test_the_client_that_is_awaited_does_the_same(system: System) -> None:
    async def use() -> Any:
        async with async_client_over(app_over(system)) as client:
            rows = [{"server": "calendar", "name": name, "description": "Planning."} for name in ("a", "b")]
            await client.tools.put(rows)
            lines = [line async for line in client.export(limit=1)]
            deleted = await client.tools.delete_of_server("calendar")
            report = await client.import_lines(lines)
            answer = await client.search_batch([{"query": "planning", "mode": "lexical"}])
            groups = [group async for group in client.suggestions.groups()]
            return len(lines), deleted.deleted, report.created, answer.metadata.answered, groups

    assert asyncio.run(use()) == (3, 2, 2, 1, [])
