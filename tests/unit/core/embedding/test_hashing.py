"""The double without a model: the same everywhere, forever."""

from __future__ import annotations

import math
import os
import subprocess
import sys

import pytest
from skillroute.core.embedding.hashing import HashingEmbedder
from skillroute.core.embedding.model import EmbeddingModel, Vector

PRINT_VECTOR = """
from skillroute.core.embedding.hashing import HashingEmbedder
print(HashingEmbedder(16).embed(["Send an e-mail"], timeout_s=1)[0])
"""


def cosine(a: Vector, b: Vector) -> float:
    return math.fsum(x * y for x, y in zip(a, b, strict=True))


def in_new_process(hash_seed: str) -> str:
    environment = {**os.environ, "PYTHONHASHSEED": hash_seed, "PYTHONPATH": os.pathsep.join(sys.path)}
    return subprocess.run(
        [sys.executable, "-c", PRINT_VECTOR], env=environment, capture_output=True, text=True, check=True
    ).stdout


def test_its_name_is_hashing_and_its_dimension_is_chosen() -> None:
    assert HashingEmbedder().model == EmbeddingModel("hashing", 384)
    assert HashingEmbedder(dimension=7).model == EmbeddingModel("hashing", 7)


def test_another_process_makes_the_same_vector() -> None:
    here = f"{HashingEmbedder(16).embed(['Send an e-mail'], timeout_s=1)[0]}\n"

    assert in_new_process("1") == in_new_process("2") == here


def test_case_and_punctuation_do_not_matter_and_words_are_alike_by_their_letters() -> None:
    plain, shouted, snake, inflected, other = HashingEmbedder().embed(
        ["send email", "SEND, EMAIL!", "send_email", "sending emails", "prime numbers"], timeout_s=1
    )

    assert plain == shouted == snake
    assert 0.99 > cosine(plain, inflected) > cosine(plain, other) + 0.2


@pytest.mark.parametrize("dimension", [1, 2, 3])
def test_features_that_cancel_out_still_leave_a_vector(dimension: int) -> None:
    texts = [f"word{number} other{number}" for number in range(200)]

    for vector in HashingEmbedder(dimension).embed(texts, timeout_s=1):
        assert math.hypot(*vector) == pytest.approx(1)
