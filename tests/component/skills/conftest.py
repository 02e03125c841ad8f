"""A system whose language model writes requests."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from skillroute.skills.classification.classifiers.llm import LlmClassifier

from tests.builders import System, lent_system
from tests.component.skills.requesting import Model
from tests.doubles import EdgeIndexes, TableEmbedder


@pytest.fixture
def model() -> Model:
    return Model()


@pytest.fixture
def vectors() -> TableEmbedder:
    """Every text along one axis, unless a test says otherwise."""
    return TableEmbedder()


@pytest.fixture
def world(database_url: str, edge_indexes: EdgeIndexes, model: Model, vectors: TableEmbedder) -> Iterator[System]:
    classifier = LlmClassifier(model, writes_requests=True)
    with lent_system(database_url, edge_indexes, classifier=classifier, embedder=vectors) as system:
        system.create("weather")
        yield system
