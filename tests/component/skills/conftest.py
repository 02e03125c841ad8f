"""A system whose work waits in a queue until a test receives it, and one whose language model writes requests."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from skillroute.skills.classifiers.llm import LlmClassifier

from tests.builders import System, lent_system
from tests.component.skills.outbox import Clocked
from tests.component.skills.requesting import Model
from tests.doubles import EdgeIndexes, TableEmbedder


@pytest.fixture
def queue() -> Clocked:
    return Clocked()


@pytest.fixture
def queued(database_url: str, edge_indexes: EdgeIndexes, queue: Clocked) -> Iterator[System]:
    """A system with queues, where nothing is done until its message is received."""
    with lent_system(database_url, edge_indexes, queue=queue) as system:
        yield system


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
