"""The embedders under test, each against a stub of its service on the loopback interface."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import botocore.loaders
import botocore.session
import pytest
from skillroute.core.embedding.bedrock import BedrockEmbedder
from skillroute.core.embedding.model import EmbeddingModel
from skillroute.core.embedding.openai import OpenAIEmbedder

from tests.unit.core.stubs import TITAN_V2, FakeTime, StubServer, bedrock_answer, openai_answer

MODEL_DIR = Path(__file__).parents[3] / "layers" / "inference" / "models" / "all-minilm-l6-v2"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Let no test fail for the socket of another one.

    A call that took too long is left behind on its thread (`fan_out`), and its connection may be opened after the
    client was closed. Such a socket is closed when it is collected, with a warning, in the middle of a later test.
    """
    here = Path(__file__).parent
    for item in items:
        if here in item.path.parents:
            item.add_marker(pytest.mark.filterwarnings("ignore:unclosed <socket:ResourceWarning"))


@pytest.fixture(autouse=True)
def _no_outside_world(monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither the proxies nor the AWS settings of the machine that runs the tests have a say."""
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "AWS_PROFILE", "AWS_BEARER_TOKEN_BEDROCK"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)
    for name in ("AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE"):
        monkeypatch.setenv(name, "/nonexistent")
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIDEXAMPLE")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret-of-the-test")


@pytest.fixture(scope="session", autouse=True)
def _models_of_services() -> Iterator[None]:
    """Let all clients of AWS share what is read of its services: 18 ms for a client instead of 90 ms."""
    shared = botocore.loaders.create_loader()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(botocore.session, "create_loader", lambda *_: shared)
        yield


@pytest.fixture
def time() -> FakeTime:
    return FakeTime()


@pytest.fixture
def openai_server() -> Iterator[StubServer]:
    server = StubServer(openai_answer)
    yield server
    server.close()


@pytest.fixture
def bedrock_server() -> Iterator[StubServer]:
    server = StubServer(bedrock_answer)
    yield server
    server.close()


@pytest.fixture
def openai(openai_server: StubServer, time: FakeTime) -> Iterator[Callable[..., OpenAIEmbedder]]:
    """Make an embedder against the stub; keyword arguments go to its constructor."""
    made: list[OpenAIEmbedder] = []

    def make(**arguments: Any) -> OpenAIEmbedder:
        defaults = {"base_url": f"{openai_server.url}/v1", "api_key": "sk-of-the-test", "retry": time.retry()}
        model = arguments.pop("model", EmbeddingModel("text-embedding-3-small", 384))
        made.append(OpenAIEmbedder(model, **{**defaults, **arguments}))
        return made[-1]

    yield make
    for embedder in made:
        embedder.close()


@pytest.fixture
def bedrock(bedrock_server: StubServer, time: FakeTime) -> Iterator[Callable[..., BedrockEmbedder]]:
    """Make an embedder against the stub; keyword arguments go to its constructor."""
    made: list[BedrockEmbedder] = []

    def make(**arguments: Any) -> BedrockEmbedder:
        defaults = {"region": "eu-central-1", "endpoint_url": bedrock_server.url, "retry": time.retry()}
        model = arguments.pop("model", EmbeddingModel(TITAN_V2, 256))
        made.append(BedrockEmbedder(model, **{**defaults, **arguments}))
        return made[-1]

    yield make
    for embedder in made:
        embedder.close()


@pytest.fixture(scope="session")
def model_dir() -> Path:
    return MODEL_DIR
