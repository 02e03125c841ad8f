"""Judged sets among real tools: what is left out of them, what is said of hybrid search, and which sets are marked."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from skillroute.core.embedding.hashing import HashingEmbedder

from benchmarks.corpora.crowd import ALIKE, apart, beside
from benchmarks.standing.among_report import verdicts
from benchmarks.standing.marks import HEAD, MARKS, marked, with_marks

ROOT = Path(__file__).parents[4]

PAGE = (ROOT / "docs" / "benchmarks.md").read_text("utf-8")


def row(method: str, recall_5: float, where: str = "among") -> dict[str, object]:
    figures = {"recall@1": 0.5, "recall@5": recall_5, "ndcg@5": 0.5}
    return {"set": "metatool", "where": where, "tools": 9, "queries": 2, "method": method, **figures}


def test_a_tool_that_is_like_any_right_one_is_left_out() -> None:
    right = np.array([[1.0, 0.0], [0.0, 1.0]], np.float32)
    near, far = [ALIKE, (1 - ALIKE**2) ** 0.5], [0.8, 0.6]
    assert apart(np.array([[0.0, 1.0], far, near], np.float32), right).tolist() == [False, True, False]
    assert apart(np.zeros((2, 2), np.float32), right[:0]).tolist() == [True, True]


def test_beside_a_set_stand_others_once_each_that_are_not_like_its_right_tools() -> None:
    own = {"a": {"server": "mail", "name": "send"}, "b": {"server": "mail", "name": "read"}}
    names = {"1": ("mail", "send"), "2": ("mail", "read"), "3": ("chess", "move"), "4": ("chess", "move")}
    others = [{"id": id_, "server": server, "name": name, "category": "x"} for id_, (server, name) in names.items()]
    assert beside(own, {"a"}, others, HashingEmbedder()) == {"3": {"server": "chess", "name": "move"}}
    like = [{"id": "5", "server": "mail", "name": "Send"}]
    assert beside(own, {"a"}, like, HashingEmbedder()) == {}
    assert set(beside(own, {"b"}, like, HashingEmbedder())) == {"5"}


@pytest.mark.parametrize(("hybrid", "said"), [(0.7, "On 1 of 1"), (0.6, "On 1 of 1"), (0.599, "On 0 of 1")])
def test_hybrid_wins_where_neither_half_is_above_it(hybrid: float, said: str) -> None:
    halves = [row("direct semantic", 0.5), row("direct semantic, no thresholds", 0.6), row("direct lexical", 0.4)]
    text = verdicts([row("hierarchical hybrid", hybrid), row("direct hybrid", hybrid), *halves])
    assert text.startswith(said)
    assert ("not on: metatool" in text) is (hybrid < 0.6)
    assert f"{hybrid - 0.6 + 0.0:+.3f}" in text


def test_the_page_marks_every_set_that_something_was_fitted_or_chosen_on() -> None:
    """Else run `python -m benchmarks.standing.marks docs/benchmarks.md`."""
    assert with_marks(PAGE) == PAGE
    compared = PAGE.partition("\n## Compared with others\n")[2].partition("\n## ")[0]
    assert HEAD in compared
    assert f"| {marked('bfcl')} | 1287 |" in compared


def test_a_report_marks_a_set_and_says_what_the_marks_mean() -> None:
    page = "# Page\n\n## Retrieval quality\n\nA machine.\n\nOptions: `{}`\n\n### bfcl\n\n| set |\n|---|\n| new |\n"
    page += "\n## Corpus\n\n| set |\n|---|\n| bfcl |\n"
    text = with_marks(page)
    assert f"### bfcl {MARKS['bfcl']}\n" in text
    assert text.index("Options") < text.index(HEAD) < text.index("### bfcl")
    assert "| new |" in text
    assert text.endswith("| bfcl |\n")
    assert with_marks(text) == text


def test_training_and_benchmarks_leave_out_the_same() -> None:
    """By one function: what `training/among.py` takes of `benchmarks/corpora/crowd.py`."""
    code = (
        "import sys; sys.path.insert(0, 'training'); import among; "
        "from benchmarks.corpora import crowd; assert among.apart is crowd.apart"
    )
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True, capture_output=True)
