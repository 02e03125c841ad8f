"""The embedded index and the qdrant-client adapter answer alike, and full text without either (message-search, 1)."""

from __future__ import annotations

import random
from typing import Any

import pytest
from skillroute.core.documents.index.embedded import EmbeddedReplica
from skillroute.core.documents.index.qdrant import QdrantIndex
from skillroute.core.errors.model import IndexUnavailable
from skillroute.mail.collection import MAIL_DOCUMENTS
from skillroute.mail.search.search import MessageSearch

from tests.builders import System
from tests.component.mail.search.conftest import MakeSystem
from tests.doubles import at

WORDS = ("water", "garden", "POL-358", "budget", "approval", "deploy", "lake", "owl", "水道")
NAMES = ("BlueLake", "RedFox", "GreenHill")
QUESTIONS: list[dict[str, Any]] = [
    {"text": "water"},
    {"text": "water garden POL-358"},
    {"text": "the approval of the budget", "limit": 5},
    {"text": "水道 lake", "explain": False},
    {"text": "water lake", "importance": ["high", "urgent"]},
    {"text": "garden", "sender_name": "bluelake"},
    {"text": "garden", "agent_name": "RedFox", "direction": "inbox", "recipient_name": "GreenHill"},
    {"text": "garden", "agent_name": "RedFox"},
    {"text": "owl deploy", "ack_required": True},
    {"text": "owl deploy", "time_range": {"min_ts": 10, "max_ts": 30}},
    {"text": "owl", "thread_id": "T-1"},
    {"text": "deploy", "ranking": "recency"},
    {"text": "deploy lake", "min_score": 0.3},
    {"text": "water", "scope": {"project_set": {"allowed_project_ids": [1]}}},
    {"text": "lake", "doc_kind": "agent"},
    {"text": "nothing of it"},
]


def fill(system: System) -> None:
    rng = random.Random(3)
    for number in range(60):
        system.store_message(
            " ".join(rng.choices(WORDS, k=2)),
            " ".join(rng.choices(WORDS, k=rng.randint(0, 30))),
            at(round(rng.uniform(-0.9, 0.9), 3), rng.randint(1, 7)) if number % 7 else None,
            project=rng.choice(["atlas", "borealis"]),
            sender=rng.choice(NAMES),
            to=rng.sample(NAMES, rng.randint(1, 3)),
            importance=rng.choice(["low", "normal", "high", "urgent"]),
            ack_required=rng.random() < 0.5,
            thread_id=rng.choice([None, "T-1", "T-2"]),
            created_ts=number // 2,
        )
    system.store_agent("BlueLake", system.store_project("atlas"), description="of the lake", vector=at(0.4))


@pytest.mark.filterwarnings("ignore:Payload indexes have no effect")
@pytest.mark.parametrize("mode", ["lexical", "semantic", "hybrid"])
def test_both_engines_give_the_same_answers(system: System, mode: str) -> None:
    from qdrant_client import QdrantClient

    fill(system)
    parts = system.parts
    server = EmbeddedReplica(
        system.feed,
        lambda model: QdrantIndex(QdrantClient(":memory:"), model.dimension),
        parts.query_embedder.model,
    )
    edge, qdrant = (MessageSearch(replica, parts.query_embedder, parts.database) for replica in (parts.replica, server))
    for question in QUESTIONS:
        pages, scores = [], []
        for search in (edge, qdrant):
            system.message_search = search
            pages.append(system.mail_pages(mode=mode, **{"limit": 7, **question}))
            scores.append(system.mail_scores(mode=mode, **question))
        assert pages[0] == pages[1], question
        # One counts in single precision, the other in double: their figures differ in the last of six decimals.
        assert scores[0] == pytest.approx(scores[1], abs=2e-6), question
    system.message_search = edge
    assert len(system.found_mail("water", mode=mode)) > 10
    server.close()


@pytest.mark.parametrize("mode", ["lexical", "hybrid"])
def test_full_text_does_not_depend_on_the_index_at_all(system_with: MakeSystem, mode: str) -> None:
    """Asked with the index there, then with it failing, then without it and its feed."""
    system = system_with(search_engine="fts5")
    fill(system)

    def answers() -> list[bytes]:
        return [system.search_mail(mode=mode, **{**question, "explain": False}).to_json() for question in QUESTIONS]

    before = answers()
    system.index.fail(MAIL_DOCUMENTS, IndexUnavailable("gone"))
    assert answers() == before
    system.replica.close()
    system.feed.down = True
    system.embedder.away = True
    assert answers() == before


def test_both_lexical_engines_find_the_same_messages(system: System, system_with: MakeSystem) -> None:
    """They rank each in its own way, but one tokenizer cut the words of both."""
    fill(system)
    full_text = system_with(search_engine="fts5")

    for question in QUESTIONS:
        if "min_score" not in question:
            asked = {**question, "limit": 1000}
            assert sorted(system.found_mail(**asked)) == sorted(full_text.found_mail(**asked)), question
