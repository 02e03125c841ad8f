"""The model in this process: what it needs, when it loads, what it says when something is missing."""

from __future__ import annotations

import hashlib
import json
import math
import os
import subprocess
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from skillroute.core.embedding.model import Vector
from skillroute.core.embedding.onnx import OnnxEmbedder, batches_by_length
from skillroute.core.embedding.packaged import models_dir, packaged_models
from skillroute.core.embedding.port import Embedder, message_embedder
from skillroute.core.errors.model import EmbeddingUnavailable

USE_NOTHING = """
import sys
from pathlib import Path
from skillroute.core.embedding import bedrock, hashing, onnx, openai
from skillroute.core.embedding.model import EmbeddingModel
embedder = onnx.OnnxEmbedder(Path(sys.argv[1]))
embedder.model, embedder.embed([], timeout_s=1)
openai.OpenAIEmbedder(EmbeddingModel("m", 256)), bedrock.BedrockEmbedder(EmbeddingModel("m", 256))
print(sorted({"numpy", "onnxruntime", "tokenizers", "httpx", "boto3", "botocore"} & sys.modules.keys()))
"""


@pytest.fixture
def copy(model_dir: Path, tmp_path: Path) -> Path:
    """A folder of its own with the model's files, linked where they are not changed."""
    for file in model_dir.iterdir():
        (tmp_path / file.name).symlink_to(file)
    return tmp_path


def overwrite(path: Path, data: bytes) -> None:
    """Write a file of its own in the place of a link."""
    path.unlink()
    path.write_bytes(data)


def edit_json(path: Path, change: Callable[[dict[str, Any]], object]) -> None:
    value = json.loads(path.read_bytes())
    change(value)
    overwrite(path, json.dumps(value).encode())


def embed(embedder: Embedder, *texts: str) -> list[Vector]:
    return embedder.embed(texts, timeout_s=30)


def cosine(a: Vector, b: Vector) -> float:
    return math.fsum(x * y for x, y in zip(a, b, strict=True))


def test_nothing_heavy_is_imported_before_the_first_text(model_dir: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-c", USE_NOTHING, str(model_dir)]

    run = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)

    assert run.stdout == "[]\n"


@pytest.mark.parametrize("name", packaged_models())
def test_a_packaged_model_is_what_its_description_says(name: str) -> None:
    folder = models_dir() / name
    described = json.loads((folder / "model.json").read_text())
    assert hashlib.sha256((folder / "model.onnx").read_bytes()).hexdigest() == described["sha256"]
    assert described["name"].startswith(f"{name}-int8-v")
    [wanted, near, far] = embed(
        OnnxEmbedder(folder), "take a screenshot", "capture an image of the screen", "send mail"
    )
    assert len(wanted) == described["dimension"]
    assert cosine(wanted, near) > cosine(wanted, far) + 0.2


def test_messages_are_embedded_as_the_published_model_does_and_tools_otherwise() -> None:
    published, tuned = (OnnxEmbedder(models_dir() / name) for name in ("all-minilm-l6-v2", "tool-minilm-l6"))
    text = "Status of POL-358\n\nThe totals are right now; the nightly job had read the old table."

    [as_published], [as_message], [as_tool] = (
        embed(embedder, text) for embedder in (published, tuned.for_messages(), tuned)
    )

    assert tuned.for_messages().model == tuned.model
    assert cosine(as_message, as_published) > 0.97
    assert cosine(as_tool, as_message) < 0.95


def test_an_embedder_of_messages_is_made_without_the_model(tmp_path: Path) -> None:
    of_messages = message_embedder(OnnxEmbedder(tmp_path))

    with pytest.raises(EmbeddingUnavailable, match="is missing"):
        embed(of_messages, "send mail")


def test_a_model_that_knows_one_type_of_text_embeds_messages_as_all_others() -> None:
    published = OnnxEmbedder(models_dir() / "all-minilm-l6-v2")

    assert embed(published.for_messages(), "send mail") == embed(published, "send mail")


def test_it_knows_meanings_not_only_words(model_dir: Path) -> None:
    query, same_meaning, same_word = embed(
        OnnxEmbedder(model_dir),
        "take a screenshot of a web page",
        "capture an image of what the browser shows",
        "take medicine twice a day",
    )

    assert cosine(query, same_meaning) > cosine(query, same_word) + 0.2


def test_the_model_is_described_without_the_graph(copy: Path, model_dir: Path) -> None:
    (copy / "model.onnx").unlink()
    (copy / "tokenizer.json").unlink()

    described = json.loads((model_dir / "model.json").read_text())

    assert OnnxEmbedder(copy).model.name == described["name"]
    assert OnnxEmbedder(copy).model.dimension == described["dimension"]


