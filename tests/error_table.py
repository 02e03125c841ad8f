"""The table of error codes in docs/api.md: `python -m tests.error_table` writes it anew from the code."""

from __future__ import annotations

from pathlib import Path

from skillroute.core.errors.codes import ErrorCode

PAGE = Path(__file__).parents[1] / "docs" / "api.md"
BEGIN, END = "<!-- error codes -->\n", "<!-- end of error codes -->\n"


def table() -> str:
    """Return the table as Markdown, by status."""
    codes = sorted(ErrorCode, key=lambda code: code.status)  # those of one status stay in the order of the code
    rows = [f"| {code.status} | `{code.value}` | {code.meaning} |\n" for code in codes]
    return "".join(["| status | code | meaning |\n", "|---|---|---|\n", *rows])


def with_table(page: str) -> str:
    """Return the page with the table of today between its marks."""
    before, rest = page.split(BEGIN)
    return f"{before}{BEGIN}{table()}{END}{rest.split(END)[1]}"


if __name__ == "__main__":
    PAGE.write_text(with_table(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
