"""A text that the embedding model refuses for good: parked with its reason, said in the answer, in nobody's way."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from skillroute.catalogue.collection import TOOL_DOCUMENTS
from skillroute.core.caller import LAPTOP
from skillroute.core.documents.embed import BATCH
from skillroute.core.documents.refused import RefusedTexts
from skillroute.core.embedding.views import HARMLESS
from skillroute.core.errors.model import TextRefused
from skillroute.mail.collection import MAIL_DOCUMENTS
from skillroute.mail.model import MailKind
from skillroute.mail.search.model import MessageSearchRequest
from skillroute.registry.collection import REGISTRY_DOCUMENTS
from skillroute.registry.model import EntityKind
from skillroute.skills.answers import SkillOut

from tests.builders import System, item, of_org
from tests.doubles import LogRecords, TableEmbedder, at
from tests.worlds.mail import message

Counted = Callable[[str], float]

ACME, GLOBEX = of_org("acme"), of_org("globex")
BAD = {"description": "Poison."}


def poison(text: str) -> bool:
    return "poison" in text.lower()


@pytest.fixture
def picky(system: System) -> System:
    """A system whose model takes no text with poison in it."""
    system.embedder.refuses = poison
    return system


def put(system: System, *items: Any, caller: Any = LAPTOP) -> Any:
    return system.parts.catalogue.sync(list(items), caller)


def put_entity(system: System, kind: EntityKind = "server", **said: Any) -> Any:
    return system.parts.registry.sync(kind, [{"path": "/c7", "name": "Context7", **said}], LAPTOP)


def put_mail(system: System, kind: MailKind, *things: Any) -> Any:
    return system.parts.mail.sync(kind, list(things), LAPTOP)


def stored(system: System) -> dict[str, str]:
    """Return the reasons of what is refused, by document."""
    rows = system.rows("SELECT collection || '/' || key, refusal FROM mcp.document_vectors WHERE refusal IS NOT NULL")
    return dict(rows)


def asked_again(system: System, work: Callable[[], object]) -> list[str]:
    """Return what the model is asked for by some work."""
    system.embedder.calls.clear()
    work()
    return system.embedder.texts


# Writing


def test_of_one_call_the_bad_item_is_refused_and_all_others_are_embedded(
    picky: System, log: LogRecords, counted: Counted
) -> None:
    report = put(picky, *(item(f"t{n}") for n in range(BATCH)), item("bad", **BAD))
    assert {each.status for each in report.outcomes} == {"created"}
    assert [each.is_refused for each in report.outcomes] == [False] * BATCH + [True]
    assert (report.embedding_unavailable, report.embedding_refused) == (False, True)
    [reason] = stored(picky).values()
    assert "answered 400" in reason
    assert "t1" not in reason
    assert picky.rows("SELECT count(embedding) FROM mcp.document_vectors") == [[BATCH]]
    assert len(log.having("items refused by the embedding model")) == 1
    assert (counted("EmbeddingRefused"), counted("EmbeddingFailed")) == (1, 0)


def test_it_is_not_asked_for_again_until_its_text_is_another_and_each_write_says_so(picky: System) -> None:
    put(picky, item("bad", **BAD))
    reports: list[Any] = []
    assert asked_again(picky, lambda: reports.append(put(picky, item("bad", **BAD)))) == []
    assert asked_again(picky, lambda: reports.append(put(picky, item("bad", tags=["new"], **BAD)))) == []
    assert asked_again(picky, picky.parts.relay) == []
    assert [each.outcomes[0].status for each in reports] == ["unchanged", "updated"]
    assert [(each.outcomes[0].is_refused, each.embedding_refused) for each in reports] == [(True, True)] * 2
    # WHEN it says something else
    report = put(picky, item("bad", description="Good."))
    assert (report.outcomes[0].is_refused, report.embedding_refused, stored(picky)) == (False, False, {})
    assert picky.is_embedded(TOOL_DOCUMENTS, report.outcomes[0].id)


def test_a_model_that_refuses_everything_parks_nothing(picky: System) -> None:
    """A wrong model name is a 400 as well."""
    picky.embedder.refuses = lambda text: True
    report = put(picky, item("a"), item("b"))
    assert (report.embedding_unavailable, report.embedding_refused) == (True, False)
    assert stored(picky) == {}
    assert picky.parts.relay().failed == ["embed"]
    assert stored(picky) == {}
    # WHEN the name is right
    picky.embedder.refuses = poison
    assert picky.parts.relay().embedded == 2


def test_the_first_text_of_all_may_be_refused(picky: System) -> None:
    """The refusal is of a model, which is the first one then."""
    put(picky, item("bad", **BAD))
    assert picky.rows("SELECT embedding_model FROM mcp.index_state") == [["table"]]
    assert len(stored(picky)) == 1


def test_a_server_says_of_itself_and_of_how_many_of_its_tools(picky: System) -> None:
    report = put_entity(picky, tools=[item("good"), item("bad", **BAD)])
    # What its tools say it says too.
    [outcome] = report.outcomes
    assert (outcome.is_refused, outcome.tools.refused, report.embedding_unavailable) == (True, 1, False)
    again: list[Any] = []
    assert asked_again(picky, lambda: again.append(put_entity(picky, tools=[item("good"), item("bad", **BAD)]))) == []
    [outcome] = again[0].outcomes
    assert (outcome.status, outcome.is_refused, outcome.tools.refused) == ("unchanged", True, 1)
    assert again[0].embedding_refused
    assert not put_entity(picky, tools=[item("good")]).embedding_refused


def test_items_say_when_it_is_their_server_that_is_refused(picky: System) -> None:
    put_entity(picky, name="Poison", path="/c7", tools=[])
    report = put(picky, item("good", server="c7"))
    assert (report.outcomes[0].is_refused, report.embedding_refused) == (False, True)


def test_an_agent_is_refused_beside_one_that_is_not(picky: System) -> None:
    agents = [{"name": "Planner", "path": "/a"}, {"name": "Poison", "path": "/b"}]
    for _ in range(2):
        report = picky.parts.registry.sync("agent", agents, LAPTOP)
        assert [each.is_refused for each in report.outcomes] == [False, True]


def test_a_message_is_refused_beside_one_that_is_not(picky: System) -> None:
    put_mail(picky, "project", {"key": "atlas", "name": "Atlas"})
    messages = [message("m1"), message("m2", body="Poison.")]
    report = put_mail(picky, "message", *messages)
    assert [(each.status, each.is_refused) for each in report.outcomes] == [("created", False), ("created", True)]
    assert (report.embedding_unavailable, report.embedding_refused) == (False, True)
    again: list[Any] = []
    assert asked_again(picky, lambda: again.append(put_mail(picky, "message", *messages))) == []
    assert [(each.status, each.is_refused) for each in again[0].outcomes] == [("unchanged", False), ("unchanged", True)]


def test_what_is_refused_is_said_though_there_was_no_time_for_the_rest(picky: System) -> None:
    put_mail(picky, "project", {"key": "atlas", "name": "Atlas"})

    def goes(text: str) -> bool:
        picky.embedder.away = text == HARMLESS
        return poison(text)

    picky.embedder.refuses = goes
    later = [message(f"m{n}", body=f"Message {n}.") for n in range(2)]
    report = put_mail(picky, "message", message("m", body="Poison."), *later)
    assert [each.is_refused for each in report.outcomes] == [True, False, False]
    assert (report.embedding_unavailable, report.embedding_refused) == (True, True)


def test_a_skill_whose_description_is_refused_is_stored_and_found_by_its_words(picky: System) -> None:
    created = picky.create("s", description="Poison and antidotes.")
    assert len(stored(picky)) == 1
    # AND the answer says so, as that of every later read does
    answer = SkillOut.of(created)
    assert (answer.is_embedded, answer.refusal) == (False, TextRefused.public_message)
    picky.embedder.away = True
    [skill], _ = picky.parts.tool_search.skills("antidotes", LAPTOP)
    assert skill.id == "s"


def test_a_skill_that_is_given_a_refused_description_is_not_found_by_its_former_one(picky: System) -> None:
    """What it was found by until there is a vector of the new text would serve for ever."""
    picky.create("s")
    picky.change("s", description="Poison and antidotes.")
    assert (len(stored(picky)), picky.vector("s")) == (1, None)
    changed = SkillOut.of(picky.change("s", description="Antidotes."))
    assert (stored(picky), picky.vector("s") is not None) == ({}, True)
    assert (changed.is_embedded, changed.refusal) == (True, None)


# The relay


def test_the_relay_parks_what_was_written_while_the_model_was_away_and_embeds_the_rest(
    picky: System, log: LogRecords
) -> None:
    """One organisation's bad text held up the vectors of all others, for ever."""
    picky.embedder.away = True
    for caller in (ACME, GLOBEX):
        put(picky, *(item(f"t{n}") for n in range(BATCH)), caller=caller)
    put(picky, item("t7", **BAD), caller=ACME)
    put_entity(picky, "agent", name="Poison")
    put_mail(picky, "project", {"key": "atlas", "name": "Poison"}, {"key": "b", "name": "Good"})
    picky.create("s", description="Poison and antidotes.")
    picky.embedder.away = False
    report = picky.parts.relay()
    assert (report.embedded, report.failed) == (2 * BATCH - 1 + 1, [])
    assert len(stored(picky)) == 4
    assert picky.rows("SELECT count(*) FROM mcp.document_vectors WHERE embedding IS NULL AND refusal IS NULL") == [[0]]
    # AND never asks for them again
    assert asked_again(picky, picky.parts.relay) == []


