"""Rules become the rights of one caller: deny wins, and from the first rule that allows on only what one covers."""

from __future__ import annotations

import json

import pytest
from skillroute.core.rights.decide import EVERYTHING, Rights, rights_of
from skillroute.core.rights.model import About, Effect, Facts, Rule

READS = Facts("github", "list_issues", frozenset({"code"}), frozenset({"read_only"}))
DESTROYS = Facts("github", "delete_repo", frozenset({"code"}), frozenset({"not_read_only", "destructive"}))
BARE = Facts("", "weather", frozenset(), frozenset({"read_only"}))


def rule(
    effect: Effect, id_: int = 1, *, roles: tuple[str, ...] = (), groups: tuple[str, ...] = (), **about: tuple[str, ...]
) -> Rule:
    return Rule(id_, None, f"rule {id_}", effect, roles, groups, About(**about))  # type: ignore[arg-type]


def rights(*rules: Rule, roles: str = "", groups: str = "", is_exempt: bool = False) -> Rights:
    return rights_of(rules, roles=frozenset(roles.split()), groups=frozenset(groups.split()), is_exempt=is_exempt)


def test_without_rules_all_is_allowed_and_nothing_is_asked() -> None:
    assert rights() is EVERYTHING
    assert EVERYTHING.as_json() is None
    assert EVERYTHING.allows(DESTROYS).allowed


@pytest.mark.parametrize(
    ("about", "covered"),
    [
        ({}, {READS, DESTROYS, BARE}),
        ({"servers": ("github",)}, {READS, DESTROYS}),
        ({"servers": ("GitHub",)}, set()),
        ({"tools": ("weather",)}, {BARE}),
        ({"tools": ("github/delete_repo", "weather")}, {DESTROYS, BARE}),
        ({"tools": ("other/delete_repo",)}, set()),
        ({"skills": ("code",)}, {READS, DESTROYS}),
        ({"hints": ("destructive",)}, {DESTROYS}),
        ({"hints": ("read_only", "destructive")}, {READS, DESTROYS, BARE}),
        ({"servers": ("github",), "hints": ("read_only",)}, {READS}),
        ({"servers": ("github",), "tools": ("weather",)}, set()),
    ],
)
def test_a_rule_is_about_what_fits_all_of_its_fields(about: dict[str, tuple[str, ...]], covered: set[Facts]) -> None:
    denied = rights(rule("deny", **about))
    allowed = rights(rule("allow", **about))
    for facts in (READS, DESTROYS, BARE):
        assert denied.allows(facts).allowed is (facts not in covered)
        assert allowed.allows(facts).allowed is (facts in covered)


def test_deny_wins_and_the_decision_names_its_rule() -> None:
    both = rights(rule("allow", 1), rule("deny", 2, hints=("destructive",)))
    assert (both.allows(READS).rule or rule("deny", 0)).id == 1
    decided = both.allows(DESTROYS)
    assert (decided.allowed, decided.rule and decided.rule.id) == (False, 2)
    assert decided.reason == "Rule 2 ('rule 2') denies it."


@pytest.mark.parametrize(
    ("roles", "groups", "is_meant"),
    [("", "", False), ("analyst", "", True), ("", "eng", True), ("other", "other", False), ("eng", "analyst", False)],
)
def test_a_rule_means_callers_with_one_of_its_roles_or_groups(roles: str, groups: str, *, is_meant: bool) -> None:
    found = rights(rule("deny", roles=("analyst", "boss"), groups=("eng",)), roles=roles, groups=groups)
    assert found.allows(READS).allowed is not is_meant


def test_a_rule_that_allows_others_closes_all_to_those_whom_it_does_not_mean() -> None:
    found = rights(rule("allow", roles=("boss",)))
    decided = found.allows(READS)
    assert not decided.allowed
    assert decided.rule is None
    assert json.loads(found.as_json() or "") == {"deny": [], "allow": []}


def test_who_keeps_the_rules_is_exempt() -> None:
    assert rights(rule("deny"), is_exempt=True) is EVERYTHING


def test_a_server_is_denied_by_rules_about_servers_and_not_by_those_about_some_of_its_tools() -> None:
    assert not rights(rule("deny", servers=("github",))).allows_server("/github").allowed
    assert not rights(rule("deny")).allows_server("any").allowed
    assert rights(rule("deny", servers=("github",), hints=("destructive",))).allows_server("github").allowed
    allowing = rights(rule("allow", servers=("github",), tools=("list",)))
    assert allowing.allows_server("path", "github").allowed
    assert not allowing.allows_server("path", "name").allowed


def test_a_tool_group_is_denied_by_rules_about_groups_and_not_by_those_about_some_of_its_tools() -> None:
    assert not rights(rule("deny", skills=("code",))).allows_skill("code").allowed
    assert rights(rule("deny", skills=("code",), servers=("github",))).allows_skill("code").allowed
    assert rights(rule("allow", servers=("github",))).allows_skill("code").allowed
    assert not rights(rule("allow", skills=("mail",))).allows_skill("code").allowed


def test_groups_go_to_the_database_by_the_keys_that_the_organisation_sees() -> None:
    found = rights_of(
        [rule("deny", skills=("code", "mail"))], roles=frozenset(), groups=frozenset(), own_keys={"code": "code/acme"}
    )
    assert json.loads(found.as_json() or "")["deny"] == [
        {"skills": ["code/acme", "mail"], "skill_ids": ["code", "mail"]}
    ]
