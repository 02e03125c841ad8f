"""What an error says of a pattern."""

from __future__ import annotations

import pytest
from skillroute.core.sentences import sentence_of, spelt

PATTERN = "^of-this-test-[a-z]+$"


def test_a_pattern_has_one_sentence() -> None:
    spelt(PATTERN, "must be of this test")
    spelt(PATTERN, "must be of this test")
    with pytest.raises(ValueError, match="has the sentence 'must be of this test' already"):
        spelt(PATTERN, "must be of another")
    found = {"type": "string_pattern_mismatch", "msg": "String should match", "ctx": {"pattern": PATTERN}}
    assert sentence_of(found) == "must be of this test"
