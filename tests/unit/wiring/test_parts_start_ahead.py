"""An environment that starts before its first request loads its model then; every other waits until it must."""

from __future__ import annotations

import pytest
from skillroute.core.embedding.model import EmbeddingModel, Vector
from skillroute.core.errors.model import EmbeddingUnavailable
from skillroute.core.settings import SearchSettings
from skillroute.wiring import Parts, mcp_app, search_app

NOWHERE = "postgresql://u:p@127.0.0.1:1/db"


class Noting:
    """`ports.Embedder` that counts how often it is asked, and may fail."""

    model = EmbeddingModel("noting", 2)

    def __init__(self, *, fails: bool = False) -> None:
        self.asked = 0
        self.fails = fails

    def embed(self, texts: list[str], *, timeout_s: float) -> list[Vector]:
        self.asked += 1
        if self.fails:
            raise EmbeddingUnavailable("the inference layer is not installed")
        return [[1.0, 0.0] for _ in texts]


@pytest.fixture
def environment(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    monkeypatch.setenv("SKILLROUTE_DATABASE_URL", NOWHERE)
    return monkeypatch


@pytest.mark.parametrize(
    ("initialization_type", "asked"),
    [("snap-start", 1), ("provisioned-concurrency", 1), ("on-demand", 0), (None, 0)],
)
def test_what_starts_ahead_loads_its_model(
    environment: pytest.MonkeyPatch, initialization_type: str | None, asked: int
) -> None:
    if initialization_type:
        environment.setenv("AWS_LAMBDA_INITIALIZATION_TYPE", initialization_type)
    embedder = Noting()
    Parts(SearchSettings.load(), embedder=embedder).start_ahead()
    assert embedder.asked == asked


def test_a_model_elsewhere_is_not_called_from_a_snapshot(environment: pytest.MonkeyPatch) -> None:
    environment.setenv("AWS_LAMBDA_INITIALIZATION_TYPE", "snap-start")
    environment.setenv("SKILLROUTE_EMBEDDING_PROVIDER", "bedrock")
    environment.setenv("SKILLROUTE_EMBEDDING_MODEL", "amazon.titan-embed-text-v2:0")
    environment.setenv("SKILLROUTE_EMBEDDING_DIMENSION", "256")
    embedder = Noting()
    Parts(SearchSettings.load(), embedder=embedder).start_ahead()
    assert embedder.asked == 0


def test_a_model_that_fails_does_not_keep_the_environment_from_starting(environment: pytest.MonkeyPatch) -> None:
    environment.setenv("AWS_LAMBDA_INITIALIZATION_TYPE", "snap-start")
    embedder = Noting(fails=True)
    Parts(SearchSettings.load(), embedder=embedder).start_ahead()
    assert embedder.asked == 1


def test_the_search_function_starts_ahead_with_the_real_model_and_no_database(environment: pytest.MonkeyPatch) -> None:
    environment.setenv("AWS_LAMBDA_INITIALIZATION_TYPE", "snap-start")
    app = search_app()
    assert app.state.parts.embedder._loader._engine is not None


@pytest.mark.parametrize(("initialization_type", "is_made"), [("snap-start", True), ("on-demand", False)])
def test_the_mcp_function_makes_its_tools_ahead_or_when_they_are_asked_for(
    environment: pytest.MonkeyPatch, initialization_type: str, is_made: bool
) -> None:
    environment.setenv("AWS_LAMBDA_INITIALIZATION_TYPE", initialization_type)
    environment.setenv("SKILLROUTE_EMBEDDING_PROVIDER", "hashing")
    parts = mcp_app().state.parts
    assert len(parts.mcp.toolbox._made) == (9 if is_made else 0)
    for made_by, names in (
        (parts, {"tool_search", "registry_search", "messages"}),
        (parts.mcp, {"resources", "prompts"}),
    ):
        assert vars(made_by).keys() & names == (names if is_made else set())