def test_more_bad_texts_than_the_relay_looks_at_at_once_keep_nobody_waiting(picky: System) -> None:
    picky.embedder.away = True
    put(picky, *(item(f"bad{n}", **BAD) for n in range(400)), caller=ACME)
    put(picky, *(item(f"good{n}") for n in range(200)), caller=GLOBEX)
    picky.embedder.away = False
    assert picky.parts.relay().embedded == 200
    assert len(stored(picky)) == 400


def test_a_text_that_is_written_while_its_forerunner_is_refused_is_embedded(picky: System) -> None:
    picky.embedder.away = True
    put(picky, item("bad", **BAD))
    picky.embedder.away = False
    real = picky.embedder.refuses

    def overtaken(text: str) -> bool:
        if real(text):
            picky.embedder.refuses = real
            put(picky, item("bad", description="Good."))
        return real(text)

    picky.embedder.refuses = overtaken
    picky.parts.relay()
    assert (stored(picky), picky.rows("SELECT count(embedding) FROM mcp.document_vectors")) == ({}, [[1]])


def test_a_reindex_parks_what_the_model_refuses_and_goes_through(picky: System) -> None:
    put(picky, item("good"), item("bad", **BAD))
    picky.sql("DELETE FROM mcp.document_vectors")
    assert picky.parts.reindex().embedded[TOOL_DOCUMENTS] == 1
    assert (len(stored(picky)), picky.parts.reindex.remaining()) == (1, 0)


