"""BR-004 of skill-contract and decision 22: what a skill is found by."""

from __future__ import annotations

import math
import tracemalloc

import numpy as np
import pytest
from skillroute.catalogue.collection import TOOL_DOCUMENTS
from skillroute.core.caller import LAPTOP
from skillroute.core.embedding.model import Vector
from skillroute.core.queue.memory import MemoryQueue

from tests.builders import System, lent_system
from tests.doubles import DIMENSION, EdgeIndexes, at


def axis(number: int) -> Vector:
    return [float(place == number) for place in range(DIMENSION)]


def mean(*weighted: tuple[Vector, float]) -> Vector:
    """The contract's formula, word for word."""
    vectors = np.array([vector for vector, _ in weighted])
    weights = np.array([weight for _, weight in weighted])
    aggregated = (vectors * weights[:, None]).sum(axis=0) / weights.sum()
    return list(aggregated / np.linalg.norm(aggregated))


def test_br_004_it_is_the_mean_of_the_tools_weighted_by_confidence_with_norm_1(system: System) -> None:
    system.create("mail")
    a, b, c = system.tools([("a", axis(1)), ("b", axis(2)), ("c", at(0.6, axis=3))])
    system.assign(a, mail=0.9)
    system.assign(b, mail=0.3)
    system.assign(c, mail=0.5)
    vector = system.vector("mail")
    assert vector == pytest.approx(mean((axis(1), 0.9), (axis(2), 0.3), (at(0.6, axis=3), 0.5)), abs=1e-6)
    assert math.hypot(*vector or []) == pytest.approx(1.0, abs=1e-6)


def test_br_004_the_description_has_no_part_in_it_by_default(system: System) -> None:
    system.create("mail")
    system.assign(system.tool("a", axis(3)), mail=0.5)
    assert system.vector("mail") == axis(3)


def test_br_004_the_index_has_it_with_the_tool_count_at_once(system: System) -> None:
    system.embedder._inner.table["mail: All about mail."] = axis(5)  # type: ignore[attr-defined]
    system.create("mail")
    assert system.search().matched_skills == []  # it is far from the query
    system.assign(system.tool("a", at(0.9)), mail=1.0)
    [skill] = system.search().matched_skills
    assert (skill.id, skill.tool_count, skill.score) == ("mail", 1, pytest.approx(0.9, abs=1e-6))


# Triggers


def test_br_004_a_tool_that_comes_and_one_that_goes_change_it(system: System) -> None:
    system.create("mail")
    a, b = system.tools([("a", axis(1)), ("b", axis(2))])
    system.assign(a, mail=1.0)
    system.assign(b, mail=1.0)
    assert system.vector("mail") == pytest.approx(mean((axis(1), 1), (axis(2), 1)), abs=1e-6)
    system.assign(a)
    assert system.vector("mail") == pytest.approx(axis(2))


def test_br_004_a_changed_confidence_changes_it(system: System) -> None:
    system.create("mail")
    a, b = system.tools([("a", axis(1)), ("b", axis(2))])
    system.assign(a, mail=1.0)
    system.assign(b, mail=1.0)
    system.assign(b, mail=0.25)
    assert system.vector("mail") == pytest.approx(mean((axis(1), 1), (axis(2), 0.25)), abs=1e-6)


def test_br_004_a_tools_new_embedding_changes_all_its_skills(system: System) -> None:
    system.create("mail")
    system.create("maps")
    [tool_id] = system.put("t")
    system.assign(tool_id, mail=0.9, maps=0.8)
    table = system.embedder._inner.table  # type: ignore[attr-defined]

    class Elsewhere(dict[str, Vector]):
        def get(self, key: str, default: Vector | None = None) -> Vector | None:  # type: ignore[override]
            return axis(4)

    assert table == {}
    system.embedder._inner.table = Elsewhere()  # type: ignore[attr-defined]
    system.put("t", description="Says something else.")
    assert system.vector("mail") == pytest.approx(axis(4))
    assert system.vector("maps") == pytest.approx(axis(4))


def test_br_004_a_deleted_tool_changes_it(system: System) -> None:
    system.create("mail")
    a, b = system.tools([("a", axis(1)), ("b", axis(2))])
    system.assign(a, mail=1.0)
    system.assign(b, mail=1.0)
    system.parts.catalogue.read.delete(a, LAPTOP)
    assert system.vector("mail") == pytest.approx(axis(2))


def test_br_004_a_changed_description_is_embedded_anew_and_found_by_while_there_are_no_tools(system: System) -> None:
    system.create("mail")
    system.embedder._inner.table["mail: Sending letters."] = axis(2)  # type: ignore[attr-defined]
    system.change("mail", description="Sending letters.")
    assert system.vector("mail", of_description=True) == axis(2)
    assert system.vector("mail") == axis(2)


def test_br_004_a_changed_description_leaves_a_skill_with_tools_where_its_tools_are(system: System) -> None:
    system.create("mail")
    system.assign(system.tool("a", axis(1)), mail=0.7)
    system.embedder._inner.table["mail: Sending letters."] = axis(2)  # type: ignore[attr-defined]
    system.change("mail", description="Sending letters.")
    assert (system.vector("mail"), system.vector("mail", of_description=True)) == (axis(1), axis(2))


def test_br_004_a_description_that_changes_while_the_model_is_away_is_embedded_later(system: System) -> None:
    system.create("mail")
    system.embedder._inner.table["mail: Sending letters."] = axis(2)  # type: ignore[attr-defined]
    system.embedder.away = True
    system.change("mail", description="Sending letters.")
    assert system.vector("mail") == at(1.0)  # it goes on being found by the old one
    system.embedder.away = False
    system.parts.relay()
    assert system.vector("mail") == axis(2)


