"""Requests that the classifier writes in the call that classifies (docs/adr/0067; decision 42)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from skillroute.catalogue.collection import TOOL_DOCUMENTS
from skillroute.core.caller import LAPTOP
from skillroute.core.errors.model import IndexUnavailable
from skillroute.skills.classification.model import Decision

from tests.builders import System
from tests.component.skills.requesting import BY_MODEL, NEED, PICNIC, RAIN, WRITTEN, Model, classified, requests_of
from tests.doubles import LogRecords


def texts_of(system: System, tool_id: int) -> list[str]:
    return system.texts(TOOL_DOCUMENTS, tool_id)


def test_the_call_that_classifies_writes_requests_too_and_the_vector_is_made_of_them(
    world: System, model: Model, counted: Callable[[str], float]
) -> None:
    [tool_id] = world.put("forecast", description="Returns a forecast.", server="sky")
    before = texts_of(world, tool_id)

    [outcome] = world.classify(tool_id)

    assert (outcome.decision, len(model.asked), model.asked_for_requests) == (Decision.CLASSIFIED, 1, [True])
    assert requests_of(world, tool_id) == BY_MODEL
    assert texts_of(world, tool_id) == [*before, *WRITTEN]
    assert world.is_embedded(TOOL_DOCUMENTS, tool_id)
    assert world.skills_of(tool_id) == ["weather"]
    assert (counted("RequestsWritten"), counted("RequestsDropped")) == (3, 0)


def test_requests_queue_no_tool_and_it_is_not_asked_about_again(world: System, model: Model) -> None:
    [tool_id] = world.put("forecast")
    world.classify(tool_id)
    assert world.waiting("classify") == []

    [again] = world.classify(tool_id)

    assert (again.decision, len(model.asked)) == (Decision.UNCHANGED, 1)
    # AND forced, it is asked about its skills alone
    world.classify(tool_id, force=True)
    assert model.asked_for_requests == [True, False]
    assert requests_of(world, tool_id) == BY_MODEL


@pytest.mark.parametrize("source", ["person", "import"])
def test_people_s_requests_stay_and_no_others_are_asked_for(world: System, model: Model, source: str) -> None:
    [tool_id] = world.put("forecast", requests=[{"text": "rain?", "source": source}])

    world.classify(tool_id)

    assert (requests_of(world, tool_id), model.asked_for_requests) == ([("rain?", source)], [False])


def test_what_a_person_writes_while_the_model_thinks_stays(world: System, model: Model) -> None:
    [tool_id] = world.put("forecast")
    theirs = {"text": "rain?", "source": "person"}
    model.while_asked = lambda: world.put("forecast", requests=[theirs]) and None

    [outcome] = world.classify(tool_id)

    assert (outcome.decision, requests_of(world, tool_id)) == (Decision.CLASSIFIED, [("rain?", "person")])


def test_a_tool_that_changes_before_they_are_stored_does_not_get_those_of_its_former_text(world: System) -> None:
    [tool_id] = world.put("forecast", description="Of rain.")
    write = world.parts.requests.write
    nearest = write._nearest

    def change_first(*asked: Any) -> Any:
        world.put("forecast", description="Of stocks.")
        return nearest(*asked)

    write._nearest = change_first  # type: ignore[assignment]
    world.classify(tool_id)

    assert requests_of(world, tool_id) == []
    assert world.waiting("classify") == [str(tool_id)]


def test_a_changed_description_replaces_the_model_s_requests_at_the_next_classification(
    world: System, model: Model
) -> None:
    [tool_id] = world.put("forecast", description="Of rain.")
    world.classify(tool_id)
    world.put("forecast", description="Of snow.")
    assert requests_of(world, tool_id) == BY_MODEL
    model.reply = classified(["Can we go skiing?"], weather=0.9)

    world.classify(tool_id)

    assert requests_of(world, tool_id) == [("Can we go skiing?", "llm")]
    assert texts_of(world, tool_id)[3:] == ["Can we go skiing?"]
    assert world.waiting("classify") == []


def test_those_of_a_former_text_go_even_where_no_new_one_is_kept(world: System, model: Model) -> None:
    [tool_id] = world.put("forecast", description="Of rain.")
    world.classify(tool_id)
    world.put("forecast", description="Of snow.")
    model.reply = classified(["Of snow."], weather=0.9)

    world.classify(tool_id)

    assert requests_of(world, tool_id) == []


@pytest.mark.parametrize(
    "rubbish", [None, "rain", {}, 7, [], [None, 7, {}], ["x" * 301], ["Returns a forecast."], ["a\u200bb"], ["?"]]
)
def test_rubbish_costs_no_classification(world: System, model: Model, rubbish: object) -> None:
    [tool_id] = world.put("forecast", description="Returns a forecast.")
    model.reply = classified(rubbish, weather=0.9)

    [outcome] = world.classify(tool_id)

    assert (outcome.decision, world.skills_of(tool_id)) == (Decision.CLASSIFIED, ["weather"])
    assert requests_of(world, tool_id) == []


def test_more_than_three_are_too_many(world: System, model: Model, counted: Callable[[str], float]) -> None:
    [tool_id] = world.put("forecast")
    model.reply = classified([*WRITTEN, "four of them", "five of them"], weather=0.9)

    world.classify(tool_id)

    assert requests_of(world, tool_id) == BY_MODEL
    assert counted("RequestsDropped") == 2


def test_without_the_index_none_is_kept_and_the_log_says_so(
    world: System, log: LogRecords, counted: Callable[[str], float]
) -> None:
    [tool_id] = world.put("forecast")
    world.index.fail(TOOL_DOCUMENTS, IndexUnavailable("the index is away"))

    [outcome] = world.classify(tool_id)

    assert (outcome.decision, requests_of(world, tool_id)) == (Decision.CLASSIFIED, [])
    assert counted("RequestsDropped") == 3
    [record] = [record for record in log.records if record.getMessage() == "requests of tools not written"]
    assert "the index is away" in record.reason  # type: ignore[attr-defined]


def test_without_the_embedding_model_none_is_kept(world: System) -> None:
    [tool_id] = world.put("forecast")
    world.embedder.away = True

    [outcome] = world.classify(tool_id)

    assert (outcome.decision, requests_of(world, tool_id)) == (Decision.CLASSIFIED, [])


def test_a_request_that_the_embedding_model_refuses_takes_no_other_with_it(world: System) -> None:
    [tool_id] = world.put("forecast")
    world.embedder.refuses = lambda text: text == PICNIC

    world.classify(tool_id)

    assert requests_of(world, tool_id) == [(RAIN, "llm"), (NEED, "llm")]
    assert world.is_embedded(TOOL_DOCUMENTS, tool_id)


def test_prompts_and_resources_get_none(world: System, model: Model) -> None:
    world.classify(*world.put("greet", type="prompt"), *world.put("readme", type="resource"))
    assert model.asked_for_requests == [False, False]


def test_switched_off_tools_get_theirs_too(world: System) -> None:
    [tool_id] = world.put("forecast")
    world.parts.catalogue.switch(tool_id, is_active=False, caller=LAPTOP)
    world.classify(tool_id)
    assert requests_of(world, tool_id) == BY_MODEL


def test_one_item_of_many_is_left_where_it_went_meanwhile(world: System) -> None:
    kept, gone = world.put("forecast", "rain_radar")
    nearest = world.parts.requests.write._nearest

    def delete_first(*asked: Any) -> Any:
        world.parts.catalogue.read.delete(gone, LAPTOP, None)
        return nearest(*asked)

    world.parts.requests.write._nearest = delete_first  # type: ignore[assignment]
    world.classify(kept, gone)

    assert requests_of(world, kept) == BY_MODEL
