"""The reranker in this process: what it needs, what it reads, what it says when something is missing."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from skillroute.core.errors.model import RerankerUnavailable
from skillroute.core.reranking.onnx import OnnxReranker
from skillroute.core.settings import RerankSettings
from skillroute.wiring.providers import make_reranker

FOLDER = Path(__file__).parents[3] / "data" / "word_reranker"
REQUEST = "send a message"
TEXTS = ["weather of city", "send email", "send a message to"]
NOTHING_LOADED = """
import sys
from pathlib import Path
from skillroute.core.reranking.onnx import OnnxReranker
reranker = OnnxReranker(Path(sys.argv[1]))
reranker.name, reranker.logits("x", [], timeout_s=1)
print(sorted({"numpy", "onnxruntime", "tokenizers"} & sys.modules.keys()))
"""


@pytest.fixture
def reranker() -> OnnxReranker:
    return OnnxReranker(FOLDER)


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """A folder of its own with the model's files, linked."""
    for name in ("model.json", "model.onnx", "tokenizer.json"):
        (tmp_path / name).symlink_to(FOLDER / name)
    return tmp_path


def logits(reranker: OnnxReranker, query: str = REQUEST, texts: Sequence[str] = TEXTS) -> list[float]:
    return reranker.logits(query, texts, timeout_s=30)


def test_each_text_has_the_logit_that_the_graph_gives_it(reranker: OnnxReranker) -> None:
    """A word of the request is worth 1; "a" is not in the vocabulary, and every unknown word is the same."""
    assert logits(reranker) == [-1.0, 0.0, 2.0]
    assert reranker.name == "onnx/word-reranker"


def test_no_logit_depends_on_the_texts_beside_it_nor_on_their_order(reranker: OnnxReranker) -> None:
    together = logits(reranker)
    many = [TEXTS[number % 3] for number in range(25)]
    assert [logit for text in TEXTS for logit in logits(reranker, texts=[text])] == together
    assert logits(reranker, texts=many) == [together[number % 3] for number in range(25)]


@pytest.mark.parametrize("query", ["", "x", "\ud800", "screenshot " * 2000, "😀" * 500])
@pytest.mark.parametrize("text", ["", " ", "\udfff\x00", "word " * 5000, "w" * 20_000])
def test_any_text_has_a_number(reranker: OnnxReranker, query: str, text: str) -> None:
    [logit] = logits(reranker, query, [text])
    assert -1.0 <= logit < 100.0


def test_texts_are_cut_where_the_description_says_and_keep_their_last_token(reranker: OnnxReranker) -> None:
    eight = "take city to weather of current screenshot mail"
    assert logits(reranker, "mail", [eight]) == [0.0]
    assert logits(reranker, "mail current", [f"{eight} email"]) == [0.0], "mail is cut, email is the last"
    assert logits(reranker, "email", [f"{eight} email"]) == [0.0]


def test_threads_get_what_one_gets() -> None:
    fresh = OnnxReranker(FOLDER)
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda _: logits(fresh), range(8)))
    assert all(one == found[0] for one in found)


def test_nothing_is_imported_before_it_is_needed() -> None:
    command = [sys.executable, "-c", NOTHING_LOADED, str(FOLDER)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize("file", ["model.json", "model.onnx", "tokenizer.json"])
@pytest.mark.parametrize("damage", ["missing", "damaged"])
def test_a_file_that_is_not_there_or_damaged_is_named(copy: Path, file: str, damage: str) -> None:
    (copy / file).unlink()
    if damage == "damaged":
        (copy / file).write_text("{}")
    with pytest.raises(RerankerUnavailable, match=file):
        logits(OnnxReranker(copy))


def test_a_graph_of_another_kind_is_refused_by_name(copy: Path) -> None:
    encoder = next(Path(__file__).parents[4].glob("layers/inference/models/*/model.onnx"))
    (copy / "model.onnx").unlink()
    (copy / "model.onnx").symlink_to(encoder)
    with pytest.raises(RerankerUnavailable, match=r"model\.onnx takes .*attention_mask"):
        logits(OnnxReranker(copy))


def test_a_failure_is_not_remembered(copy: Path) -> None:
    (copy / "model.onnx").unlink()
    reranker = OnnxReranker(copy)
    with pytest.raises(RerankerUnavailable):
        logits(reranker)
    (copy / "model.onnx").symlink_to(FOLDER / "model.onnx")
    assert len(logits(reranker)) == len(TEXTS)


def test_the_time_limit_is_looked_at_between_runs(reranker: OnnxReranker) -> None:
    with pytest.raises(RerankerUnavailable, match="within 1e-09 s"):
        reranker.logits(REQUEST, TEXTS, timeout_s=1e-9)


def test_a_folder_is_what_onnx_is_set_to() -> None:
    with pytest.raises(ValueError, match="SKILLROUTE_RERANK_PROVIDER=onnx needs SKILLROUTE_RERANK_MODEL_DIR"):
        RerankSettings(rerank_provider="onnx")
    made = make_reranker(RerankSettings(rerank_provider="onnx", rerank_model_dir=FOLDER))
    assert made is not None
    assert made.name == "onnx/word-reranker"
    assert make_reranker(RerankSettings(rerank_model_dir=FOLDER)) is None, "it is not asked for"


def test_nothing_is_the_default_and_bedrock_wants_a_model() -> None:
    assert make_reranker(RerankSettings()) is None
    with pytest.raises(ValueError, match="SKILLROUTE_RERANK_PROVIDER=bedrock needs SKILLROUTE_RERANK_MODEL"):
        RerankSettings(rerank_provider="bedrock")
    made = make_reranker(RerankSettings(rerank_provider="bedrock", rerank_model="amazon.rerank-v1:0"))
    assert made is not None
    assert made.name == "bedrock/amazon.rerank-v1:0"
