"""The check of everything: what is broken by hand is found and named, one at a time, and nothing else is."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest
from skillroute.catalogue.collection import TOOL_DOCUMENTS
from skillroute.core.caller import LAPTOP
from skillroute.core.documents.collection import Collection
from skillroute.core.documents.index.guarded import GuardedIndex
from skillroute.core.documents.index.port import VectorIndex
from skillroute.core.documents.model import IndexRecord
from skillroute.core.documents.verify import Verify
from skillroute.core.embedding.model import EmbeddingModel, Vector, to_bytes
from skillroute.skills.collection import SKILL_DOCUMENTS

from tests.builders import System
from tests.doubles import at, proposing
from tests.integration.rows import connected

TOOLS, SKILLS = TOOL_DOCUMENTS, SKILL_DOCUMENTS
IN_TOOLS = "the index mcp_unified_search says what PostgreSQL does"
IN_SKILLS = "the index mcp_skills says what PostgreSQL does"


@pytest.fixture(autouse=True)
def catalogue(system: System) -> None:
    """Two skills; the tools 1 (in both), 2 (in one) and 3 (in none, with a suggestion); nothing waits."""
    system.create("mail")
    system.create("maps")
    a, b, c = system.tools([("a", at(0.6, axis=1)), ("b", at(0.6, axis=2)), ("c", at(0.6, axis=3))])
    system.assign(a, mail=0.9, maps=0.8)
    system.classifier.answers = {"b": proposing(mail=0.9), "c": proposing("Video")}
    system.classify(b, c)


def findings(system: System) -> list[tuple[str, str, str]]:
    return [(each.rule, each.subject, each.detail) for each in system.parts.verify().findings]


def in_index(
    collection: Collection, key: str, *, vector: Vector | None = None, **payload: Any
) -> Callable[[System], None]:
    """Return what writes a record into the index that differs from PostgreSQL's in its vector or its payload."""

    def write(system: System) -> None:
        with system.replica.current() as index:
            [record] = system.feed.load(collection, [key], system.embedder.model)
            changed = replace(record, vector=vector or record.vector, payload={**record.payload, **payload})
            index.upsert(collection, [changed])

    return write


def not_in_index(collection: Collection, key: str) -> Callable[[System], None]:
    def delete(system: System) -> None:
        with system.replica.current() as index:
            index.delete(collection, [key])

    return delete


def left_in_index(system: System) -> None:
    """Leave a tool in the index that is not in PostgreSQL."""
    with system.replica.current() as index:
        [record] = system.feed.load(TOOLS, ["1"], system.embedder.model)
        index.upsert(TOOLS, [replace(record, key="99")])


def in_rows(statement: str) -> Callable[[System], None]:
    return lambda system: system.sql(statement)


OFF = to_bytes(at(0.0, axis=7)).hex()
ASSIGNED = "mcp.tool_skill_assignments"


def test_of_a_sound_catalogue_everything_is_counted_and_nothing_found(system: System) -> None:
    report = system.parts.verify()
    assert (report.checked[TOOLS], report.checked[SKILLS], report.findings) == (3, 2, [])


