"""Decision 30, whatever is done in whatever order: an organisation is answered as if another one had never written.

Two worlds get the same requests of everybody but acme, which writes into one of them only.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule, run_state_machine_as_test
from skillroute.core.embedding.hashing import HashingEmbedder

from tests.api.bad_tokens import KEYS
from tests.api.compared import difference
from tests.api.tokens import JWT
from tests.api.two_worlds import ACME, GLOBEX, Step, World, beginning, steps
from tests.builders import lent_system
from tests.conftest import Empty, reusable_database
from tests.doubles import EdgeIndexes

Database = tuple[str, Empty]


@pytest.fixture(scope="module")
def databases(postgres_server, migrated_template) -> Iterator[list[Database]]:  # type: ignore[no-untyped-def]
    """Two databases, and what empties them."""
    with ExitStack() as stack:
        yield [stack.enter_context(reusable_database(postgres_server, migrated_template)) for _ in range(2)]


class TwoWorlds(RuleBasedStateMachine):
    """The world that acme writes into, and the one that it does not."""

    def __init__(self, databases: list[Database], edges: EdgeIndexes, index: str) -> None:
        super().__init__()
        self._stack = ExitStack()
        options = {**JWT, "jwt_keys": KEYS, "auto_approve_after": 2, "index": index}
        self._worlds = []
        for url, empty in databases:
            empty()
            system = self._stack.enter_context(lent_system(url, edges, embedder=HashingEmbedder(), **options))
            self._worlds.append(World(system))

    @initialize(acme_is_first=st.booleans())
    def everybody_has_something(self, acme_is_first: bool) -> None:
        orgs = (None, ACME, GLOBEX) if acme_is_first else (None, GLOBEX, ACME)
        for step in (step for org in orgs for step in beginning(org)):
            if step.org == ACME:
                status, *_ = self._worlds[0].does(step)
                assert status < 400, step
            else:
                self.others_write(step)

    @rule(todo=st.lists(steps(ACME), min_size=1, max_size=4))
    def acme_writes(self, todo: list[Step]) -> None:
        for step in todo:
            self._worlds[0].does(step)

    @rule(step=steps(None, GLOBEX))
    def others_write(self, step: Step) -> None:
        with_acme, without = (world.does(step) for world in self._worlds)
        assert difference(with_acme, without) is None, step

    def teardown(self) -> None:
        try:
            with_acme, without = (world.seen_by(GLOBEX) for world in self._worlds)
            for question, answer in without.items():
                assert difference(with_acme[question], answer) is None, question
        finally:
            self._stack.close()


@pytest.mark.parametrize("index", ["embedded", "postgres"])
def test_what_an_organisation_is_answered_is_the_same_without_another_one(
    databases: list[Database], edge_indexes: EdgeIndexes, index: str
) -> None:
    run_state_machine_as_test(
        lambda: TwoWorlds(databases, edge_indexes, index),
        settings=settings(max_examples=settings.default.max_examples // 16, stateful_step_count=20),
    )
