"""Proposing skills over real PostgreSQL, and creating them (skill-search-design, Resolved Design Decisions)."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from skillroute.core.caller import LAPTOP
from skillroute.core.chat.port import ChatModel
from skillroute.core.embedding.hashing import HashingEmbedder
from skillroute.core.errors.model import ClassifierUnavailable
from skillroute.core.queue.outbox import OutboxRepository
from skillroute.skills.model import Assignment, AssignmentSource
from skillroute.skills.queues import CLASSIFY
from skillroute_local.commands.skills import app
from skillroute_local.proposing.proposal import Applied, Proposal, Wanted
from skillroute_local.proposing.propose import apply, propose
from typer.testing import CliRunner

from tests.worlds.desk import ACME, Desk, tool

ROOT = Path(__file__).parents[4]
EXAMPLES = ROOT / "examples"
MODEL_DIR = ROOT / "layers" / "inference" / "models" / "all-minilm-l6-v2"
KINDS = {
    "calendar": ("create_calendar_event", "list_calendar_events", "move_calendar_event", "cancel_calendar_event"),
    "mail": ("send_mail_message", "search_mail_messages", "forward_mail_message", "archive_mail_message"),
    "weather": ("get_weather_forecast", "get_weather_alerts", "get_weather_history", "get_weather_radar"),
}


@pytest.fixture
def desk(emptied_database_url: str) -> Iterator[Desk]:
    desk = Desk(emptied_database_url)
    desk.use(HashingEmbedder())
    yield desk
    desk.close()


def fill(desk: Desk, **fields: Any) -> None:
    desk.put(
        *(tool(name, f"About the {kind}.", server=kind, **fields) for kind, names in KINDS.items() for name in names)
    )


def proposed(desk: Desk, chat: ChatModel | None = None, **wanted: Any) -> Proposal:
    return propose(desk.database, chat, replace(Wanted(skills=3), **wanted))


def applied(desk: Desk, proposal: Proposal) -> Applied:
    return apply(proposal, desk.database, desk.create_skill, desk.dispatch, LAPTOP)


def waiting(desk: Desk) -> set[str]:
    return {work.key for work in desk.database.read(lambda s: OutboxRepository(s).waiting(CLASSIFY, 100))}


class TestPropose:
    def test_a_skill_for_each_kind_of_tool_and_nothing_written(self, desk: Desk) -> None:
        fill(desk)
        proposal = proposed(desk)
        assert [(each.tool_count, each.server_count) for each in proposal.skills] == [(4, 1)] * 3
        assert {frozenset(each.skill.examples) for each in proposal.skills} == set(map(frozenset, KINDS.values()))
        keywords = [" ".join(each.skill.keywords) for each in proposal.skills]
        assert {kind for kind in KINDS if any(kind in words for words in keywords)} == set(KINDS)
        assert all(0.5 < each.cohesion <= 1.0 for each in proposal.skills)
        assert (proposal.tool_count, proposal.fits_none, proposal.without_embedding) == (12, (), 0)
        assert desk.sql("SELECT count(*) FROM mcp.skill_categories") == [[0]]

    def test_the_same_tools_give_the_same_proposal(self, desk: Desk) -> None:
        fill(desk)
        assert proposed(desk) == proposed(desk)

    def test_tools_that_have_a_skill_are_left_out_unless_all_are_wanted(self, desk: Desk) -> None:
        fill(desk)
        desk.skill("mail")
        mail = desk.sql("SELECT id FROM mcp.tools WHERE server = 'mail'")
        desk.assign({id_: [Assignment("mail", 1.0)] for [id_] in mail}, LAPTOP, AssignmentSource.HUMAN_MANUAL)
        assert proposed(desk).tool_count == 8
        everything = proposed(desk, all_tools=True)
        assert everything.tool_count == 12
        assert len(everything.without_skill) == 8

    def test_an_organisation_s_tools_are_its_own(self, desk: Desk) -> None:
        fill(desk)
        desk.put(*(tool(f"play_music_{number}", server="music") for number in range(4)), caller=ACME)
        assert proposed(desk).tool_count == 12
        assert proposed(desk, org_id="acme").tool_count == 4

    def test_tools_that_wait_for_the_model_are_counted_and_left_out(self, desk: Desk) -> None:
        fill(desk)
        desk.embedder.away = True
        desk.put(tool("late"))
        proposal = proposed(desk)
        assert (proposal.tool_count, proposal.without_embedding, len(proposal.without_skill)) == (12, 1, 13)

    def test_more_tools_than_are_read_at_a_time_are_all_read(self, desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("skillroute_local.proposing.propose._PAGE", 5)
        fill(desk)
        seen: list[tuple[str, int, int]] = []
        proposal = propose(
            desk.database, None, Wanted(skills=3), report=lambda what, done, total: seen.append((what, done, total))
        )
        assert (proposal.tool_count, len(proposal.without_skill)) == (12, 12)
        assert seen[:3] == [("reading tools", 5, 12), ("reading tools", 10, 12), ("reading tools", 12, 12)]

    def test_an_empty_catalogue_is_an_empty_proposal(self, desk: Desk) -> None:
        assert proposed(desk) == Proposal((), 0, (), 0, 0.0, (), (), by_words=True)

    def test_a_language_model_that_is_away_leaves_the_wording_to_keywords(self, desk: Desk) -> None:
        class Away:
            name = "away/model"

            def answer(self, *_: object, **__: object) -> dict[str, Any]:
                raise ClassifierUnavailable("no answer")

        fill(desk)
        proposal = proposed(desk, Away())
        assert proposal.skills == proposed(desk).skills
        assert "no answer" in proposal.problems[0]


class TestApply:
    def test_the_skills_are_there_and_the_tools_wait_to_be_classified(self, desk: Desk) -> None:
        fill(desk)
        proposal = proposed(desk)
        done = applied(desk, proposal)
        assert set(done.created) == {each.skill.id for each in proposal.skills}
        assert (done.skipped, done.queued) == ((), 12)
        stored = desk.read_skills.get(done.created[0], LAPTOP)
        assert (stored.name, stored.examples) == (proposal.skills[0].skill.name, proposal.skills[0].skill.examples)
        assert len(waiting(desk)) == 12

    def test_what_was_classified_and_fits_nowhere_is_classified_again(self, desk: Desk) -> None:
        # GIVEN tools that a classifier decided on, and that fit no skill
        fill(desk)
        desk.sql("DELETE FROM mcp.outbox")
        desk.sql("INSERT INTO mcp.tool_classifications SELECT id, 'hash', 'similarity' FROM mcp.tools")
        assert applied(desk, proposed(desk)).queued == 12
        assert len(waiting(desk)) == 12
        assert desk.sql("SELECT count(*) FROM mcp.tool_classifications") == [[0]]

    def test_a_skill_whose_id_is_there_is_left_as_it_is_and_told(self, desk: Desk) -> None:
        fill(desk)
        first = proposed(desk).skills[0].skill.id
        desk.skill(first, description="Made by a person.")
        proposal = proposed(desk)
        assert [each.skill.id for each in proposal.skills if each.exists] == [first]
        done = applied(desk, proposal)
        assert (len(done.created), done.skipped) == (2, (f"Skill already exists: {first}",))
        assert desk.read_skills.get(first, LAPTOP).description == "Made by a person."


def test_the_examples_fall_into_the_skills_that_people_made() -> None:
    """With the real model, over the vectors that a sync would store."""
    from skillroute.catalogue.rows import indexed_text
    from skillroute.catalogue.schemas import read_item
    from skillroute.core.embedding.onnx import OnnxEmbedder
    from skillroute.core.embedding.views import embed_views
    from skillroute_local.proposing.clusters import NONE, cluster, damped

    rows = [json.loads(line) for line in (EXAMPLES / "tools.jsonl").read_text("utf-8").splitlines()]
    given = {
        (line["server"], line["name"]): line["skills"][0]["skill_id"]
        for line in map(json.loads, (EXAMPLES / "assignments.jsonl").read_text("utf-8").splitlines())
    }
    texts = [indexed_text(read_item(row)).embedding_texts for row in rows]
    vectors = np.array(embed_views(OnnxEmbedder(MODEL_DIR), texts, timeout_s=120), np.float32)
    found = cluster(vectors, damped([row["server"] for row in rows]))

    # THEN the calendar's own tools come together, and so, mostly, do those of every skill
    calendar = Counter(
        label
        for row, label in zip(rows, found.labels.tolist(), strict=True)
        if row["server"] == "calendar" and given.get((row["server"], row["name"])) == "calendar_management"
    )
    assert calendar.most_common(1)[0][1] >= 0.5 * calendar.total()
    groups: dict[int, Counter[str]] = {}
    for row, label in zip(rows, found.labels.tolist(), strict=True):
        if label != NONE:
            groups.setdefault(label, Counter())[given.get((row["server"], row["name"]), "none")] += 1
    pure = sum(group.most_common(1)[0][1] for group in groups.values()) / sum(map(Counter.total, groups.values()))
    assert 15 <= found.count <= 35
    assert pure > 0.75


class TestCommand:
    @pytest.fixture
    def run(self, desk: Desk, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Any:
        monkeypatch.setenv("SKILLROUTE_DATABASE_URL", desk.url)
        monkeypatch.setenv("SKILLROUTE_EMBEDDING_PROVIDER", "hashing")
        monkeypatch.setenv("SKILLROUTE_INDEX_OPTIMIZE_ABOVE", "5000")
        monkeypatch.setenv("SKILLROUTE_HOME", str(tmp_path / "home"))
        return lambda *arguments: CliRunner().invoke(app, ["propose", *arguments])

    def test_json_has_all_of_it_and_nothing_is_written(self, desk: Desk, run: Any) -> None:
        fill(desk)
        done = run("--skills", "3", "--json")
        answer = json.loads(done.stdout)
        assert done.exit_code == 0
        assert sorted(answer["skills"][0]) == [
            "cohesion", "description", "examples", "exists", "id", "keywords", "name", "server_count", "tool_count",
            "worded_by",
        ]  # fmt: skip
        assert [each["tool_count"] for each in answer["skills"]] == [4, 4, 4]
        assert answer["applied"] is None
        assert desk.sql("SELECT count(*) FROM mcp.skill_categories") == [[0]]

    def test_a_table_shows_each_skill_as_it_is(self, desk: Desk, run: Any) -> None:
        # GIVEN names that a terminal library could take for its own markup
        desk.put(*(tool(f"[red]zylophone[/red]_{number}") for number in range(4)))
        done = run("--skills", "1")
        assert done.exit_code == 0
        assert "zylophone" in done.stdout
        assert "1 skill for 4 of 4 tools" in done.stdout
        assert "nothing was written" in done.stdout

    @pytest.mark.parametrize(
        ("names", "says"), [((), "there are no tools without a skill"), (("one", "two"), "no group of them is large")]
    )
    def test_what_cannot_be_grouped_is_said(self, desk: Desk, run: Any, names: tuple[str, ...], says: str) -> None:
        desk.ids(*names)
        done = run()
        assert done.exit_code == 0
        assert says in done.stdout

    def test_apply_asks_nobody_when_told_so_and_tells_what_it_did(self, desk: Desk, run: Any) -> None:
        fill(desk)
        answer = json.loads(run("--skills", "3", "--json", "--apply", "--yes").stdout)
        assert len(answer["applied"]["created"]) == 3
        assert answer["applied"]["queued"] == 12
        assert desk.sql("SELECT count(*) FROM mcp.skill_categories") == [[3]]

    @pytest.mark.parametrize("arguments", [("--apply",), ("--apply", "--json")])
    def test_apply_refuses_where_nobody_can_be_asked(self, desk: Desk, run: Any, arguments: tuple[str, ...]) -> None:
        fill(desk)
        done = run(*arguments, "--skills", "3")
        assert "--yes" in str(done.exception)
        assert desk.sql("SELECT count(*) FROM mcp.skill_categories") == [[0]]