@pytest.mark.parametrize(
    ("break_it", "rule", "subject", "detail"),
    [
        (in_index(TOOLS, "1", vector=at(0.5, axis=6)), IN_TOOLS, "1", "its vector is another one"),
        (in_index(SKILLS, "mail", vector=at(0.5, axis=6)), IN_SKILLS, "mail", "its vector is another one"),
        (in_index(TOOLS, "1", description="Other."), IN_TOOLS, "1", "it differs in description"),
        (in_index(SKILLS, "mail", name="Other"), IN_SKILLS, "mail", "it differs in name"),
        (not_in_index(TOOLS, "2"), IN_TOOLS, "2", "it is not in the index"),
        (left_in_index, IN_TOOLS, "99", "it is in the index, but should not be"),
        (
            in_rows(f"UPDATE {ASSIGNED} SET is_primary = false WHERE tool_id = 1"),
            "one primary skill for each assigned tool",
            "1",
            "0 primary skills",
        ),
        (
            in_rows(
                f"UPDATE {ASSIGNED} SET is_primary = false WHERE tool_id = 1;"
                f"UPDATE {ASSIGNED} SET is_primary = true WHERE tool_id = 1 AND skill_key = 'maps'"
            ),
            "the primary skill has the highest confidence",
            "1",
            "maps has a lower confidence than mail",
        ),
        (
            in_rows("UPDATE mcp.skill_categories SET deleted_at = now(), is_active = false WHERE id = 'maps'"),
            "assignments are of tools and skills that exist",
            "1",
            "maps",
        ),
        (
            in_rows(f"UPDATE mcp.document_vectors SET derived = decode('{OFF}', 'hex') WHERE key = 'mail'"),
            "a skill is found by the mean of its tools",
            "mail",
            "away from it",
        ),
        (
            in_rows("DELETE FROM mcp.tool_classifications WHERE tool_id = 3"),
            "every tool is decided on or waits",
            "3",
            "it waits nowhere",
        ),
        (
            in_rows("DELETE FROM mcp.skill_suggestions"),
            "a tool that fits no skill has a suggestion",
            "3",
            "none was ever made",
        ),
        (
            in_rows(f"DELETE FROM mcp.documents WHERE collection = '{TOOLS.value}' AND key = '3'"),
            "every item has a document",
            "3",
            "it has none",
        ),
    ],
    ids=[
        "a tool's vector in the index",
        "a skill's vector in the index",
        "a tool's payload in the index",
        "a skill's payload in the index",
        "missing in the index",
        "left in the index",
        "no primary",
        "another primary",
        "a deleted skill's assignment",
        "a skill's embedding",
        "waits nowhere",
        "no suggestion",
        "no document",
    ],
)
def test_what_is_broken_is_found_and_named(
    system: System, break_it: Callable[[System], None], rule: str, subject: str, detail: str
) -> None:
    break_it(system)
    [found] = findings(system)
    assert (found[:2], detail in found[2]) == ((rule, subject), True)


def test_an_assignment_of_a_tool_that_changed_hands_at_a_prompt_is_found_and_mended(system: System) -> None:
    system.sql("UPDATE mcp.tools SET org_id = 'acme' WHERE id = 1")
    rule = "an assignment belongs to whom its tool does"
    assert {found for found in findings(system) if found[0] == rule} == {(rule, "1", "mail"), (rule, "1", "maps")}
    system.sql(f"UPDATE {ASSIGNED} SET owner = owner")
    assert [found for found in findings(system) if found[0] == rule] == []


def test_an_item_without_a_document_gets_one_when_it_is_written_again(system: System) -> None:
    system.sql(f"DELETE FROM mcp.documents WHERE collection = '{TOOLS.value}' AND key = '3'")
    assert [found[:2] for found in findings(system)] == [("every item has a document", "3")]
    system.tools([("c", at(0.6, axis=3))])
    assert findings(system) == []


def test_a_document_that_does_not_say_whose_it_is_is_found(system: System) -> None:
    system.sql(f"UPDATE mcp.documents SET payload = payload - 'org_id' WHERE collection = '{TOOLS}' AND key = '1'")
    rule = f"a document of {TOOLS} is what its row says"
    assert findings(system) == [(rule, "1", "its organisation or payload differs")]


def test_a_tool_that_waits_is_no_finding(system: System) -> None:
    system.put("new")
    assert findings(system) == []


def test_a_skill_whose_aggregation_waits_may_be_behind(system: System) -> None:
    system.sql(f"UPDATE {ASSIGNED} SET confidence = 0.5 WHERE skill_key = 'mail' AND tool_id = 2")
    assert (system.waiting("aggregate"), findings(system)) == (["mail"], [])


def test_whoever_holds_a_skill_or_a_server_does_not_keep_the_check_waiting(system: System) -> None:
    # GIVEN a writer in the middle of a change
    system.parts.registry.sync("server", [{"name": "post", "description": "Sends letters."}], LAPTOP)
    with connected(system.url) as other:
        other("BEGIN")
        for table in ("skill_categories", "registry_entities"):
            other(f"SELECT id FROM mcp.{table} FOR UPDATE")
        # WHEN all is checked THEN nothing waits for that writer, who would keep it for longer than a statement may take
        assert findings(system) == []
        other("ROLLBACK")


# What is not so any more is no finding


