"""The comparison with others: who is asked and how, what counts as unseen, and what becomes of the figures."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from xml.etree import ElementTree

import pytest

from benchmarks.corpora.held_out import TRAINED_ON, held_out_tools
from benchmarks.standing.compare_picture import MARKS, drawing
from benchmarks.standing.compare_processes import ENCODERS, Asked, methods
from training.data import held_out

ROOT = Path(__file__).parents[4]
PEERS = ROOT / "benchmarks" / "standing" / "peers"
SVG = "{http://www.w3.org/2000/svg}"
PEER = """
from answering import serve

def load(given):
    print("a library's greeting")
    ids = [tool["id"] for tool in given["tools"]]
    return {"all": lambda query: ids, "named": lambda query: [id_ for id_ in ids if id_ == query]}

serve(load, ["pytest"])
"""


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return tmp_path / "peer.log"


@contextmanager
def peer(source: str, log: Path) -> Iterator[Asked]:
    script = log.with_suffix(".py")
    script.write_text(f"import sys\nsys.path.insert(0, {str(PEERS)!r})\n{source}", "utf-8")
    asked = Asked("peer", [sys.executable, str(script)], {"tools": [{"id": str(n)} for n in range(9)]}, log)
    try:
        yield asked
    finally:
        asked.close()


def test_a_peer_answers_five_ids_with_its_time_whatever_it_prints(log: Path) -> None:
    with peer(PEER, log) as asked:
        assert asked.wait_until_loaded() == {"pytest": pytest.__version__}
        answer = asked.ask("all", "anything")
        assert answer["ids"] == ["0", "1", "2", "3", "4"]
        assert answer["ms"] >= answer["cpu_ms"] - 1.0 >= -1.0
        assert asked.ask("named", "7")["ids"] == ["7"]


def test_a_peer_that_ends_is_an_error_with_its_last_words_and_where_all_of_them_are(log: Path) -> None:
    with (
        peer("raise SystemExit('no such model')", log) as asked,
        pytest.raises(RuntimeError, match=rf"^peer ended: no such model; all of it is in {re.escape(str(log))}$"),
    ):
        asked.wait_until_loaded()


def test_every_method_of_an_encoder_is_asked_once_and_those_without_one_once_in_all() -> None:
    names = [method.name for method in methods(ENCODERS)]
    assert len(set(names)) == len(names)
    assert {"BM25", "FastMCP", "langgraph-bigtool", "langgraph-bigtool (tuned)", "hybrid", "hybrid (tuned)"} < set(
        names
    )
    assert [name for name in names if name.startswith("lexical")] == ["lexical", "lexical direct"]
    assert set(MARKS) <= set(names)


@pytest.mark.parametrize("name", sorted(TRAINED_ON))
def test_what_is_unseen_is_what_training_held_out(name: str) -> None:
    tools = [{"id": f"t{n}", "server": f"s{n % 40}", "category": f"field {n % 30}/part {n}"} for n in range(400)]
    of = "server" if name == "tool-requests" else "category"
    unseen = held_out_tools(name, tools)
    assert unseen == {tool["id"] for tool in tools if held_out(name, tool[of].partition("/")[0])}
    assert 0 < len(unseen) < 200
    alone = [{"id": f"t{n}"} for n in range(400)]
    assert held_out_tools(name, alone) == {tool["id"] for tool in alone if held_out(name, tool["id"])}


def test_the_picture_has_a_mark_for_each_method_and_set_and_for_their_mean() -> None:
    values = {name: dict.fromkeys(MARKS, 0.5) for name in ("<one>", "two")}
    picture = ElementTree.fromstring(drawing(values))
    names = [text.text for text in picture.iter(f"{SVG}text")]
    assert {"<one>", "two", "mean"} < set(names)
    marks = [*picture.iter(f"{SVG}circle"), *picture.iter(f"{SVG}path")]
    assert len(marks) == len(MARKS) * (3 + 1)  # and the legend
    assert "prefers-color-scheme: dark" in (picture.findtext(f"{SVG}style") or "")
    assert "Skillroute 0.50" in (picture.findtext(f"{SVG}title") or "")


def test_a_report_that_keeps_replaces_its_own_sections_alone(tmp_path: Path) -> None:
    row = {"set": "one", "tools": 9, "queries": 2, "method": "hybrid", "recall@1": 0.25, "recall@5": 0.75}
    row |= {"ndcg@5": 0.5, "comp@5": 0.5, "ms": 4.0, "cpu_ms": 3.0, "times": 1.0}
    row |= {"several": 1, "comp@5, several": 0.125}
    others = ("BM25", "MiniLM", "RRF", "FastMCP", "langgraph-bigtool", "hybrid (tuned)")
    rows = [row, *({**row, "method": name} for name in others)]
    rows += [{**found, "set": "two", "several": 0, "comp@5, several": None} for found in rows]
    difference = {"set": "one", "peer": "BM25", "mean": 0.1, "low": 0.05, "high": 0.15}
    machine = {"cpu": "A processor", "cores": 2, "memory_gib": 23.5, "system": "Linux", "python": "3.11.7"}
    measured = {
        "benchmark": "compare",
        "options": {"seed": 7, "peers": "/here", "folder": "/there"},
        "machine": {**machine, "packages": {}, "date": "2026-11-21T10:00", "commit": "3d8e671", "load_average": [1.0]},
        "results": {"rows": rows, "differences": [difference], "versions": {"fastmcp": "4.1.2"}},
    }
    results, page = tmp_path / "compare.json", tmp_path / "page.md"
    results.write_text(json.dumps(measured), "utf-8")
    kept = "## Corpus\n\nWhat was measured before.\n"
    page.write_text(f"# Benchmarks\n\n## Compared with others\n\nOld.\n\n{kept}", "utf-8")

    command = [sys.executable, "-m", "benchmarks.standing.report", str(results), "--output", str(page), "--keep"]
    subprocess.run(command, check=True, capture_output=True, cwd=ROOT)

    text = page.read_text("utf-8")
    assert text.endswith(kept)
    assert "Old." not in text
    assert text.count("## Compared with others\n") == 1
    assert 'Options: `{"seed": 7}`' in text
    assert "| mean |  |  | 0.75 |" in text
    several = text.partition("### COMP@5 of the requests with several needs\n")[2].partition("### ")[0]
    assert "| one | 9 | 1 | 0.125 |" in several
    assert "| two |" not in several
    assert "| mean |  |  | 0.125 |" in several
    assert "| one | +0.100 (+0.050 to +0.150) |" in text
    assert "Recall@5 beside others, mean of the judged sets | BM25 0.75, " in text
