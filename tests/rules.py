"""The rules that code and tests cite, the pages of docs/rules that state them, and the tests that cite each.

A rule has a page and a heading of that page: `("search-contract", "BR-003")` is docs/rules/search-contract.md#br-003.
`python -m tests.rules` writes the lists of tests into the pages again, after tests were added or moved.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGES = ROOT / "docs" / "rules"
CODE = ("layers/common/python/skillroute", "functions", "local", "tests", "infrastructure", "template.yaml")
NUMBERED = ("search-contract", "skill-contract")  # both number their rules BR-001, BR-002, ... EC-001, ...
NO_TEST = "Not built yet"  # how the paragraph begins that stands in the place of a list of tests

Rule = tuple[str, str]

_LIST = re.compile(r"\d+(?:(?:, | and | to )\d+)*")
_PAGE = r"(search-contract|skill-contract|skill-search-design|registry-search-design|message-search)"
_NUMBERED_RULE = re.compile(
    r"(?:(search|skill)-contract,? )?\b(BR|EC)-(\d{3})(?: to (?:BR|EC)-(\d{3}))?|\btest_(br|ec)_(\d{3})_", re.IGNORECASE
)
_OTHERS_AFTER = re.compile(r"(?:, | and )(BR|EC)-(\d{3})")
_DECISION = re.compile(rf"\bdecisions? ({_LIST.pattern})|\btest_decisions?_(\d+)_", re.IGNORECASE)
_SECTION = re.compile(
    rf"\bmessage-search, (?:sections? )?({_LIST.pattern})|\bsections? ({_LIST.pattern}) of message-search",
    re.IGNORECASE,
)
_WORD = r"[A-Z][\w-]*"
_NAME = rf"{_WORD}(?: (?:in )?{_WORD})*"
_NAMED = re.compile(rf"\b{_PAGE}(?:,|:| \() ?({_NAME}(?:(?:, | and ){_NAME})*)")


def pages() -> dict[str, str]:
    """Return the text of each page by its name."""
    return {path.stem: path.read_text("utf-8") for path in sorted(PAGES.glob("*.md")) if path.stem != "README"}


def stated() -> dict[Rule, str]:
    """Return what the pages say of each rule, its tests included."""
    return {
        (page, heading): text.strip()
        for page, whole in pages().items()
        for heading, text in re.findall(r"^## (.+)\n((?:(?!## ).*\n?)*)", whole, re.MULTILINE)
    }


def code() -> Iterator[Path]:
    """Return the files that may cite rules; this one and its test quote ids that are none."""
    for name in CODE:
        path = ROOT / name
        for file in sorted(path.rglob("*")) if path.is_dir() else [path]:
            if file.suffix in {".py", ".sql", ".yaml"} and file.name not in {"rules.py", "test_rules.py"}:
                yield file


def numbers(listed: str) -> list[int]:
    """Return the numbers of `1`, `1 and 3`, `1 to 3`, `1, 3 and 5 to 7`."""
    found: list[int] = []
    for part in re.split(r", | and ", listed):
        first, _, last = part.partition(" to ")
        found.extend(range(int(first), int(last or first) + 1))
    return found


@cache
def cited(text: str) -> tuple[set[Rule], set[str]]:
    """Return the rules that a file cites, and the numbered ids of which it does not say whose they are.

    An id without a contract is of the contract that the file names elsewhere, when it names only one.
    """
    flat = re.sub(r"\s*\n\s*(?:#|--)? *", " ", text)
    rules: set[Rule] = {("decisions", f"Decision {n}") for m in _DECISION.finditer(flat) for n in numbers(m[1] or m[2])}
    rules |= {("message-search", f"Section {n}") for m in _SECTION.finditer(flat) for n in numbers(m[1] or m[2])}
    for match in _NAMED.finditer(flat):
        names = (name for name in re.split(r", | and ", match[2]) if not re.match(r"(BR|EC)-\d", name))
        rules |= {(match[1], name) for name in names}
    named = {page for page in NUMBERED if page in flat.lower()}
    unclear = set()
    for page, rule in _numbered(flat):
        owner = page or (min(named) if len(named) == 1 else "")
        if owner:
            rules.add((owner, rule))
        else:
            unclear.add(rule)
    return rules, unclear


def _numbered(flat: str) -> Iterator[tuple[str, str]]:
    """Return contract, when it stands before the id, and id of every numbered rule."""
    for match in _NUMBERED_RULE.finditer(flat):
        page = f"{match[1].lower()}-contract" if match[1] else ""
        kind = (match[2] or match[5]).upper()
        first = int(match[3] or match[6])
        yield from ((page, f"{kind}-{number:03}") for number in range(first, int(match[4] or first) + 1))
        others = flat[match.end() :]
        while page and (other := _OTHERS_AFTER.match(others)):
            yield page, f"{other[1]}-{other[2]}"
            others = others[other.end() :]


@cache
def tests_by_rule() -> dict[Rule, list[Path]]:
    """Return the test files that cite each rule; they are read once."""
    found: dict[Rule, list[Path]] = {}
    for file in code():
        if file.name.startswith("test_"):
            for rule in cited(file.read_text("utf-8"))[0]:
                found.setdefault(rule, []).append(file)
    return found


def listed(tests: list[Path]) -> str:
    """Return the list of tests as it stands under a rule."""
    lines = (f"- [{_shown(file)}]({os.path.relpath(file, PAGES)})" for file in sorted(tests))
    return "\n".join(["Tests:", "", *lines])


def _shown(file: Path) -> str:
    tier, *_, name = file.relative_to(ROOT / "tests").parts
    return f"{tier}: {file.parent.name}/{name}"


def with_tests(page: str, text: str, tests: dict[Rule, list[Path]]) -> str:
    """Return a page with the lists of tests that the test files call for."""

    def one(match: re.Match[str]) -> str:
        body = re.split(r"^Tests:$", match[2], maxsplit=1, flags=re.MULTILINE)[0].strip()
        files = tests.get((page, match[1]))
        return f"## {match[1]}\n\n{body}\n" + (f"\n{listed(files)}\n" if files else "") + "\n"

    return re.sub(r"^## (.+)\n((?:(?!## ).*\n?)*)", one, text, flags=re.MULTILINE).rstrip() + "\n"


def main() -> None:
    """Write the lists of tests into the pages."""
    tests = tests_by_rule()
    for page, text in pages().items():
        (PAGES / f"{page}.md").write_text(with_tests(page, text, tests), "utf-8")


if __name__ == "__main__":
    main()