def test_another_model_is_asked_for_what_this_one_refuses(picky: System) -> None:
    """Decision 37."""
    put(picky, item("bad", **BAD))
    picky.embedder._inner = TableEmbedder(name="another")
    picky.embedder.refuses = lambda text: False
    assert picky.parts.reindex.remaining() == 1
    picky.parts.reindex()
    assert picky.models(TOOL_DOCUMENTS) == ["another"]


# Searching


def test_a_refused_query_degrades_that_search_and_no_other(picky: System, log: LogRecords, counted: Counted) -> None:
    """Decision 9: the failure of a model is remembered, and this is none."""
    picky.put("remedy", description="Finds an antidote.")
    answer = picky.search("poison antidote", strategy="direct")
    assert [tool.name for tool in answer.tools] == ["remedy"]
    assert (answer.metadata.search_mode, answer.metadata.degraded) == ("lexical-only", ["embedding_unavailable"])
    assert (counted("EmbeddingRefused"), counted("EmbeddingFailed")) == (1, 0)
    assert len(log.having("query refused by the embedding model")) == 1
    assert picky.search("remedy").metadata.degraded == []


def test_a_tool_that_is_refused_is_found_by_its_words(picky: System) -> None:
    picky.put("bad", **BAD)
    assert picky.names("bad", mode="lexical", strategy="direct") == ["bad"]


def test_skills_and_their_tools_that_are_refused_are_no_error_of_an_aggregation(picky: System) -> None:
    """skill-contract BR-004: what has no vector does not count."""
    picky.create("s", description="Poison and antidotes.")
    [bad, good] = [*picky.put("bad", **BAD), *picky.put("good")]
    for tool in (bad, good):
        picky.assign(tool, s=0.9)
    picky.parts.relay()
    assert picky.vector("s") is not None