def test_br_004_a_new_description_in_place_of_another_models_leaves_no_vector_of_that(
    database_url: str, edge_indexes: EdgeIndexes
) -> None:
    # GIVEN a skill with tools that a move to this model has not reached, and whose aggregation has to wait
    with lent_system(database_url, edge_indexes, queue=MemoryQueue()) as system:
        system.create("mail")
        system.assign(system.tool("a", axis(1)), mail=0.7)
        system.sql("UPDATE mcp.document_vectors SET model = 'another' WHERE collection = 'mcp_skills'")
        # WHEN
        system.embedder._inner.table["mail: Sending letters."] = axis(2)  # type: ignore[attr-defined]
        system.change("mail", description="Sending letters.")
        # THEN what is said to be of this model is of this model
        assert (system.vector("mail"), system.vector("mail", of_description=True)) == (axis(2), axis(2))


# Edge cases


def test_br_004_without_tools_it_is_the_descriptions(system: System) -> None:
    system.create("mail")
    tool_id = system.tool("a", axis(1))
    system.assign(tool_id, mail=0.9)
    system.assign(tool_id)
    assert system.vector("mail") == system.vector("mail", of_description=True) == at(1.0)


def test_br_004_with_one_tool_it_is_the_tools(system: System) -> None:
    system.create("mail")
    system.assign(system.tool("a", at(0.6)), mail=0.51)
    assert system.vector("mail") == pytest.approx(at(0.6), abs=1e-6)


def test_br_004_tools_without_an_embedding_are_skipped(system: System) -> None:
    system.create("mail")
    a, b = system.tools([("a", axis(1)), ("b", None)])
    system.assign(a, mail=0.5)
    system.assign(b, mail=1.0)
    assert system.vector("mail") == pytest.approx(axis(1))


def test_br_004_when_all_tools_miss_theirs_the_descriptions_serves(system: System) -> None:
    system.create("mail")
    system.assign(system.tool("b", None), mail=1.0)
    assert system.vector("mail") == at(1.0)


def test_br_004_a_tool_that_gets_its_embedding_later_counts_from_then_on(system: System) -> None:
    system.create("mail")
    system.embedder.away = True
    [tool_id] = system.put("late")
    system.assign(tool_id, mail=1.0)
    system.embedder.away = False
    system.embedder._inner.table = dict.fromkeys(  # type: ignore[attr-defined]
        system.texts(TOOL_DOCUMENTS, tool_id), axis(6)
    )
    system.parts.relay()
    assert system.vector("mail") == pytest.approx(axis(6))


def test_br_004_a_skill_that_was_created_without_the_model_is_aggregated_once_it_is_embedded(system: System) -> None:
    system.embedder.away = True
    system.create("mail")
    system.assign(system.tool("a", axis(1)), mail=0.9)
    system.embedder.away = False
    system.parts.relay()
    assert system.vector("mail") == pytest.approx(axis(1))


@pytest.mark.parametrize("share", [0.0, 0.3, 1.0])
def test_br_004_the_mix_with_the_description_has_the_shares_of_the_setting(
    database_url: str, edge_indexes: EdgeIndexes, share: float
) -> None:
    with lent_system(database_url, edge_indexes, skill_description_share=share) as system:
        system.create("mail")
        a, b = system.tools([("a", axis(1)), ("b", axis(2))])
        system.assign(a, mail=1.0)
        system.assign(b, mail=0.5)
        # THEN both parts have norm 1 before they are mixed
        tools = mean((axis(1), 1.0), (axis(2), 0.5))
        assert system.vector("mail") == pytest.approx(mean((tools, 1 - share), (at(1.0), share)), abs=1e-6)
        # AND without tools it is the description's alone
        system.create("empty")
        assert system.vector("empty") == at(1.0)


def test_br_004_ten_thousand_tools_are_aggregated_in_bounded_memory(system: System) -> None:
    # GIVEN 10,000 tools with vectors, half of them along one axis, half along another
    system.create("mail")
    model = system.embedder.model
    one, other = (np.array(axis(n), dtype="<f4").tobytes().hex() for n in (1, 2))
    system.sql(
        "INSERT INTO mcp.tools (name, type, content_hash) SELECT 't' || n, 'tool', 'c' FROM generate_series(1, 10000) n"
    )
    # In pages as writers write, and known to the planner behind the first, as autovacuum sees to it: with statistics of
    # what other tests left in the table, all at once took longer than a statement may.
    for page in range(10):
        system.sql(
            "SELECT mcp.put_documents('mcp_unified_search', json_agg(json_build_object('key', id::text, 'texts', "
            "ARRAY['e'], 'lexical_text', 'l', 'text_hash', 't', 'embedding', "
            f"CASE WHEN id % 2 = 0 THEN '{one}' ELSE '{other}' END)), '{model.name}', {model.dimension}, false) "
            f"FROM mcp.tools WHERE id % 10 = {page}"
        )
        if page == 0:
            system.sql("ANALYZE mcp.documents, mcp.document_vectors, mcp.tools")
    system.sql(
        "INSERT INTO mcp.tool_skill_assignments (tool_id, skill_key, confidence) SELECT id, 'mail', 0.5 FROM mcp.tools"
    )
    # WHEN
    tracemalloc.start()
    try:
        system.parts.aggregate_skill("mail")
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()  # else the tests after this one are slow, and count what it took
    # THEN it is right, and took the memory of a page (the ids alone would be as much again)
    assert system.vector("mail") == pytest.approx(mean((axis(1), 1), (axis(2), 1)), abs=1e-6)
    assert peak < 4_000_000