@pytest.mark.parametrize("name", ["model.json", "tokenizer.json", "model.onnx"])
def test_a_missing_file_is_named_and_looked_for_again_at_the_next_call(copy: Path, model_dir: Path, name: str) -> None:
    (copy / name).unlink()
    embedder = OnnxEmbedder(copy)

    for _ in range(2):
        with pytest.raises(EmbeddingUnavailable, match=f"{name} is missing"):
            embed(embedder, "send mail")
    (copy / name).symlink_to(model_dir / name)

    assert embed(embedder, "send mail") == embed(OnnxEmbedder(model_dir), "send mail")


@pytest.mark.parametrize("name", ["model.json", "tokenizer.json", "model.onnx"])
@pytest.mark.parametrize("kept_bytes", [0, 100])
def test_a_damaged_file_is_named_and_read_again_at_the_next_call(
    copy: Path, model_dir: Path, name: str, kept_bytes: int
) -> None:
    overwrite(copy / name, (model_dir / name).read_bytes()[:kept_bytes])
    embedder = OnnxEmbedder(copy)

    with pytest.raises(EmbeddingUnavailable, match=f"{name} is damaged"):
        embed(embedder, "send mail")
    overwrite(copy / name, (model_dir / name).read_bytes())

    assert embed(embedder, "send mail") == embed(OnnxEmbedder(model_dir), "send mail")


def test_a_graph_cut_in_the_middle_is_damaged(copy: Path, model_dir: Path) -> None:
    overwrite(copy / "model.onnx", (model_dir / "model.onnx").read_bytes()[:12_000_000])

    with pytest.raises(EmbeddingUnavailable, match=r"model\.onnx is damaged"):
        embed(OnnxEmbedder(copy), "send mail")


@pytest.mark.parametrize("description", [[], {}, {"name": "m"}, {"name": "m", "dimension": "many"}], ids=str)
def test_a_description_that_says_something_else_is_damaged(copy: Path, description: object) -> None:
    overwrite(copy / "model.json", json.dumps(description).encode())

    with pytest.raises(EmbeddingUnavailable, match=r"model\.json is damaged"):
        _ = OnnxEmbedder(copy).model


def test_a_graph_of_another_dimension_than_described_is_refused(copy: Path) -> None:
    edit_json(copy / "model.json", lambda description: description.update(dimension=768))

    with pytest.raises(EmbeddingUnavailable, match=r"should take .* and give embedding of 768 dimensions"):
        embed(OnnxEmbedder(copy), "send mail")


def test_a_failure_of_onnxruntime_is_translated_and_not_remembered(copy: Path, model_dir: Path) -> None:
    """GIVEN a tokenizer that does not cut WHEN a text is longer than the graph's 512 positions THEN its run fails."""
    edit_json(copy / "tokenizer.json", lambda tokenizer: tokenizer.update(truncation=None))
    embedder = OnnxEmbedder(copy)

    with pytest.raises(EmbeddingUnavailable, match=r"all-minilm-l6-v2.* failed: "):
        embed(embedder, "word " * 600)

    assert embed(embedder, "send mail") == embed(OnnxEmbedder(model_dir), "send mail")


@pytest.mark.parametrize("package", ["onnxruntime", "tokenizers", "numpy"])
def test_a_missing_package_is_named(model_dir: Path, monkeypatch: pytest.MonkeyPatch, package: str) -> None:
    embedder = OnnxEmbedder(model_dir)
    with monkeypatch.context() as missing:
        missing.setitem(sys.modules, package, None)
        with pytest.raises(EmbeddingUnavailable, match=f"inference layer is not installed: .*{package}"):
            embed(embedder, "send mail")

    assert len(embed(embedder, "send mail")) == 1


