"""Whatever becomes of the models and the indexes: no answer is empty, or ranked without meaning, and silent about it.

Texts are refused for good, models go away, are called by a wrong name and are switched between any two batches, and
indexes break for good, in any order; see `tests/faults/embedding.py`.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.doubles import EdgeIndexes
from tests.faults.embedding import EmbeddingChaos, embedding_chaos, is_poison

Step = tuple[str, int]
Reused = tuple[str, Callable[[], object]]

STEPS = st.sampled_from(
    ["write_tools", "write_tools", "write_server", "write_message", "relay", "relay", "search_tools", "search_tools",
     "search_registry", "search_mail", "model_goes", "model_refuses_everything", "model_returns", "engine_breaks",
     "no_engine_can_be_made", "other_process", "reindex"]
)  # fmt: skip


@pytest.fixture
def reused(_reused_database: Reused) -> Reused:
    return _reused_database


def check_end(chaos: EmbeddingChaos) -> None:
    """In the end, and within two runs of the relay, whatever can have a vector has one, and what cannot is parked."""
    chaos.heal()
    for _ in range(2):
        assert chaos.system.parts.relay().failed == []
    model = chaos.system.embedder.model.name
    for each in chaos.stored():
        assert model in (each.refused_by if is_poison(each.text) else each.embedded_by), each
    # AND nobody asks for it again
    chaos.system.embedder.calls.clear()
    chaos.system.parts.relay()
    assert chaos.system.embedder.calls == []


@settings(max_examples=settings.default.max_examples // 5)  # type: ignore[union-attr]
@example(steps=[("write_tools", 3), ("search_tools", 1), ("search_tools", 4), ("search_mail", 4), ("relay", 0)])
@example(steps=[("model_goes", 0), ("write_tools", 3), ("model_returns", 1), ("search_tools", 3), ("search_tools", 0)])
@example(steps=[("model_refuses_everything", 0), ("write_tools", 0), ("search_tools", 0), ("relay", 0)])
@example(steps=[("write_tools", 0), ("search_tools", 0), ("engine_breaks", 0), *[("search_tools", 0)] * 4])
@example(steps=[("write_server", 0), ("write_message", 1), ("no_engine_can_be_made", 1), ("search_registry", 0),
                ("search_mail", 1), ("search_tools", 0)])  # fmt: skip
@example(steps=[("write_tools", 0), ("other_process", 0), ("reindex", 0), ("search_tools", 0), ("other_process", 0),
                ("search_tools", 0), ("write_tools", 3)])  # fmt: skip
@given(steps=st.lists(st.tuples(STEPS, st.integers(0, 59)), min_size=5, max_size=25))
@pytest.mark.parametrize("index", ["embedded", "postgres"])
def test_no_answer_is_empty_or_without_meaning_and_silent_about_it(
    reused: Reused, edge_indexes: EdgeIndexes, index: str, steps: list[Step]
) -> None:
    """Decisions 9 and 37."""
    url, empty = reused
    empty()
    with embedding_chaos(url, edge_indexes, index) as chaos:
        for step, number in steps:
            getattr(chaos, step)(number)
        check_end(chaos)


@pytest.mark.parametrize("index", ["embedded", "postgres"])
def test_the_chaos_gets_into_every_way_of_saying_so(reused: Reused, edge_indexes: EdgeIndexes, index: str) -> None:
    """A harness in which nothing went wrong would prove nothing."""
    url, empty = reused
    empty()
    seen: set[str] = set()
    with embedding_chaos(url, edge_indexes, index) as chaos:
        for step, number in [
            ("write_tools", 3), ("search_tools", 4), ("search_tools", 3), ("write_message", 3), ("search_mail", 4),
            ("search_mail", 1), ("write_server", 0), ("engine_breaks", 0), ("search_tools", 0), ("search_registry", 0),
            ("other_process", 0), ("search_tools", 0), ("write_tools", 0), ("reindex", 0), ("search_tools", 0),
            ("other_process", 0), ("search_tools", 0), ("write_tools", 1), ("search_tools", 1),
        ]:  # fmt: skip
            getattr(chaos, step)(number)
        seen = chaos.seen
    assert seen >= {
        "semantic",
        "lexical-only",
        "embedding_unavailable",
        "vectors_missing",
        "index_unavailable",
        "mail lexical",
    }
