"""Vectors of skills' texts in PostgreSQL: kept by one classifier, and found by the next one, which embeds nothing."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest
from skillroute.core.embedding.hashing import HashingEmbedder
from skillroute.core.embedding.model import EmbeddingModel, to_bytes
from skillroute.core.errors.model import ClassifierUnavailable
from skillroute.core.postgres.pool import Pool
from skillroute.skills.classification.classifiers.similarity import SimilarityClassifier
from skillroute.skills.classification.kept_vectors import KeptVectors, prune_text_vectors
from skillroute.skills.classification.model import SkillProfile, ToolProfile

from tests.doubles import FaultyDatabase, WatchedEmbedder
from tests.integration.rows import connected

MODEL = EmbeddingModel("m", 3)
TOOL = ToolProfile(
    1, None, "send_mail", "Sends mail", "gmail", None, (), HashingEmbedder().embed(["mail"], timeout_s=1)[0]
)
SKILLS = [
    SkillProfile(f"s{n}", None, f"Skill {n}", "About it", tuple(f"word {n} {m}" for m in range(20)), (), None, None, "")
    for n in range(10)
]


@pytest.fixture
def pool(database_url: str) -> Iterator[Pool]:
    pool = Pool(database_url)
    yield pool
    pool.close()


def test_what_is_kept_is_found_by_model_and_text(pool: Pool) -> None:
    kept = KeptVectors(pool)
    kept.keep(MODEL, {"mail": [1.0, 0.5, 0.25], "": [0.0, 0.0, 1.0]})
    kept.keep(MODEL, {"mail": [9.0, 9.0, 9.0]})  # what is there stays
    found = kept.find(MODEL, ["mail", "", "rain"])
    assert found == {"mail": to_bytes([1.0, 0.5, 0.25]), "": to_bytes([0.0, 0.0, 1.0])}
    assert kept.find(replace(MODEL, name="n"), ["mail"]) == kept.find(replace(MODEL, dimension=4), ["mail"]) == {}
    assert kept.find(MODEL, []) == {}


def test_more_than_one_statement_takes_is_found(pool: Pool) -> None:
    texts = [f"text {n}" for n in range(2_001)]
    KeptVectors(pool).keep(MODEL, {text: [float(n), 0.0, 0.0] for n, text in enumerate(texts)})
    found = KeptVectors(pool).find(MODEL, texts)
    assert found == {text: to_bytes([float(n), 0.0, 0.0]) for n, text in enumerate(texts)}


def test_vectors_of_a_month_ago_go(pool: Pool, database_url: str) -> None:
    KeptVectors(pool).keep(MODEL, {"mail": [1.0, 0.0, 0.0], "rain": [0.0, 1.0, 0.0]})
    with connected(database_url) as sql:
        east = "decode('0000803f0000000000000000', 'hex')"
        sql(f"UPDATE mcp.text_vectors SET made_at = now() - interval '31 days' WHERE embedding = {east}")
    assert pool.transact(prune_text_vectors) == 1
    assert list(KeptVectors(pool).find(MODEL, ["mail", "rain"])) == ["rain"]


def test_the_next_classifier_answers_the_same_without_embedding(pool: Pool) -> None:
    # GIVEN that one has classified
    answer = SimilarityClassifier(HashingEmbedder(), KeptVectors(pool)).classify(TOOL, SKILLS, timeout_s=10)

    # WHEN another one does, with the same skills and some keywords more
    embedder = WatchedEmbedder(HashingEmbedder())
    again = SimilarityClassifier(embedder, KeptVectors(pool)).classify(TOOL, SKILLS, timeout_s=10)

    # THEN its model was not asked
    assert (again, embedder.calls) == (answer, [])
    assert answer == SimilarityClassifier(HashingEmbedder()).classify(TOOL, SKILLS, timeout_s=10)

    # AND a text that is new is all that is embedded
    more = [replace(SKILLS[0], keywords=(*SKILLS[0].keywords, "new")), *SKILLS[1:]]
    SimilarityClassifier(embedder, KeptVectors(pool)).classify(TOOL, more, timeout_s=10)
    assert embedder.texts == ["new"]


def test_what_was_embedded_before_the_model_went_is_kept(pool: Pool) -> None:
    class Once(WatchedEmbedder):
        def embed(self, texts: list[str], *, timeout_s: float) -> list[list[float]]:  # type: ignore[override]
            self.away = bool(self.calls)
            return super().embed(texts, timeout_s=timeout_s)

    with pytest.raises(ClassifierUnavailable):
        SimilarityClassifier(Once(HashingEmbedder()), KeptVectors(pool)).classify(TOOL, SKILLS, timeout_s=10)
    embedder = WatchedEmbedder(HashingEmbedder())
    SimilarityClassifier(embedder, KeptVectors(pool)).classify(TOOL, SKILLS, timeout_s=10)
    assert len(embedder.texts) == len(SKILLS) * 21 + 60 - 128


def test_what_the_model_refuses_is_not_kept(pool: Pool) -> None:
    embedder = WatchedEmbedder(HashingEmbedder())
    embedder.refuses = lambda text: text == "word 0 0"
    SimilarityClassifier(embedder, KeptVectors(pool)).classify(TOOL, SKILLS, timeout_s=10)
    assert list(KeptVectors(pool).find(embedder.model, ["word 0 0", "word 0 1"])) == ["word 0 1"]


def test_without_postgresql_it_embeds(pool: Pool) -> None:
    database = FaultyDatabase(pool)
    database.down = True
    embedder = WatchedEmbedder(HashingEmbedder())
    answer = SimilarityClassifier(embedder, KeptVectors(database)).classify(TOOL, SKILLS, timeout_s=10)
    assert answer == SimilarityClassifier(HashingEmbedder()).classify(TOOL, SKILLS, timeout_s=10)
    assert embedder.calls