def test_threads_that_come_at_once_load_the_model_once(model_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import onnxruntime

    loads: list[object] = []
    start = threading.Barrier(6, timeout=30)

    class Counted(onnxruntime.InferenceSession):  # type: ignore[misc]
        def __init__(self, *arguments: Any, **options: Any) -> None:
            loads.append(self)
            super().__init__(*arguments, **options)

    monkeypatch.setattr(onnxruntime, "InferenceSession", Counted)
    embedder = OnnxEmbedder(model_dir)

    def use(_: int) -> list[Vector]:
        start.wait()
        return embed(embedder, "send mail")

    with ThreadPoolExecutor(6) as pool:
        answers = list(pool.map(use, range(6)))

    assert len(loads) == 1
    assert all(answer == answers[0] for answer in answers)


@pytest.mark.parametrize("texts", [["send mail"], ["send mail"] * 9], ids=len)
def test_without_time_it_gives_up(model_dir: Path, texts: list[str]) -> None:
    with pytest.raises(EmbeddingUnavailable, match="did not answer within 0 s"):
        OnnxEmbedder(model_dir).embed(texts, timeout_s=0)


def test_what_lies_behind_the_models_longest_sequence_does_not_count(model_dir: Path) -> None:
    words = json.loads((model_dir / "model.json").read_text())["max_tokens"] - 2  # [CLS] and [SEP] take two
    mails = "mail " * words

    cut, longer, other = embed(OnnxEmbedder(model_dir), mails, mails + "weather", mails[5:] + "weather")

    assert cut == longer != other


def test_texts_embedded_together_have_the_vectors_that_they_have_alone(model_dir: Path) -> None:
    """GIVEN texts of many lengths, several of the same WHEN they go together THEN each has its own vector, in order."""
    topics = ("mail", "weather", "files", "money", "music")
    texts = [f"{topic} tool " * (count + 1) for count in range(4) for topic in topics]
    texts += ["", "half \ud83d of a pair", "word " * 400]
    embedder = OnnxEmbedder(model_dir)

    together = embed(embedder, *texts)

    assert len(together) == len(texts)
    for text, vector in zip(texts, together, strict=True):
        [alone] = embed(embedder, text)
        assert cosine(vector, alone) > 1 - 1e-5, text


def test_texts_of_one_length_share_runs_of_the_graph(model_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import onnxruntime

    shapes: list[tuple[int, ...]] = []

    class Counted(onnxruntime.InferenceSession):  # type: ignore[misc]
        def run(self, names: Any, feed: Any, *options: Any) -> Any:
            shapes.append(feed["input_ids"].shape)
            return super().run(names, feed, *options)

    monkeypatch.setattr(onnxruntime, "InferenceSession", Counted)

    embed(OnnxEmbedder(model_dir), *["send mail"] * 70, "read the mail of today")

    assert sorted(shapes) == [(1, 7), (6, 4), (64, 4)]


def test_a_run_that_fails_fails_the_call_and_not_the_next_one(model_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """GIVEN one batch of several that onnxruntime refuses WHEN texts go together THEN no text gets another's vector."""
    import onnxruntime

    failing = {"now": True}

    class Failing(onnxruntime.InferenceSession):  # type: ignore[misc]
        def run(self, names: Any, feed: Any, *options: Any) -> Any:
            if failing["now"] and feed["input_ids"].shape == (3, 4):
                raise RuntimeError("out of memory")
            return super().run(names, feed, *options)

    monkeypatch.setattr(onnxruntime, "InferenceSession", Failing)
    embedder = OnnxEmbedder(model_dir)
    texts = ["read the mail of today", *["send mail"] * 3, "weather"]

    with pytest.raises(EmbeddingUnavailable, match="failed: out of memory"):
        embed(embedder, *texts)

    failing["now"] = False
    assert embed(embedder, *texts) == embed(OnnxEmbedder(model_dir), *texts)


def test_when_the_time_is_up_between_runs_no_other_run_begins(model_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """GIVEN runs that do not end in time WHEN nine are needed THEN at most one for each thread has begun."""
    import onnxruntime

    go_on = threading.Event()
    begun: list[int] = []

    class Stuck(onnxruntime.InferenceSession):  # type: ignore[misc]
        def run(self, names: Any, feed: Any, *options: Any) -> Any:
            begun.append(feed["input_ids"].shape[1])
            assert go_on.wait(timeout=30)
            return super().run(names, feed, *options)

    monkeypatch.setattr(onnxruntime, "InferenceSession", Stuck)
    embedder = OnnxEmbedder(model_dir)
    embedder._loader.engine()

    with pytest.raises(EmbeddingUnavailable, match=r"did not answer within 0\.3 s"):
        embedder.embed(["word " * (count + 1) for count in range(9)], timeout_s=0.3)

    go_on.set()
    [after] = embed(embedder, "send mail")
    assert [after] == embed(OnnxEmbedder(model_dir), "send mail")
    assert sum(length > 4 for length in begun) <= 4


@given(st.lists(st.integers(0, 300), max_size=80))
def test_batches_have_every_text_once_by_its_length_and_the_longest_first(lengths: list[int]) -> None:
    batches = batches_by_length(lengths)

    assert sorted(place for batch in batches for place in batch) == list(range(len(lengths)))
    of_batches = [{lengths[place] for place in batch} for batch in batches]
    assert all(len(of_one) == 1 for of_one in of_batches)
    assert of_batches == sorted(of_batches, key=max, reverse=True)
    assert all(len(batch) == 1 or sum(lengths[place] for place in batch) <= 256 for batch in batches)


@pytest.mark.parametrize("name", packaged_models())
def test_the_unused_place_of_a_packaged_model_is_0_whatever_the_text(name: str) -> None:
    embedder = OnnxEmbedder(models_dir() / name)
    assert embedder.model.unused is not None
    texts = ["send mail", "x", "", "データベースを検索", "word " * 400, "SELECT 1; -- \u2603"]
    for of_type in (embedder, embedder.for_messages()):
        vectors = of_type.embed(texts, timeout_s=60)
        assert max(abs(vector[embedder.model.unused]) for vector in vectors) < 1e-7
