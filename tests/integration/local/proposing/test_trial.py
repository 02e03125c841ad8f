"""Classifying again with proposed skills, and taking back what makes searches worse, over real PostgreSQL."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from skillroute.core.caller import LAPTOP
from skillroute.core.embedding.hashing import HashingEmbedder
from skillroute.core.errors.model import ClassifierUnavailable, NotFound, SkillrouteError
from skillroute.core.queue.outbox import OutboxRepository
from skillroute.core.settings import LocalSettings
from skillroute.skills.classification.model import Classification
from skillroute.skills.model import Assignment, AssignmentSource, NewSkill
from skillroute.skills.queues import CLASSIFY
from skillroute.wiring import Parts
from skillroute_local.commands.skills_trial import Trial
from skillroute_local.evaluating.requests import Row, read_requests
from skillroute_local.proposing.moves import Move, find_moves, queue_again
from skillroute_local.proposing.proposal import Applied
from skillroute_local.proposing.trial import remember, take_back, wait_until_classified

from tests.doubles import ScriptedClassifier, proposing
from tests.worlds.desk import tool

STOCK = NewSkill(id="inventory", name="Inventory", description="Stock of a warehouse.")
NAMES = ("get_stock_level", "get_share_price", "get_dividend")
Answers = dict[str, Classification | SkillrouteError]


class World:
    """Two tools that a classifier put into `markets`, and one that a person did."""

    def __init__(self, url: str) -> None:
        self.classifier = ScriptedClassifier()
        settings = LocalSettings(database_url=url, index_optimize_above=5000)
        self.parts = Parts(settings, embedder=HashingEmbedder(), classifier=self.classifier)
        self.parts.skills.create(NewSkill(id="markets", name="Markets", description="Shares and quotes."), LAPTOP)
        done = self.parts.catalogue.sync([tool(name, f"About {name}.", server="acme") for name in NAMES], LAPTOP)
        self.ids = [outcome.id for outcome in done.outcomes if outcome.id is not None]
        person = {self.ids[2]: [Assignment("markets", 1.0)]}
        self.parts.skills.assign(person, LAPTOP, AssignmentSource.HUMAN_MANUAL)
        self.classify(get_stock_level=proposing(markets=0.6), get_share_price=proposing(markets=0.9))

    def classify(self, **answers: Classification | SkillrouteError) -> None:
        self.classifier.answers = dict(answers)
        self.parts.classification.classify(self.ids)

    def skills(self) -> list[str | None]:
        """Return the primary skill of each tool."""
        return [self.parts.catalogue.read.get(id_, LAPTOP).primary_skill_id for id_ in self.ids]

    def waiting(self) -> set[str]:
        found = self.parts.database.read(lambda session: OutboxRepository(session).waiting(CLASSIFY, 100))
        return {work.key for work in found}

    def moves(self, *proposed: NewSkill) -> list[Move]:
        return find_moves(self.parts.database, self.classifier, self.ids, proposed, None, timeout_s=1)


@pytest.fixture
def world(emptied_database_url: str) -> Iterator[World]:
    world = World(emptied_database_url)
    yield world
    world.parts.close()


def test_a_tool_moves_where_the_classifier_would_choose_a_proposed_skill(world: World) -> None:
    # GIVEN a skill that is only proposed, and a classifier that would choose it for one of the tools
    world.classifier.answers = {
        "get_stock_level": proposing(inventory=0.8, markets=0.5),
        "get_share_price": proposing(markets=0.7),
    }
    world.classifier.asked.clear()

    # WHEN moves are looked for
    moves = world.moves(STOCK)

    # THEN it is the only one; the person's tool was not asked about, and nothing was written
    assert moves == [Move(world.ids[0], "acme/get_stock_level", "markets", "inventory", 0.8)]
    assert [seen.name for seen, _ in world.classifier.asked] == ["get_stock_level", "get_share_price"]
    assert world.skills() == ["markets"] * 3
    assert world.waiting() == set()


def test_a_tool_that_fits_nothing_any_more_moves_out(world: World) -> None:
    world.classifier.answers = {"get_stock_level": proposing(markets=0.4), "get_share_price": proposing(markets=0.9)}
    assert world.moves() == [Move(world.ids[0], "acme/get_stock_level", "markets", None, 0.0)]


def test_a_classifier_that_is_away_moves_nothing(world: World) -> None:
    world.classifier.answers = {"get_stock_level": ClassifierUnavailable("away")}
    with pytest.raises(ClassifierUnavailable, match="away"):
        world.moves()


def test_tools_that_are_queued_again_keep_their_skill_until_they_are_classified(world: World) -> None:
    assert queue_again(world.parts.database, world.ids[:1]) == 1
    assert world.skills() == ["markets"] * 3
    assert world.waiting() == {str(world.ids[0])}

    # AND then the classifier is asked, though nothing about the tool changed
    world.parts.skills.create(STOCK, LAPTOP)
    world.classify(get_stock_level=proposing(inventory=0.8))
    assert world.skills() == ["inventory", "markets", "markets"]


def test_waiting_ends_when_nothing_waits_or_the_time_is_over(world: World) -> None:
    queue_again(world.parts.database, world.ids[:2])
    seen: list[tuple[int, int]] = []

    def classify(pause_s: float) -> None:
        world.classify(get_stock_level=proposing(markets=0.6), get_share_price=proposing(markets=0.6))

    database = world.parts.database
    assert not wait_until_classified(database, world.ids, within_s=1, pause=lambda pause_s: None)
    assert wait_until_classified(
        database, world.ids, within_s=1, pause=classify, step=lambda done, total: seen.append((done, total))
    )
    assert seen == [(1, 3), (3, 3)]


def test_what_is_taken_back_is_as_it_was(world: World) -> None:
    # GIVEN a tool that was moved into a new skill
    database = world.parts.database
    kept = remember(database, world.ids)
    world.parts.skills.create(STOCK, LAPTOP)
    queue_again(database, world.ids[:1])
    world.classify(get_stock_level=proposing(inventory=0.8))

    # WHEN that is taken back, and the classifier is asked about what waits
    take_back(database, ["inventory"], kept, world.parts.skills.change.delete, world.parts.dispatch, LAPTOP)
    world.classify(get_stock_level=proposing(markets=0.51), get_share_price=proposing(markets=0.52))

    # THEN the tool has the assignment that it had, and the skill is gone
    assert world.skills() == ["markets"] * 3
    [assigned] = [
        assignment.confidence for each in remember(database, world.ids[:1]) for assignment in each.assignments
    ]
    assert assigned == 0.6
    with pytest.raises(NotFound):
        world.parts.skills.read.get("inventory", LAPTOP)


class TestTrial:
    ROWS = (
        b'{"query": "about get_stock_level", "needs": [["acme/get_stock_level"]]}',
        b'{"query": "about get_share_price", "needs": [["acme/get_share_price"]]}',
    )

    def rows(self) -> list[Row]:
        return list(read_requests(self.ROWS, "requests", pytest.fail))

    def run(self, world: World, rows: list[Row] | None, **answers: Classification) -> object:
        def apply() -> Applied:
            world.parts.skills.create(STOCK, LAPTOP)
            return Applied(("inventory",), (), ())

        moves = world.moves(STOCK)
        busy = False

        def consume() -> None:
            """Do at once what the queue's consumer does; that commits, and so asks for it again."""
            nonlocal busy
            if not busy:
                busy = True
                world.classify(**answers)
                busy = False

        vars(world.parts)["dispatch"] = consume
        trial = Trial(world.parts, None, rows, tolerance=0.01, wait_s=1)
        return trial.run(apply, moves)[1]

    def test_searches_that_find_as_much_leave_it_applied(self, world: World) -> None:
        answers = {"get_stock_level": proposing(inventory=0.8), "get_share_price": proposing(markets=0.9)}
        world.classifier.answers = dict(answers)
        judged = self.run(world, self.rows(), **answers)
        assert (judged.requests, judged.before, judged.after, judged.taken_back) == (2, 1.0, 1.0, False)  # type: ignore[attr-defined]
        assert world.skills() == ["inventory", "markets", "markets"]

    def test_searches_that_find_less_take_it_back(self, world: World, monkeypatch: pytest.MonkeyPatch) -> None:
        # GIVEN searches that find one of the tools no more once it has another skill
        search = world.parts.tool_search.search

        def worse(request: object, caller: object, **options: object) -> object:
            answer = search(request, caller, **options)  # type: ignore[arg-type]
            hidden = world.skills()[0] == "inventory"
            return answer.model_copy(update={"tools": [t for t in answer.tools if not hidden or "stock" not in t.name]})

        monkeypatch.setattr(world.parts.tool_search, "search", worse)
        answers = {"get_stock_level": proposing(inventory=0.8), "get_share_price": proposing(markets=0.9)}
        world.classifier.answers = dict(answers)
        judged = self.run(world, self.rows(), **answers)
        assert (judged.before, judged.after, judged.taken_back) == (1.0, 0.5, True)  # type: ignore[attr-defined]
        assert world.skills() == ["markets"] * 3

    def test_without_requests_nothing_is_measured_and_that_is_said(
        self, world: World, capsys: pytest.CaptureFixture[str]
    ) -> None:
        answers = {"get_stock_level": proposing(inventory=0.8), "get_share_price": proposing(markets=0.9)}
        world.classifier.answers = dict(answers)
        assert self.run(world, None, **answers) is None
        assert world.skills()[0] == "inventory"
        assert "not measured" in capsys.readouterr().err
