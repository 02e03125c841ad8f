"""What only the embedded engine does: files, and failures that have no exception class of their own."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from skillroute.catalogue.collection import TOOL_DOCUMENTS
from skillroute.core.documents.collection import collections
from skillroute.core.documents.index.edge import EdgeIndex, _translated
from skillroute.core.documents.model import IndexFilter, IndexRecord
from skillroute.core.errors.model import IndexUnavailable
from skillroute.skills.collection import SKILL_DOCUMENTS

TOOLS, SKILLS = TOOL_DOCUMENTS, SKILL_DOCUMENTS


def fill(index: EdgeIndex, count: int = 3) -> None:
    records = [IndexRecord(str(n), [1.0, 0.0, 0.0], "weather", {"type": "tool"}) for n in range(count)]
    index.upsert(TOOLS, records)


def test_a_new_index_answers(tmp_path: Path) -> None:
    index = EdgeIndex(tmp_path, 3)
    assert index.search(TOOLS, [1.0, 0.0, 0.0], where=IndexFilter({"type": ["tool"]}), limit=5) == []
    assert index.search_text(TOOLS, "weather", where=IndexFilter(), limit=5) == []
    assert index.match(TOOLS, where=IndexFilter(), limit=5) == []


def test_a_collection_that_nothing_was_written_to_takes_no_files_and_holds_nothing(tmp_path: Path) -> None:
    index = EdgeIndex(tmp_path, 3)
    fill(index)
    index.delete(SKILLS, ["1"])
    anything = IndexFilter()
    assert index.search(SKILLS, [1.0, 0.0, 0.0], where=anything, limit=5) == []
    assert index.search_each(SKILLS, [[1.0, 0.0, 0.0]] * 2, where=anything, limit=5) == [[], []]
    assert index.search_text(SKILLS, "weather", where=anything, limit=5) == []
    assert (index.match(SKILLS, where=anything, limit=5), index.payloads(SKILLS, ["1"]), index.count(SKILLS)) == (
        [],
        {},
        0,
    )
    index.optimize()
    assert [path.name for path in tmp_path.iterdir()] == [TOOLS.value]
    index.upsert(SKILLS, [IndexRecord("1", [1.0, 0.0, 0.0], "", {})])
    assert (index.count(SKILLS), index.count(TOOLS)) == (1, 3)
    index.close()


def test_two_that_write_first_write_to_the_same(tmp_path: Path) -> None:
    index = EdgeIndex(tmp_path, 3)
    with ThreadPoolExecutor(4) as threads:
        list(threads.map(lambda n: index.upsert(TOOLS, [IndexRecord(str(n), [1.0, 0.0, 0.0], "", {})]), range(8)))
    assert index.count(TOOLS) == 8
    index.close()


def test_a_vector_of_another_dimension_is_an_index_failure(tmp_path: Path) -> None:
    index = EdgeIndex(tmp_path, 3)
    with pytest.raises(IndexUnavailable):
        index.upsert(TOOLS, [IndexRecord("1", [1.0, 0.0], "", {})])
    fill(index)
    with pytest.raises(IndexUnavailable):
        index.search(TOOLS, [1.0, 0.0], where=IndexFilter(), limit=1)


def test_a_closed_index_is_opened_again_with_all_it_held(tmp_path: Path) -> None:
    index = EdgeIndex(tmp_path / "new" / "index", 3)
    fill(index)
    index.close()
    again = EdgeIndex(tmp_path / "new" / "index", 3)
    assert again.match(TOOLS, where=IndexFilter({"type": ["tool"]}), limit=5) == ["0", "1", "2"]
    assert len(again.search_text(TOOLS, "weather", where=IndexFilter(), limit=5)) == 3
    again.close()


def test_optimising_keeps_everything(tmp_path: Path) -> None:
    index = EdgeIndex(tmp_path, 3)
    fill(index, 50)
    index.optimize()
    fill(index, 60)
    assert index.count(TOOLS) == 60
    index.close()


def test_a_graph_is_built_as_the_design_says(tmp_path: Path) -> None:
    """registry-search-design, Performance Considerations: m=16, efConstruction=128."""
    index = EdgeIndex(tmp_path, 3)
    for collection in collections():
        index.upsert(collection, [IndexRecord("1", [1.0, 0.0, 0.0], "", {})])
    index.close()
    for collection in collections():
        config = json.loads((tmp_path / collection.value / "edge_config.json").read_text("utf-8"))
        graph = config["hnsw_config"]
        assert (graph["m"], graph["ef_construct"]) == (16, 128)


def test_a_directory_of_another_dimension_is_refused(tmp_path: Path) -> None:
    index = EdgeIndex(tmp_path, 3)
    fill(index)
    index.close()
    with pytest.raises(IndexUnavailable):
        EdgeIndex(tmp_path, 4)


def test_a_damaged_directory_is_refused(tmp_path: Path) -> None:
    index = EdgeIndex(tmp_path, 3)
    fill(index)
    index.close()
    (tmp_path / TOOLS.value / "edge_config.json").write_text("{")
    with pytest.raises(IndexUnavailable):
        EdgeIndex(tmp_path, 3)


def test_a_directory_that_cannot_be_made_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(IndexUnavailable):
        EdgeIndex(tmp_path / "file", 3)


def test_a_panic_of_the_engine_is_an_index_failure() -> None:
    panic = type("PanicException", (BaseException,), {"__module__": "pyo3_runtime"})
    with pytest.raises(IndexUnavailable), _translated(TOOLS):
        raise panic


@pytest.mark.parametrize("error", [KeyboardInterrupt, TypeError, ValueError])
def test_what_is_no_failure_of_the_engine_goes_through(error: type[BaseException]) -> None:
    with pytest.raises(error), _translated(TOOLS):
        raise error
