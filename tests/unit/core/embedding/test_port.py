"""What the port promises of every embedder, whichever model is behind it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from skillroute.core.embedding.hashing import HashingEmbedder
from skillroute.core.embedding.model import EmbeddingModel, Vector
from skillroute.core.embedding.onnx import OnnxEmbedder
from skillroute.core.embedding.port import Embedder

TOOLS = [
    "send_email: Send an email to one or more recipients",
    "take_screenshot: Take a screenshot of the current web page",
    "read_query: Run a SELECT on the SQLite database",
    "create_issue: Open an issue in a GitHub repository",
    "get_weather: The weather forecast of a city for the coming days",
    "list_files: List the files of a folder",
    "x",
    "convert_currency: Convert an amount from one currency into another " * 20,
]
UNICODE = [
    "Überweisung ausführen",
    "画面を撮る",
    "отправить письмо",
    "שלח דואר",
    "👩‍👩‍👧 📸",
    "e\u0301",
    "\x00",
    "\ud800 half a pair",
]


@pytest.fixture(scope="module")
def onnx_embedder(model_dir: Path) -> OnnxEmbedder:
    return OnnxEmbedder(model_dir)


@pytest.fixture(params=["hashing", "onnx", "openai", "bedrock"])
def embedder(request: pytest.FixtureRequest) -> Embedder:
    chosen: Embedder
    match request.param:
        case "hashing":
            chosen = HashingEmbedder()
        case "onnx":
            chosen = request.getfixturevalue("onnx_embedder")
        case "openai":  # batches smaller than the lists below, so that their order is at stake
            chosen = request.getfixturevalue("openai")(max_items=3)
        case _:
            chosen = request.getfixturevalue("bedrock")()
    return chosen


def embed(embedder: Embedder, texts: Sequence[str]) -> list[Vector]:
    return embedder.embed(texts, timeout_s=30)


def cosine(a: Vector, b: Vector) -> float:
    return math.fsum(x * y for x, y in zip(a, b, strict=True))


def test_the_model_has_a_name_and_the_dimension_of_the_vectors(embedder: Embedder) -> None:
    [vector] = embed(embedder, ["send an email"])

    assert isinstance(embedder.model, EmbeddingModel)
    assert embedder.model.name
    assert len(vector) == embedder.model.dimension


def test_vectors_are_lists_of_floats_of_norm_1(embedder: Embedder) -> None:
    for vector in embed(embedder, TOOLS):
        assert type(vector) is list
        assert {type(x) for x in vector} == {float}
        assert math.hypot(*vector) == pytest.approx(1, abs=1e-5)


def test_a_batch_gives_each_text_the_vector_that_it_has_alone_in_the_order_of_the_texts(embedder: Embedder) -> None:
    alone = [embed(embedder, [text])[0] for text in TOOLS]

    assert len({tuple(vector) for vector in alone}) == len(TOOLS), "texts that differ have vectors that differ"
    assert embed(embedder, TOOLS) == alone
    assert embed(embedder, TOOLS[::-1]) == alone[::-1]


def test_a_text_that_occurs_twice_has_the_same_vector_twice(embedder: Embedder) -> None:
    vectors = embed(embedder, [TOOLS[0], TOOLS[7], TOOLS[0]])

    assert vectors[0] == vectors[2] != vectors[1]


def test_no_texts_give_no_vectors(embedder: Embedder) -> None:
    assert embed(embedder, []) == []


def test_any_sequence_of_texts_will_do(embedder: Embedder) -> None:
    assert embed(embedder, tuple(TOOLS[:2])) == embed(embedder, TOOLS[:2])


@pytest.mark.parametrize("text", ["", " ", "\n\t", "...", *UNICODE], ids=ascii)
def test_every_string_has_a_vector(embedder: Embedder, text: str) -> None:
    [vector] = embed(embedder, [text])

    assert math.hypot(*vector) == pytest.approx(1, abs=1e-5)


def test_a_text_of_any_length_has_a_vector(embedder: Embedder) -> None:
    for text in ["word " * 50_000, "w" * 250_000, "画" * 100_000]:
        [vector] = embed(embedder, [text])
        assert math.hypot(*vector) == pytest.approx(1, abs=1e-5)


def test_texts_that_are_alike_are_nearer_than_others(embedder: Embedder) -> None:
    query, near, far = embed(embedder, ["take a screenshot", TOOLS[1], TOOLS[4]])

    assert cosine(query, near) > cosine(query, far) + 0.1


def test_several_threads_may_embed_at_once(embedder: Embedder) -> None:
    expected = embed(embedder, TOOLS)

    with ThreadPoolExecutor(6) as pool:
        answers = list(pool.map(lambda _: embed(embedder, TOOLS), range(12)))

    assert all(answer == expected for answer in answers)
