"""Questions that are put to PostgreSQL ahead: fewer round trips, and the same answers as without (ADR 61)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing
from typing import Any

import pytest
from skillroute.catalogue.collection import TOOL_DOCUMENTS
from skillroute.core.documents.index.ahead import ByWords, Counted, LookedUp, Matching, Nearest, Question, ask_ahead
from skillroute.core.documents.index.ahead import forget as forget_all
from skillroute.core.documents.index.postgres import PostgresIndex
from skillroute.core.documents.model import IndexFilter, IndexRecord
from skillroute.core.embedding.model import EmbeddingModel
from skillroute.core.postgres.pool import Pool
from skillroute_local.connect.memory_index import MemoryIndex

from tests.doubles import FaultyDatabase
from tests.searched_documents import DocumentsIndex, search_in

TOOLS = TOOL_DOCUMENTS
MODEL = EmbeddingModel("m", 3)
FIRST, SECOND = [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]
OF_A, OF_NONE = IndexFilter({"org_id": ["a"]}), IndexFilter({"org_id": []})


@pytest.fixture
def pool(database_url: str) -> Iterator[Pool]:
    with closing(Pool(database_url)) as pool:
        search_in(pool)
        yield pool


@pytest.fixture
def written(pool: Pool) -> DocumentsIndex:
    written = DocumentsIndex(pool, MODEL)
    written.upsert(TOOLS, [record(number) for number in range(40)])
    return written


@pytest.fixture
def database(pool: Pool) -> FaultyDatabase:
    return FaultyDatabase(pool)


@pytest.fixture
def index(written: DocumentsIndex, database: FaultyDatabase) -> PostgresIndex:
    return PostgresIndex(database, MODEL)


def record(number: int, said: str = "say") -> IndexRecord:
    """Make a tool; every fourth is like the one before, so that scores tie."""
    near = (number - (number % 4 == 3)) / 40
    payload = {"org_id": "ab"[number % 2], "type": "tool", "skill_keys": [f"s{number % 3}"], "name": f"{said} {number}"}
    return IndexRecord(str(number), [1.0, near, near * near], f"{said} number {number // 2} twice", payload)


QUESTIONS: list[Question] = [
    Nearest(TOOLS, [FIRST], OF_A, 5),
    Nearest(TOOLS, [FIRST, SECOND], IndexFilter(keys=["1", "2", "7"]), 3),
    Nearest(TOOLS, [FIRST], OF_NONE, 5),
    ByWords(TOOLS, 'number 7 "quoted"', OF_A, 5),
    ByWords(TOOLS, {"number": 0.25, "twice": 1.5}, IndexFilter(), 3),
    ByWords(TOOLS, "", OF_A, 5),
    Matching(TOOLS, IndexFilter({"skill_keys": ["s1"]}), 4),
    Matching(TOOLS, IndexFilter({"skill_keys": ["s'\"{2}"]}), 2_000),
    Counted(TOOLS, OF_A),
    Counted(TOOLS, IndexFilter({"skill_keys": ["s2"]})),
    LookedUp(TOOLS, ["39", "3", 'no "such" key', "3"]),
]


def answer(index: Any, question: Question) -> Any:
    """Ask one question as a search does."""
    if isinstance(question, Nearest):
        return index.search_each(TOOLS, question.vectors, where=question.where, limit=question.limit)
    if isinstance(question, ByWords):
        ask = index.search_text if isinstance(question.words, str) else index.search_terms
        return ask(TOOLS, question.words, where=question.where, limit=question.limit)
    if isinstance(question, Matching):
        return index.match(TOOLS, where=question.where, limit=question.limit)
    if isinstance(question, Counted):
        return index.count(TOOLS, where=question.where)
    return index.payloads(TOOLS, question.keys)


def answers(index: Any, questions: Sequence[Question]) -> list[Any]:
    return [answer(index, question) for question in questions]


class TestAskAhead:
    def test_answers_are_those_of_questions_that_were_not_asked_ahead(
        self, index: PostgresIndex, written: DocumentsIndex, database: FaultyDatabase
    ) -> None:
        """GIVEN questions of every kind, WHEN they are asked ahead, THEN one round trip answers all as many do."""
        expected = answers(written, QUESTIONS)
        ask_ahead(index, QUESTIONS)
        assert database.calls == 1
        assert answers(index, QUESTIONS) == expected
        # The best of some tie over the cut, and those are read to the end of the tie.
        assert database.calls <= 3
        assert sum(map(bool, expected)) == len(QUESTIONS) - 3

    def test_an_answer_is_given_once(self, index: PostgresIndex, written: DocumentsIndex) -> None:
        """GIVEN a count that was asked ahead, WHEN it is asked again after a write, THEN it is what is there then."""
        ask_ahead(index, QUESTIONS)
        before = answer(index, Counted(TOOLS, OF_A))
        written.delete(TOOLS, ["0"])
        assert answer(index, Counted(TOOLS, OF_A)) == before - 1

    def test_what_was_not_taken_is_forgotten_when_others_are_asked_ahead(
        self, index: PostgresIndex, written: DocumentsIndex
    ) -> None:
        ask_ahead(index, [Counted(TOOLS, OF_A), Counted(TOOLS, IndexFilter())])
        written.delete(TOOLS, ["0"])
        ask_ahead(index, [Matching(TOOLS, OF_A, 1), Matching(TOOLS, OF_A, 2)])
        assert answers(index, [Counted(TOOLS, OF_A), Counted(TOOLS, IndexFilter())]) == [19, 39]

    def test_one_question_is_not_asked_ahead(self, index: PostgresIndex, database: FaultyDatabase) -> None:
        ask_ahead(index, QUESTIONS[:1])
        ask_ahead(index, [QUESTIONS[0], Counted(TOOLS, OF_NONE)])
        assert database.calls == 0

    def test_an_index_in_this_process_is_not_told(self) -> None:
        memory = MemoryIndex()
        ask_ahead(memory, QUESTIONS)
        forget_all(memory)
        assert memory.count(TOOLS) == 0


class TestPayloads:
    def test_what_was_read_or_matched_is_not_read_again(self, index: PostgresIndex, database: FaultyDatabase) -> None:
        keys = index.match(TOOLS, where=OF_A, limit=10)
        first = index.payloads(TOOLS, keys)
        assert list(first) == keys
        assert database.calls == 1
        assert list(index.payloads(TOOLS, ["1", *keys])) == ["1", *keys]
        assert index.payloads(TOOLS, ["1"])["1"]["name"] == "say 1"
        assert database.calls == 2

    def test_the_next_search_reads_what_was_written(self, index: PostgresIndex, written: DocumentsIndex) -> None:
        """GIVEN payloads that a search read, WHEN another search begins, THEN it sees what was written since."""
        assert index.payloads(TOOLS, ["1"])["1"]["name"] == "say 1"
        written.upsert(TOOLS, [record(1, "tell")])
        forget_all(index)
        assert index.payloads(TOOLS, ["1"])["1"]["name"] == "tell 1"

    def test_a_filter_is_asked_though_payloads_are_known(self, index: PostgresIndex) -> None:
        """GIVEN the payloads of all, WHEN another organisation searches, THEN it finds none but its own."""
        index.payloads(TOOLS, [str(number) for number in range(40)])
        found = index.match(TOOLS, where=IndexFilter({"org_id": ["b"]}), limit=100)
        assert {int(key) % 2 for key in found} == {1}

    def test_many_matches_are_found_without_payloads(self, index: PostgresIndex, database: FaultyDatabase) -> None:
        keys = index.match(TOOLS, where=IndexFilter(), limit=100_000)
        index.payloads(TOOLS, keys)
        assert len(keys) == 40
        assert database.calls == 2
