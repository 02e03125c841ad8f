"""What holds of any catalogue: its order does not matter, and pairs are those that comparing all would find."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from itertools import combinations
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from skillroute_local.doctor import RULES, Asked, Catalogue, Code, Skill, Tool, diagnose, report_of
from skillroute_local.doctor.similar_sets import groups, similar_pairs

NAMES = st.sampled_from(["search", "get_user", "getUser", "list_users", "query_data", "mail_send", "x"])
TEXTS = st.sampled_from(
    ["", "Get a user", "Gets the users", "Get a user by id from the directory", "Send mail to people", "word " * 500]
)
SCHEMAS: st.SearchStrategy[dict[str, Any] | None] = st.sampled_from(
    [None, {"properties": {"user_ref": {"type": "string"}}}, {"properties": {"limit": {}}}]
)
SKILL_IDS = ["mail", "mails", "users"]


@st.composite
def catalogues(draw: st.DrawFn) -> Catalogue:
    fields: dict[str, Any] = {
        "server": st.sampled_from(["", "mail", "directory", "people"]),
        "name": NAMES,
        "type": st.sampled_from(["tool", "prompt"]),
        "description": TEXTS,
        "input_schema": SCHEMAS,
        "skill_ids": st.lists(st.sampled_from(SKILL_IDS), unique=True).map(tuple),
    }
    rows = draw(st.lists(st.fixed_dictionaries(fields), max_size=14))
    tools = [Tool(id=number, **row) for number, row in enumerate(rows, 1)]
    skills = [Skill(id_, id_.title(), draw(TEXTS), ("mail",)) for id_ in draw(st.sets(st.sampled_from(SKILL_IDS)))]
    ranks = st.none() | st.integers(1, 50)
    asked = {tool.id: Asked(draw(ranks), draw(ranks), ("a/b",)) for tool in tools if draw(st.booleans())}
    return Catalogue(tools, skills, asked)


@settings(max_examples=150, deadline=None)
@given(catalogues(), st.randoms(use_true_random=False))
def test_the_order_of_a_catalogue_does_not_matter(catalogue: Catalogue, random: Any) -> None:
    def shuffled(things: Sequence[Any]) -> list[Any]:
        found: list[Any] = random.sample(list(things), len(things))
        return found

    asked = dict(shuffled(list(catalogue.asked.items())))
    tools = [dataclasses.replace(tool, skill_ids=tuple(shuffled(tool.skill_ids))) for tool in catalogue.tools]
    other = Catalogue(shuffled(tools), shuffled(catalogue.skills), asked)

    first, second = (report_of(one, diagnose(one)) for one in (catalogue, other))
    assert first["findings"] == second["findings"]


@settings(max_examples=100, deadline=None)
@given(catalogues())
def test_findings_are_sorted_whole_and_name_what_is_there(catalogue: Catalogue) -> None:
    findings = diagnose(catalogue)
    weights = [finding.weight for finding in findings]
    assert weights == sorted(weights, reverse=True)
    assert all(0 < weight <= 100 for weight in weights)
    assert len({(finding.code, finding.tools, finding.skills) for finding in findings}) == len(findings)
    for finding in findings:
        assert finding.tools or finding.skills
        assert set(finding.tools) <= set(catalogue.tools)
        assert set(finding.skills) <= {skill.id for skill in catalogue.skills}
        assert finding.reason and finding.help
        assert not finding.reason.endswith(".")


def test_every_code_has_a_rule_that_finds_it() -> None:
    assert set(RULES) == set(Code)


@settings(max_examples=300, deadline=None)
@given(
    st.lists(st.frozensets(st.integers(0, 12), max_size=9), unique=True, max_size=25),
    st.sampled_from([0.3, 0.5, 0.75, 0.8, 0.9, 1.0]),
)
def test_similar_pairs_are_those_that_comparing_all_finds(sets: list[frozenset[int]], at_least: float) -> None:
    found = list(similar_pairs(sets, at_least))
    wanted = {
        (one, other)
        for one, other in combinations(range(len(sets)), 2)
        if sets[one] and sets[other] and len(sets[one] & sets[other]) / len(sets[one] | sets[other]) >= at_least
    }
    assert sorted(found) == sorted(wanted)


def test_similar_pairs_compare_few_of_many_texts() -> None:
    class Counting(frozenset[int]):
        compared = 0

        def __and__(self, other: Any) -> Any:
            Counting.compared += 1
            return super().__and__(other)

    # Templates: two words of their own, ten that all of them have.
    sets: list[frozenset[int]] = [Counting([*range(10), 100 + number, 100_000 + number]) for number in range(2000)]
    assert list(similar_pairs(sets, 0.9)) == []
    assert Counting.compared < len(sets)


@given(st.integers(1, 12), st.data())
def test_groups_are_what_pairs_connect(count: int, data: st.DataObject) -> None:
    places = st.integers(0, count - 1)
    pairs = data.draw(st.lists(st.tuples(places, places), max_size=15))
    reach = {place: {place} for place in range(count)}
    for _ in range(count):
        for one, other in pairs:
            reach[one] |= reach[other]
            reach[other] |= reach[one]
            for place in reach[one]:
                reach[place] = reach[place] | reach[one]
    wanted = {tuple(sorted(near)) for near in reach.values() if len(near) > 1}
    assert {tuple(group) for group in groups(count, pairs)} == wanted
