"""The change log says each thing once, in lines that can be read, newest release first."""

from __future__ import annotations

import re
from datetime import date
from itertools import combinations
from pathlib import Path

import pytest

CHANGELOG = Path(__file__).parents[3] / "CHANGELOG.md"
MAX_BULLETS = 60  # of one release
ALIKE_FROM = 0.5
"""Of the words of two bullets, the part that both have: in 0.2.0 the most alike pair has 0.22; the Python client's
bullet, which stood there three times, 1, and in other words 0.6."""
# Too common to say that two bullets are about the same.
_FILLERS = frozenset(
    re.findall(
        r"\w+",
        "a all also an and are as at be by for from has have in is it its more of on one or that the their them they "
        "this to under until what when where which who with without",
    )
)


def bullets(text: str) -> dict[str, list[str]]:
    """Return the bullets of each release, whole, without their links' targets."""
    found: dict[str, list[str]] = {}
    for section in re.split(r"^## ", text, flags=re.MULTILINE)[1:]:
        name, _, body = section.partition("\n")
        body = re.sub(r"\]\([^)]*\)", "]", body)
        each = re.findall(r"^- (.+?)(?=^- |^#|^$|\Z)", body, flags=re.MULTILINE | re.DOTALL)
        found[name] = [" ".join(one.split()) for one in each]
    return found


def words(bullet: str) -> set[str]:
    return {word.rstrip("s") for word in re.findall(r"[a-z0-9_]+", bullet.lower())} - _FILLERS


def likeness(one: str, other: str) -> float:
    """Return the part of the words of both that are in each (Jaccard)."""
    first, second = words(one), words(other)
    return len(first & second) / max(1, len(first | second))


def complaints(text: str) -> list[str]:
    """Say what is wrong with a change log."""
    found = []
    for number, line in enumerate(text.splitlines(), 1):
        if len(line) > 120:
            found.append(f"line {number} has {len(line)} characters, 120 are the most")
    for release, said in bullets(text).items():
        if len(said) > MAX_BULLETS:
            found.append(f"{release} has {len(said)} bullets: say less, or say it together")
        for one, other in combinations(said, 2):
            if likeness(one, other) >= ALIKE_FROM:
                found.append(f"{release} says twice: {one[:60]!r}, {other[:60]!r}")
    return found


def test_each_thing_is_said_once_and_in_lines_of_120_characters() -> None:
    assert complaints(CHANGELOG.read_text("utf-8")) == []


def test_each_bullet_leads_to_the_page_that_says_more() -> None:
    text = CHANGELOG.read_text("utf-8")
    each = re.findall(r"^- .+?(?=^- |^#|^$|\Z)", text, flags=re.MULTILINE | re.DOTALL)
    assert [bullet for bullet in each if not re.search(r"\]\((docs/|README)", bullet)] == []


def test_releases_have_their_days_and_stand_newest_first() -> None:
    headings = re.findall(r"^## (.+)$", CHANGELOG.read_text("utf-8"), flags=re.MULTILINE)
    released = [heading for heading in headings if heading != "Unreleased"]
    assert headings in (released, ["Unreleased", *released])
    parts = [heading.split(" - ") for heading in released]
    numbers = [tuple(int(part) for part in number.split(".")) for number, _ in parts]
    days = [date.fromisoformat(day) for _, day in parts]
    assert numbers == sorted(set(numbers), reverse=True)
    assert days == sorted(days, reverse=True)


CLIENT = (
    "A Python client of its own, `clients/python`: typed, with a token or Signature Version 4, retries, pages as\n"
    "  iterators, ETags and errors with their codes; httpx and pydantic are all it needs ([clients](docs/clients.md))."
)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        (f"## 1.0.0 - 2027-01-01\n- {CLIENT}\n- Something else.\n- {CLIENT}\n", "says twice"),
        (
            f"## 1.0.0 - 2027-01-01\n### Added\n- {CLIENT}\n\n### Changed\n- The Python client: typed, a token or\n"
            "  Signature Version 4, retries, pages as iterators, ETags, errors with codes; it needs httpx, pydantic.\n",
            "says twice",
        ),
        (f"## 1.0.0 - 2027-01-01\n- {'word ' * 30}\n", "line 2 has 152 characters"),
        ("## 1.0.0 - 2027-01-01\n" + "".join(f"- Thing{n} does number{n}.\n" for n in range(61)), "has 61 bullets"),
    ],
)
def test_a_bullet_that_comes_again_a_long_line_and_a_long_list_are_found(text: str, complaint: str) -> None:
    assert [complaint in found for found in complaints(text)] == [True]


def test_the_same_bullet_in_two_releases_is_no_repetition() -> None:
    assert complaints(f"## 1.1.0 - 2027-02-01\n- {CLIENT}\n\n## 1.0.0 - 2027-01-01\n- {CLIENT}\n") == []
