"""Draw recall@5 of what `compare.py` measured: sets down, a mark for each method. SVG, for light and dark pages.

python -m benchmarks.standing.compare_picture .bench/compare.json docs/retrieval.svg
"""

from __future__ import annotations

import argparse
import json
import statistics
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path

_WIDTH, _LEFT, _RIGHT, _TOP, _ROW = 760, 180, 28, 96, 34
_LEGEND_COLUMNS = (180, 372, 564)
# Classes and plain colours: what shows SVG outside of browsers often knows no variables and no dark pages.
_COLOURS = {
    "page": ("#ffffff", "#0d1117"),
    "text": ("#1f2328", "#f0f6fc"),
    "line": ("#d1d9e0", "#3d444d"),
    "peer": ("#6e7781", "#9198a1"),
    "bigtool": ("#bc4c00", "#f0883e"),
    "fastmcp": ("#8250df", "#bc8cff"),
    "ours": ("#0969da", "#58a6ff"),
    "tuned": ("#1a7f37", "#3fb950"),
}


@dataclass(frozen=True, slots=True)
class Mark:
    """How a method is drawn: a shape, its colour, and whether it is filled; so that no two differ by colour alone."""

    label: str
    shape: str
    colour: str
    filled: bool = False


MARKS: Mapping[str, Mark] = {
    "BM25": Mark("BM25", "cross", "peer"),
    "MiniLM": Mark("MiniLM", "circle", "peer"),
    "RRF": Mark("RRF of BM25 and MiniLM", "diamond", "peer"),
    "langgraph-bigtool": Mark("langgraph-bigtool", "square", "bigtool"),
    "FastMCP": Mark("FastMCP", "triangle", "fastmcp"),
    "hybrid": Mark("Skillroute", "circle", "ours", filled=True),
    "hybrid (tuned)": Mark("Skillroute, tuned encoder", "diamond", "tuned", filled=True),
}


def drawing(values: Mapping[str, Mapping[str, float]]) -> str:
    """Return the picture of values in 0..1, by set and method."""
    methods = [method for method in MARKS if all(method in row for row in values.values())]
    means = {method: statistics.mean(row[method] for row in values.values()) for method in methods}
    rows = {**values, "mean": means}
    height = _TOP + _ROW * len(rows) + 34
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" width="{_WIDTH}" role="img">',
        f"<title>{escape(described(means))}</title>",
        f"<style>{_style()}</style>",
        f'<rect class="page" width="{_WIDTH}" height="{height}" rx="6"/>',
        '<text x="16" y="26" class="mean">Recall@5</text>',
        *_legend(methods),
        *_axis(height),
    ]
    for number, (name, row) in enumerate(rows.items()):
        y = _TOP + _ROW * number + _ROW // 2
        weight = ' class="mean"' if name == "mean" else ""
        parts.append(f'<text x="16" y="{y + 4}"{weight}>{escape(name)}</text>')
        parts.append(f'<line class="line" x1="{_LEFT}" x2="{_WIDTH - _RIGHT}" y1="{y}" y2="{y}"/>')
        parts += [_mark(MARKS[method], _x(row[method]), y) for method in methods]
    return "\n".join([*parts, "</svg>", ""])


def described(means: Mapping[str, float]) -> str:
    """Return what the picture shows, for those who do not see it."""
    return "Recall@5, mean of the sets: " + ", ".join(f"{MARKS[name].label} {means[name]:.2f}" for name in means)


def _x(value: float) -> float:
    return round(_LEFT + value * (_WIDTH - _LEFT - _RIGHT), 1)


def _axis(height: int) -> Iterator[str]:
    for tenth in range(0, 11, 2):
        x = _x(tenth / 10)
        yield f'<line class="line" x1="{x}" x2="{x}" y1="{_TOP}" y2="{height - 30}"/>'
        yield f'<text x="{x}" y="{height - 12}" text-anchor="middle">{tenth / 10:.1f}</text>'


def _legend(methods: Sequence[str]) -> Iterator[str]:
    for number, method in enumerate(methods):
        column, line = _LEGEND_COLUMNS[number % len(_LEGEND_COLUMNS)], number // len(_LEGEND_COLUMNS)
        y = 22 + 24 * line
        yield _mark(MARKS[method], column + 6, y)
        yield f'<text x="{column + 20}" y="{y + 4}">{escape(MARKS[method].label)}</text>'


def _mark(mark: Mark, x: float, y: float) -> str:
    kind = f'class="{mark.colour}{" filled" if mark.filled else ""}"'
    if mark.shape == "circle":
        return f'<circle cx="{x}" cy="{y}" r="6" {kind}/>'
    paths = {
        "square": f"M{x - 5.5:.1f} {y - 5.5}h11v11h-11z",
        "diamond": f"M{x} {y - 8}l8 8l-8 8l-8 -8z",
        "triangle": f"M{x} {y - 7}l7 12h-14z",
        "cross": f"M{x - 5:.1f} {y - 5}l10 10m0 -10l-10 10",
    }
    return f'<path d="{paths[mark.shape]}" {kind}/>'


def _style() -> str:
    light, dark = (_colours({name: pair[page] for name, pair in _COLOURS.items()}) for page in (0, 1))
    fonts = 'text { font: 13px system-ui, -apple-system, "Segoe UI", Helvetica, Arial, sans-serif; }'
    return f"{fonts} .mean {{ font-weight: 600; }} {light} @media (prefers-color-scheme: dark) {{ {dark} }}"


def _colours(colour: Mapping[str, str]) -> str:
    marks = [name for name in colour if name not in {"page", "text", "line"}]
    rules = [f".page {{ fill: {colour['page']}; }} text {{ fill: {colour['text']}; }}"]
    rules.append(f".line {{ stroke: {colour['line']}; }}")
    rules += [f".{name} {{ stroke: {colour[name]}; stroke-width: 2; fill: {colour['page']}; }}" for name in marks]
    rules += [f".{name}.filled {{ fill: {colour[name]}; }}" for name in marks]
    return " ".join(rules)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("results", type=Path, help="the JSON file of compare.py")
    parser.add_argument("picture", type=Path, help="the SVG file to write")
    args = parser.parse_args()
    values: dict[str, dict[str, float]] = {}
    for row in json.loads(args.results.read_text(encoding="utf-8"))["results"]["rows"]:
        values.setdefault(row["set"], {})[row["method"]] = row["recall@5"]
    args.picture.write_text(drawing(values), encoding="utf-8")
    print(f"written: {args.picture}")


if __name__ == "__main__":
    main()