@pytest.fixture
def held_rebuild(system: System) -> Iterator[threading.Event]:
    """An index that must be built anew, and is not until the event is set."""
    with system.replica.current():
        pass
    goes_on = threading.Event()
    load_all = system.feed.load_all

    def waiting(collection: Collection, model: EmbeddingModel) -> Iterator[list[IndexRecord]]:
        goes_on.wait()
        return load_all(collection, model)

    system.feed.load_all = waiting  # type: ignore[method-assign]
    system.sql("UPDATE mcp.index_state SET epoch = gen_random_uuid()")
    yield goes_on
    goes_on.set()
    system.replica.wait_for_rebuild()


def test_an_index_that_is_being_built_anew_is_waited_for(system: System, held_rebuild: threading.Event) -> None:
    # GIVEN an index that lacks a tool, and another one that is being made
    not_in_index(TOOLS, "2")(system)
    pauses: list[float] = []

    def pause(seconds: float) -> None:
        assert system.replica.status().rebuilding or held_rebuild.is_set()
        pauses.append(seconds)
        held_rebuild.set()
        system.replica.wait_for_rebuild()

    # WHEN all is checked meanwhile
    verify = Verify(system.database, system.feed, system.replica, pause=pause)
    # THEN the other one counts, and nothing is wrong with it
    assert verify().findings == []
    assert len(pauses) == 1


def test_what_is_written_at_every_look_is_no_finding_and_hides_none(system: System) -> None:
    # GIVEN a tool that is changed whenever the check has seen the index, and one that the index lacks
    not_in_index(TOOLS, "2")(system)
    load = system.feed.load
    looks: list[int] = []

    def changed(collection: Collection, keys: Any, model: EmbeddingModel) -> list[IndexRecord]:
        if collection is TOOLS and "1" in keys:
            looks.append(1)
            system.sql(f"UPDATE mcp.tools SET description = 'Look {len(looks)}.' WHERE id = 1")
        return load(collection, keys, model)

    verify = Verify(system.database, system.feed, Untouched(system, changed, load))  # type: ignore[arg-type]
    assert [(each.rule, each.subject) for each in verify().findings] == [(IN_TOOLS, "2")]
    assert len(looks) > 3
    # AND once nobody writes any more, it is as good as the others
    assert findings(system) == [(IN_TOOLS, "2", "it is not in the index")]


def test_what_an_open_transaction_keeps_in_the_feed_is_found_all_the_same(system: System) -> None:
    # GIVEN a transaction that stays open, behind which the position of every look stays
    with connected(system.url) as other:
        other("BEGIN")
        other("SELECT pg_current_xact_id()")
        system.sql("UPDATE mcp.tools SET description = 'New.' WHERE id = 2")
        not_in_index(TOOLS, "2")(system)
        assert findings(system) == [(IN_TOOLS, "2", "it is not in the index")]
        other("ROLLBACK")


def test_an_index_that_must_be_read_anew_since_the_look_is_none_to_judge_by(system: System) -> None:
    # GIVEN an index that lacks a tool, and a new epoch at every look at it
    not_in_index(TOOLS, "2")(system)

    class Outdated:
        status = system.replica.status

        @contextmanager
        def current(self, on_stale: object = None) -> Iterator[VectorIndex]:
            system.sql("UPDATE mcp.index_state SET epoch = gen_random_uuid()")
            yield GuardedIndex(system.index, system.embedder.model)

    verify = Verify(system.database, system.feed, Outdated())  # type: ignore[arg-type]
    assert verify().findings == []
    # AND of the same one, once nobody asks for another, it is told
    lent = SimpleNamespace(
        status=system.replica.status, current=lambda: nullcontext(GuardedIndex(system.index, system.embedder.model))
    )
    verify = Verify(system.database, system.feed, lent)  # type: ignore[arg-type]
    assert [each.subject for each in verify().findings] == ["2"]


class Untouched:
    """The replica, which reads the feed as it is; whoever asks it for an index reads what a test makes of the feed."""

    def __init__(self, system: System, changed: Any, load: Any) -> None:
        self._system = system
        self._changed = changed
        self._load = load
        self.status = system.replica.status

    @contextmanager
    def current(self, on_stale: object = None) -> Iterator[VectorIndex]:
        self._system.feed.load = self._load  # type: ignore[method-assign]
        with self._system.replica.current() as index:
            self._system.feed.load = self._changed  # type: ignore[method-assign]
            try:
                yield index
            finally:
                self._system.feed.load = self._load  # type: ignore[method-assign]
