"""Markdown tables of rows, as every section of docs/benchmarks.md has them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any


def table(rows: Sequence[Mapping[str, Any]]) -> str:
    """Return a Markdown table under the names of the first row's fields."""
    names = list(rows[0])
    lines = ["| " + " | ".join(names) + " |", "|" + "---|" * len(names)]
    lines += ["| " + " | ".join(_cell(row.get(name, "")) for name in names) + " |" for row in rows]
    return "\n".join(lines)


def _cell(value: Any) -> str:
    if isinstance(value, dict):
        return " / ".join(f"{number:.1f}" for number in value.values())
    return f"{value:.3f}".rstrip("0").rstrip(".") if isinstance(value, float) else str(value)


def span(row: Mapping[str, Any]) -> str:
    """Return a difference with its interval."""
    return f"{row['mean']:+.3f} ({row['low']:+.3f} to {row['high']:+.3f})"


def titled(titles: Mapping[str, str], results: Mapping[str, Any]) -> list[str]:
    """Return a table under its title for each name that the results have."""
    return [f"### {title}\n\n{table(results[name])}" for name, title in titles.items() if results.get(name)]
