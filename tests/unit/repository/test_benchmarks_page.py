"""docs/benchmarks.md begins with the figures that matter, which are those of its own tables."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.standing.summary import FIGURES, TITLE, Figure, with_summary

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs" / "benchmarks.md").read_text("utf-8")
MEASURED = """# Benchmarks

## Speed

A processor, 2 cores, 23.5 GiB; Linux; Python 3.11.7. 2026-11-21, commit 3d8e671. One run.

### Over HTTP, 10 tools

| of | whole | errors |
|---|---|---|
| one | 3.5 / 4.6 / 6.5 | 0 |
| two | 7.0 / 9.0 / 9.9 | 1 |

### Over HTTP, 100 tools

| of | whole | errors |
|---|---|---|
| one | 8.0 / 9.6 / 9.9 | 0 |
"""


def figure(row: str = "one", table: str = "Over HTTP, 10 tools", column: str = "whole") -> Figure:
    return Figure("Speed of one", "Speed", table, [("", {"of": row}, column)])


def test_the_page_begins_with_its_own_figures() -> None:
    """Else run `python -m benchmarks.standing.summary docs/benchmarks.md`."""
    assert with_summary(PAGE) == PAGE
    summary = PAGE.partition("\n## ")[2].partition("\n## ")[0]
    assert summary.startswith(TITLE)
    assert 10 < summary.count("\n| ") - 1 <= len(FIGURES)  # without Docker, cold starts are not measured


def test_a_figure_is_a_cell_of_the_page_with_its_date_and_machine() -> None:
    page = with_summary(MEASURED, [figure()])
    assert "| Speed of one | p50 3.5, p95 4.6 | 2026-11-21 | A processor, 2 cores |" in page
    assert page.index(TITLE) < page.index("## Speed")
    assert "p50 8.0, p95 9.6" in with_summary(MEASURED, [figure(table="Over HTTP, 100 tools")])


def test_a_summary_is_replaced_by_the_next() -> None:
    page = with_summary(MEASURED, [figure()])
    assert with_summary(page.replace("3.5 / 4.6", "1.5 / 2.6"), [figure()]).count("p50 1.5, p95 2.6") == 1
    assert with_summary(page, [figure()]) == page


def test_what_was_not_measured_has_no_row() -> None:
    assert with_summary(MEASURED, [figure(table="Over HTTP, 1000 tools")]) == MEASURED


@pytest.mark.parametrize("wrong", [figure(row="three"), figure(column="p99")])
def test_a_row_or_column_that_went_is_an_error_that_names_it(wrong: Figure) -> None:
    with pytest.raises(LookupError, match="Over HTTP, 10 tools"):
        with_summary(MEASURED, [wrong])


def test_a_report_begins_with_it(tmp_path: Path) -> None:
    row = {"group": "all", "with tools": 1, "ndcg@3": 0.5, "mrr": 0.6}
    machine = {"cpu": "A processor", "cores": 2, "memory_gib": 23.5, "system": "Linux", "python": "3.11.7"}
    measured = {
        "benchmark": "registry_quality",
        "options": {},
        "machine": {**machine, "packages": {}, "date": "2026-11-21T10:00", "commit": "3d8e671", "load_average": [1.0]},
        "results": {
            "means": [{**row, "ranking": ranking} for ranking in ("boost", "coverage", "vector")],
            "shares": [{"share": 0.1}],
            "differences": [
                {"group": "all", "difference": f"{fusion} - {half}", "measure": "ndcg@3", "shown": "better"}
                | {"mean": 0.1, "low": 0.0, "high": 0.2}
                for fusion in ("boost", "rrf", "coverage")
                for half in ("vector", "keyword")
            ],
        },
    }
    (tmp_path / "one.json").write_text(json.dumps(measured), "utf-8")

    command = [sys.executable, "-m", "benchmarks.standing.report", str(tmp_path), "--output", str(tmp_path / "page.md")]
    subprocess.run(command, check=True, capture_output=True, cwd=ROOT)

    page = (tmp_path / "page.md").read_text("utf-8")
    assert "boost 0.5, coverage 0.5, vector 0.5 | 2026-11-21 | A processor, 2 cores |" in page
    assert page.index(TITLE) < page.index("## Registry search: quality")
