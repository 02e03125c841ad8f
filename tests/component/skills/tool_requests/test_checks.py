"""No request is kept that is nearer to another tool that the organisation sees (docs/adr/0067; decision 26)."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from skillroute.core.documents.index.postgres_replica import PostgresReplica
from skillroute.skills.classification.classifiers.llm import LlmClassifier
from skillroute.wiring import Parts

from tests.builders import System, lent_system, of_org
from tests.component.skills.requesting import BY_MODEL, NEED, PICNIC, RAIN, WRITTEN, Model, requests_of
from tests.doubles import EdgeIndexes, LogRecords, TableEmbedder, at

ACME = of_org("acme")


def test_a_request_that_is_nearer_to_another_tool_is_dropped(
    world: System, vectors: TableEmbedder, counted: Callable[[str], float], log: LogRecords
) -> None:
    vectors.table |= {PICNIC: at(0.2)}  # near to a tool that lies there
    [tool_id] = world.put("forecast")
    world.tool("book_table", at(0.2))

    world.classify(tool_id)

    assert requests_of(world, tool_id) == [(RAIN, "llm"), (NEED, "llm")]
    assert counted("RequestsDropped") == 1
    assert any(getattr(record, "stray", None) == 1 for record in log.records)


def test_prompts_and_twins_on_other_servers_are_no_other_tools(world: System, vectors: TableEmbedder) -> None:
    vectors.table |= {PICNIC: at(0.2)}
    [tool_id] = world.put("forecast", description="Returns a forecast.")
    world.tool("book_table", at(0.2), type="prompt")
    world.tool("forecast", at(0.2), server="other", description="Returns a forecast.")

    world.classify(tool_id)

    assert requests_of(world, tool_id) == BY_MODEL


def test_only_tools_that_the_organisation_sees_count(world: System, vectors: TableEmbedder) -> None:
    vectors.table |= {RAIN: at(0.2, axis=1), PICNIC: at(0.2, axis=2), NEED: at(0.2, axis=3)}
    [of_acme] = world.put("forecast", caller=ACME)
    [of_all] = world.put("global_forecast")
    world.tool("of_umbrella", at(0.2, axis=1), org="umbrella")
    world.tool("of_acme", at(0.2, axis=2), org="acme")
    world.tool("of_all", at(0.2, axis=3))

    world.classify(of_acme)
    world.classify(of_all)

    assert [text for text, _ in requests_of(world, of_acme, ACME)] == [RAIN]
    assert [text for text, _ in requests_of(world, of_all)] == [RAIN, PICNIC]


def test_who_got_requests_first_does_not_keep_its_sibling_from_the_same(world: System, vectors: TableEmbedder) -> None:
    vectors.table |= dict.fromkeys(WRITTEN, at(0.2))
    first, second = world.put("rain_today", "rain_tomorrow")

    world.classify(first)
    world.classify(second)

    assert requests_of(world, first) == requests_of(world, second) == BY_MODEL


def test_inside_postgresql_requests_are_compared_as_well(
    database_url: str, edge_indexes: EdgeIndexes, model: Model, vectors: TableEmbedder
) -> None:
    vectors.table |= {PICNIC: at(0.2)}
    classifier = LlmClassifier(model, writes_requests=True)
    with lent_system(database_url, edge_indexes, classifier=classifier, embedder=vectors, index="postgres") as system:
        [tool_id] = system.put("forecast")
        system.tool("book_table", at(0.2))

        system.classify(tool_id)

        assert requests_of(system, tool_id) == [(RAIN, "llm"), (NEED, "llm")]


@pytest.mark.parametrize("index", ["auto", "embedded"])
def test_functions_that_write_have_no_replica_and_ask_postgresql(world: System, index: str) -> None:
    settings = world.settings.model_copy(update={"lambda_function": "classify", "index": index})
    parts = Parts(settings, embedder=world.embedder, replica=world.replica, database=world.database)
    assert isinstance(parts.requests.index, PostgresReplica)
    assert world.parts.requests.index is world.replica
