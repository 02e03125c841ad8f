"""Several that write the same at once, whatever its kind: each thing is created once."""

from __future__ import annotations

from typing import Any

import pytest

from tests.builders import System, of_org
from tests.doubles import in_threads
from tests.worlds.registry import DOCS, RESOLVE

_TOOLS_EMBEDDED = (
    "SELECT count(*) FROM mcp.tools WHERE (SELECT has_vector FROM mcp.vector_state('mcp_unified_search', id::text))"
)


@pytest.mark.parametrize(
    ("kind", "number", "said", "tools", "vectors"),
    [
        ("tool", 20, {}, 20, 20),
        ("server", 10, {"tools": [DOCS, RESOLVE]}, 20, 30),
        ("agent", 10, {}, 0, 10),
    ],
)
def test_of_four_that_put_the_same_at_once_one_creates_each(
    system: System, kind: Any, number: int, said: dict[str, Any], tools: int, vectors: int
) -> None:
    things = [{"name": f"t{n}", "description": "Does what a test wants.", **said} for n in range(number)]

    def write(place: int) -> Any:
        given = things if place % 2 else things[::-1]
        if kind == "tool":
            return system.parts.catalogue.sync(given, of_org("acme"))
        return system.put_entities(*given, kind=kind)

    outcomes = [outcome for report in in_threads(4, write) for outcome in report.outcomes]
    assert [outcome for outcome in outcomes if outcome.status == "failed"] == []
    named = [(outcome.key if kind == "tool" else outcome.path, outcome.id, outcome.status) for outcome in outcomes]
    created = [name for name, _, status in named if status == "created"]
    assert len(created) == len(set(created)) == number
    assert len({(name, id_) for name, id_, _ in named}) == number
    assert system.rows(_TOOLS_EMBEDDED) == [[tools]]
    assert system.rows("SELECT count(*), count(embedding) FROM mcp.document_vectors") == [[vectors, vectors]]
    assert system.findings() == []