# Looking at them, and trying again


def test_an_operator_sees_whose_they_are_and_why(picky: System) -> None:
    put(picky, item("good"), item("bad", **BAD), caller=ACME)
    put_entity(picky, "agent", name="Poison")
    texts = RefusedTexts(picky.database)
    found = texts.listed()
    assert [(each.collection, each.org_id, each.name, each.model) for each in found] == [
        (REGISTRY_DOCUMENTS, None, "Poison", "table"),
        (TOOL_DOCUMENTS, "acme", "bad", "table"),
    ]
    assert all("answered 400" in each.reason for each in found)
    assert (texts.listed(TOOL_DOCUMENTS), texts.listed(limit=1), texts.count()) == (found[1:], found[:1], 2)


def test_what_is_retried_is_asked_for_by_the_relay_once_more(picky: System) -> None:
    ids = [str(id_) for id_ in picky.put("bad1", "bad2", **BAD)]
    texts = RefusedTexts(picky.database)
    assert texts.retry(MAIL_DOCUMENTS) == []
    assert texts.retry(TOOL_DOCUMENTS, [ids[0], "999"]) == ids[:1]
    # GIVEN a model that still does not take it, THEN it is refused again
    picky.parts.relay()
    assert texts.count() == 2
    # WHEN it takes it
    picky.embedder.refuses = lambda text: False
    assert texts.retry() == ids
    assert (picky.parts.relay().embedded, texts.count()) == (2, 0)


# What no search by meaning finds


@pytest.mark.parametrize("away", [True, False], ids=["waiting", "refused"])
def test_an_empty_answer_says_when_what_matches_has_no_vector(picky: System, away: bool) -> None:
    """It is never empty with nothing degraded; decision 30: for those who see what it is."""
    picky.embedder.away = away
    put(picky, item("bad", **BAD), item("phial", description="Poison and antidotes."), caller=ACME)
    picky.create("s", ACME, description="Poison and antidotes.")
    picky.embedder.away = False
    degraded = [
        picky.search("bad", caller=caller, strategy=strategy).metadata.degraded
        for strategy in ("direct", "hierarchical", "hybrid")
        for caller in (ACME, GLOBEX)
    ]
    assert degraded == [["vectors_missing"], []] * 3
    for caller, expected in ((ACME, ["vectors_missing"]), (GLOBEX, [])):
        of_mode = {"mode": "hybrid", "strategy": "direct", "tool_threshold": 0.3}
        assert picky.search("antidotes", caller=caller, **of_mode).metadata.degraded == expected
        assert picky.parts.tool_search.skills("antidotes", caller, mode="hybrid")[1].degraded == expected
        assert picky.parts.tool_search.tools("bad", caller)[1].degraded == expected
        assert picky.parts.tool_search.skills("antidotes", caller)[1].degraded == expected


def test_an_answer_that_is_empty_because_nothing_is_near_says_nothing(picky: System) -> None:
    """search-contract EC-003: what has a vector and is too far is not found, and nothing failed."""
    picky.tool("far", at(0.1))
    picky.put("bad", **BAD)
    assert picky.search("far", strategy="direct").metadata.degraded == []
    assert picky.search("nothing of the kind", strategy="direct").metadata.degraded == []


def test_when_it_cannot_be_told_whether_vectors_are_missing_the_answer_says_so(picky: System) -> None:
    picky.tool("far", at(0.1))
    picky.search("warm")
    picky.database.down = True
    assert picky.search("far", strategy="direct", include_schemas=False).metadata.degraded == ["vectors_missing"]


def test_messages_without_any_vector_are_searched_by_words_and_the_answer_says_so(picky: System) -> None:
    put_mail(picky, "project", {"key": "atlas", "name": "Atlas"})
    put_mail(picky, "message", message(subject="Poison", body="An antidote."))
    found = picky.parts.messages.search(MessageSearchRequest(text="antidote", mode="semantic", explain=True), LAPTOP)
    assert (len(found.results), found.mode) == (1, "lexical")
    assert found.explain is not None
    assert found.explain.downgrade_reason == "feature_unavailable"
