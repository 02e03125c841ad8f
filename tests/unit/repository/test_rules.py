"""Rules that code and tests cite are stated in docs/rules, and each names the tests that cite it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests import rules
from tests.rules import Rule

# Decisions that nothing does yet: their pages say what happens instead. Take one off when it is built.
NOT_BUILT: set[tuple[str, str]] = set()


def test_every_cited_rule_is_stated() -> None:
    stated = rules.stated().keys()
    unknown = [
        f"{file.relative_to(rules.ROOT)}: {page} {rule}"
        for file in rules.code()
        for page, rule in sorted(rules.cited(file.read_text("utf-8"))[0] - stated)
    ]
    assert unknown == []


def test_one_decision_is_cited_in_the_singular() -> None:
    """`decision 26` and `decisions 26 and 27`, so that a search for either finds all of them."""
    plural = re.compile(r"\bdecisions \d+\b(?!,? (?:and )?\d| and \d| to \d)", re.IGNORECASE)
    found = {
        str(file.relative_to(rules.ROOT)): plural.findall(" ".join(file.read_text("utf-8").split()))
        for file in rules.code()
    }
    assert {file: cited for file, cited in found.items() if cited} == {}


def test_every_cited_page_of_docs_adr_exists() -> None:
    pages = {path.name[:4] for path in (rules.ROOT / "docs" / "adr").glob("*.md")}
    unknown = [
        f"{file.relative_to(rules.ROOT)}: docs/adr/{number}"
        for file in rules.code()
        for number in re.findall(r"docs/adr/(\d{4})", file.read_text("utf-8"))
        if number not in pages
    ]
    assert unknown == []


def test_an_id_without_a_contract_is_of_one_in_tests_and_of_any_in_code() -> None:
    """What ids without a contract mean in code is said in docs/rules/README.md."""
    stated, unclear = rules.stated().keys(), []
    for file in rules.code():
        for rule in sorted(rules.cited(file.read_text("utf-8"))[1]):
            owners = [page for page in rules.NUMBERED if (page, rule) in stated]
            if not owners or (len(owners) > 1 and rules.ROOT / "tests" in file.parents):
                unclear.append(f"{file.relative_to(rules.ROOT)}: {rule} of which contract?")
    assert unclear == []


def test_every_rule_has_a_test_or_says_that_it_is_not_built() -> None:
    stated, tests = rules.stated(), rules.tests_by_rule()
    assert {rule for rule, text in stated.items() if rules.NO_TEST in text} == NOT_BUILT
    assert [rule for rule in stated if rule not in tests and rule not in NOT_BUILT] == []
    assert [rule for rule in NOT_BUILT if rule in tests] == []


@pytest.mark.parametrize("page", rules.pages())
def test_each_rule_names_the_tests_that_cite_it(page: str) -> None:
    """Or run `python -m tests.rules`."""
    tests, wrong = rules.tests_by_rule(), []
    for (on, rule), text in rules.stated().items():
        expected = rules.listed(tests[on, rule]) if (on, rule) in tests else ""
        if on == page and (not text.endswith(expected) or ("Tests:" in text) != bool(expected)):
            wrong.append(f"{page}, {rule}: `python -m tests.rules` writes\n{expected or 'no tests'}")
    assert not wrong, "\n".join(wrong)


def test_the_readme_of_the_rules_names_every_page() -> None:
    text = (rules.PAGES / "README.md").read_text("utf-8")
    assert [page for page in rules.pages() if f"({page}.md)" not in text] == []


def of_search(*numbered: str) -> set[Rule]:
    return {("search-contract", rule) for rule in numbered}


def of_registry(*headings: str) -> set[Rule]:
    return {("registry-search-design", heading) for heading in headings}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("search-contract BR-003", of_search("BR-003")),
        ("search-contract BR-002, BR-004 and EC-001", of_search("BR-002", "BR-004", "EC-001")),
        ('"""BR-001 to BR-003 of search-contract."""', of_search("BR-001", "BR-002", "BR-003")),
        ("# search-contract\ndef test_ec_004_a_query():", of_search("EC-004")),
        ("(decisions 1 to 3 and 26)", {("decisions", f"Decision {n}") for n in (1, 2, 3, 26)}),
        ("def test_decision_30_others():", {("decisions", "Decision 30")}),
        ("(message-search, sections 1 and 5)", {("message-search", "Section 1"), ("message-search", "Section 5")}),
        ("(message-search, 7)", {("message-search", "Section 7")}),
        ("Section 8 of message-search: events", {("message-search", "Section 8")}),
        (
            "registry-search-design, Entity Types and Score-Before-Filter",
            of_registry("Entity Types", "Score-Before-Filter"),
        ),
        ("(registry-search-design, Scoring in Lexical-Only Mode)", of_registry("Scoring in Lexical-Only Mode")),
        ("skill-contract, Resource\n    Limits: 1,000", {("skill-contract", "Resource Limits")}),
    ],
)
def test_citations_are_read(text: str, expected: set[Rule]) -> None:
    assert rules.cited(text) == (expected, set())


def test_an_id_without_a_contract_is_unclear_where_the_file_names_none_or_both() -> None:
    assert rules.cited("BR-001") == (set(), {"BR-001"})
    assert rules.cited("search-contract and skill-contract: BR-001") == (set(), {"BR-001"})


def test_files_may_be_anywhere() -> None:
    """The lists name files by where they are, so a file that moves changes nothing but its link."""
    moved = rules.listed([rules.ROOT / "tests" / "unit" / "elsewhere" / "test_it.py"])
    assert moved == "Tests:\n\n- [unit: elsewhere/test_it.py](../../tests/unit/elsewhere/test_it.py)"
    assert {file.suffix for file in map(Path, rules.code())} == {".py", ".sql", ".yaml"}
