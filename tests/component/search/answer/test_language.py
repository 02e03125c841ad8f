"""Requests in other languages: said with a packaged model, served with a multilingual one (docs/languages.md)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from skillroute.core.caller import LAPTOP
from skillroute.core.embedding.hashing import HashingEmbedder
from skillroute.core.settings import LocalSettings
from skillroute.search.model import SearchRequest
from skillroute.wiring import Parts

from tests.builders import lent_system
from tests.doubles import EdgeIndexes, TableEmbedder, at
from tests.unit.core.stubs import Answer, Request, StubServer

TOOLS = {"send_email": "Send an email to people.", "get_weather": "Read the forecast.", "book_table": "Reserve dinner."}
MEANINGS = (("email", "correo"), ("forecast", "tiempo"), ("dinner", "mesa"))
DIMENSION = 1024


def vector(text: str) -> list[float]:
    """A vector as a multilingual model has it: equal for words of one meaning."""
    axes = [float(any(word in text for word in words)) for words in MEANINGS]
    return [*axes, 0.1, *[0.0] * (DIMENSION - len(axes) - 1)]


def answer(request: Request) -> Answer:
    if "texts" in request.body:
        return Answer(body={"embeddings": [vector(text) for text in request.body["texts"]]})
    data = [{"index": n, "embedding": vector(text)} for n, text in enumerate(request.body["input"])]
    return Answer(body={"data": data})


@pytest.fixture
def endpoint(monkeypatch: pytest.MonkeyPatch) -> Iterator[StubServer]:
    server = StubServer(answer)
    monkeypatch.setenv("AWS_ENDPOINT_URL_BEDROCK_RUNTIME", server.url)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIDEXAMPLE")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret-of-the-test")
    monkeypatch.delenv("AWS_BEARER_TOKEN_BEDROCK", raising=False)
    yield server
    server.close()


def sent(request: Request) -> tuple[str, str]:
    """Return what a text is sent as, and the text."""
    if "texts" in request.body:
        return request.body["input_type"], request.body["texts"][0]
    use, _, text = request.body["input"][0].partition(": ")
    return use, text


@pytest.mark.parametrize(
    ("settings", "uses"),
    [
        (
            {
                "embedding_provider": "bedrock",
                "embedding_model": "cohere.embed-multilingual-v3",
                "bedrock_region": "eu",
            },
            ("search_document", "search_query"),
        ),
        (
            {"embedding_provider": "openai", "embedding_model": "intfloat/multilingual-e5-large"},
            ("passage", "query"),
        ),
    ],
)
def test_after_settings_and_a_reindex_a_request_in_spanish_is_served(
    database_url: str, endpoint: StubServer, settings: Mapping[str, Any], uses: tuple[str, str]
) -> None:
    before = Parts(LocalSettings(database_url=database_url), embedder=HashingEmbedder(64))  # type: ignore[arg-type]
    after = Parts(
        LocalSettings(
            database_url=database_url,  # type: ignore[arg-type]
            embedding_dimension=DIMENSION,
            openai_base_url=f"{endpoint.url}/v1",
            **settings,
        )
    )
    try:
        before.catalogue.sync([{"name": name, "description": said} for name, said in TOOLS.items()], LAPTOP)
        after.reindex()
        assert {sent(request)[0] for request in endpoint.requests} == {uses[0]}

        found = after.tool_search.search(SearchRequest(query="enviar un correo", mode="hybrid"), LAPTOP)

        assert sent(endpoint.requests[-1]) == (uses[1], "enviar un correo")
        assert found.tools[0].name == "send_email"
        metadata = found.metadata
        assert (metadata.search_mode, metadata.degraded, metadata.no_match) == ("hybrid", [], False)
        assert (metadata.language, metadata.language_unknown_to_model) == ("es", False)
    finally:
        before.close()
        after.close()
        after.embedder.close()  # type: ignore[attr-defined]


@pytest.mark.parametrize(("mode", "is_unknown"), [("hybrid", True), ("semantic", True), ("lexical", False)])
def test_with_a_packaged_model_the_answer_says_that_it_knows_english_only(
    database_url: str, edge_indexes: EdgeIndexes, mode: Any, is_unknown: bool
) -> None:
    packaged = TableEmbedder(name="all-minilm-l6-v2-int8-v1")
    with lent_system(database_url, edge_indexes, embedder=packaged) as system:
        system.tool("send_email", at(0.9), description="Send an email to people.")
        found = system.search("enviar un correo", mode=mode).metadata
        assert (found.language, found.language_unknown_to_model, found.confidence) == ("es", is_unknown, None)
        assert found.no_match is (mode != "semantic")  # which has no match in nothing alone
        both = system.parts.tool_search.search(
            SearchRequest(needs=["send an email", "enviar un correo"], mode=mode), LAPTOP
        )
        assert (both.metadata.language, both.metadata.language_unknown_to_model) == ("es", is_unknown)
        english = system.search("send an email", mode=mode).metadata
        assert (english.language, english.language_unknown_to_model) == (None, False)
