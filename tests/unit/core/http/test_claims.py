"""From claims to callers, as tokens write them and as API Gateway does."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from skillroute.core.caller import Caller, Scope
from skillroute.core.http.challenge import InvalidToken
from skillroute.core.http.claims import LEEWAY_S, TokenRules

NOW = 1_800_000_000.0
RULES = TokenRules(issuer="https://issuer.test/", audiences=frozenset({"us", "also-us"}))
GOOD: dict[str, Any] = {"iss": "https://issuer.test/", "aud": "us", "exp": NOW + 60}


def caller(rules: TokenRules = RULES, **said: Any) -> Caller:
    return rules.caller(GOOD | said, NOW)


@pytest.mark.parametrize(
    ("said", "scopes"),
    [
        ({}, set()),
        ({"scope": ""}, set()),
        ({"scope": "search"}, {Scope.SEARCH}),
        ({"scope": " openid  search catalog"}, {Scope.SEARCH, Scope.CATALOG}),
        ({"scope": "[search skills]"}, {Scope.SEARCH, Scope.SKILLS}),
        ({"scope": ["search", "skills"]}, {Scope.SEARCH, Scope.SKILLS}),
        ({"scp": "search skills"}, {Scope.SEARCH, Scope.SKILLS}),
        ({"scp": ["admin"]}, {Scope.ADMIN}),
        ({"scp": "[admin]"}, {Scope.ADMIN}),
        ({"scope": "search", "scp": "admin"}, {Scope.SEARCH}),
        ({"scope": "SEARCH research search-all search/x"}, set()),
        ({"scope": "search,catalog"}, set()),
        ({"scope": "search\tcatalog\nskills"}, set()),
        ({"scope": "openid\u00a0admin search\u2003skills"}, set()),
        ({"scope": "[openid\u00a0admin search\tskills]"}, set()),
    ],
)
def test_scopes_are_whole_words_of_scope_else_of_scp(said: dict[str, Any], scopes: set[Scope]) -> None:
    assert caller(**said).scopes == scopes


def test_with_a_prefix_only_prefixed_scopes_count() -> None:
    rules = TokenRules(issuer=RULES.issuer, audiences=RULES.audiences, scope_prefix="tools/")
    assert caller(rules, scope="admin tools/search tools/ other/catalog").scopes == {Scope.SEARCH}


@pytest.mark.parametrize(
    "org", ["acme", "org_2fG7", "7", "a.b-c:d@e/f|g+h=i", "3f0b2c1e-7d1a-4c55-9a53-2a3d1f6c9b10", "a" * 128]
)
def test_an_organisation_is_taken_as_it_is(org: str) -> None:
    assert caller(org_id=org).org_id == org


NO_ORGANISATION: list[dict[str, Any]] = [{}, {"org_id": None}, {"org_id": ""}, {"org": "acme"}]


@pytest.mark.parametrize("said", NO_ORGANISATION)
def test_without_an_organisation_there_is_none(said: dict[str, Any]) -> None:
    assert caller(**said).org_id is None


@pytest.mark.parametrize("said", NO_ORGANISATION)
def test_without_an_organisation_nobody_is_let_in_where_it_is_required(said: dict[str, Any]) -> None:
    rules = replace(RULES, org_required=True)
    with pytest.raises(InvalidToken, match=r"^the token lacks the claim 'org_id'$"):
        caller(rules, **said)
    assert caller(rules, org_id="acme").org_id == "acme"


@pytest.mark.parametrize("org", ["null", "None", "nil", "undefined", "true", "True", "FALSE", "false"])
def test_a_value_that_became_text_on_its_way_is_no_organisation(org: str) -> None:
    with pytest.raises(InvalidToken, match=r"^the claim 'org_id' is not the id of an organisation$"):
        caller(org_id=org)


@pytest.mark.parametrize("org", ["nullable", "true-north", "none.example"])
def test_an_organisation_may_begin_like_one(org: str) -> None:
    assert caller(org_id=org).org_id == org


@pytest.mark.parametrize(
    "org",
    [" ", "acme ", " acme", "a b", "[acme]", "[]", "map[id:acme]", "<nil>", "{}", "-a", "é", "a" * 129, 7, True, []],
)
def test_a_malformed_organisation_is_nobodys(org: Any) -> None:
    with pytest.raises(InvalidToken, match=r"^the claim 'org_id' is not the id of an organisation$"):
        caller(org_id=org)


def test_the_organisations_claim_can_have_any_name() -> None:
    rules = TokenRules(issuer=RULES.issuer, audiences=RULES.audiences, org_claim="https://skillroute.test/org")
    assert caller(rules, **{"https://skillroute.test/org": "acme", "org_id": "globex"}).org_id == "acme"


@pytest.mark.parametrize(
    ("said", "agent"),
    [
        ("BlueLake", "BlueLake"),
        (" BlueLake\t", "BlueLake"),
        ("planner of the north", "planner of the north"),
        ("Blåsjö <ops@example.com>", "Blåsjö <ops@example.com>"),
        ("[bot] planner", "[bot] planner"),
        ("None Such", "None Such"),
        ("a" * 256, "a" * 256),
        ("a" * 257, None),
        (" \u3000\n", None),
        ("", None),
        (None, None),
    ],
)
def test_the_agent_is_the_one_that_its_claim_names(said: Any, agent: str | None) -> None:
    assert caller(agent=said).agent == agent


def test_without_the_claim_nobody_speaks_for_an_agent() -> None:
    assert caller(sub="BlueLake", name="BlueLake").agent is None


@pytest.mark.parametrize(
    "agent",
    [
        *(7, True, [], ["BlueLake"], {"name": "BlueLake"}),
        # The same, as a gateway writes it.
        *("true", "[BlueLake]", "[]", "[Blue\nLake]", "map[name:BlueLake]", '{"name": "BlueLake"}', "<nil>", " Null "),
        *("Blue\0Lake", "Blue\ud800Lake"),
    ],
)
def test_an_agent_that_is_no_name_is_nobody(agent: Any) -> None:
    with pytest.raises(InvalidToken, match=r"^the claim 'agent' is not the name of an agent$"):
        caller(agent=agent)


def test_the_agents_claim_can_have_any_name() -> None:
    rules = replace(RULES, agent_claim="https://skillroute.test/agent")
    assert caller(rules, **{"https://skillroute.test/agent": "BlueLake", "agent": "RedStone"}).agent == "BlueLake"


@pytest.mark.parametrize("aud", ["us", "also-us", ["them", "us"], "[them us]", "[us]"])
def test_one_of_the_audiences_is_enough(aud: Any) -> None:
    assert caller(aud=aud)


@pytest.mark.parametrize("aud", ["", "them", "us them", "[them]", "[]", [], ["us them"], 7, ["us", 7]])
def test_another_audience_is_refused(aud: Any) -> None:
    with pytest.raises(InvalidToken, match=r"audience|'aud' is malformed"):
        caller(aud=aud, client_id="us")


def test_client_id_counts_where_there_is_no_audience() -> None:
    assert caller(aud=None, client_id="us")
    with pytest.raises(InvalidToken, match="another audience"):
        caller(aud=None, client_id="them")


@pytest.mark.parametrize("as_text", [False, True])
@pytest.mark.parametrize(
    ("name", "last_good", "first_bad"),
    [
        ("exp", NOW - LEEWAY_S + 1, NOW - LEEWAY_S),
        ("nbf", NOW + LEEWAY_S, NOW + LEEWAY_S + 1),
        ("iat", NOW + LEEWAY_S, NOW + LEEWAY_S + 1),
    ],
)
def test_times_hold_within_the_leeway_and_not_beyond(
    name: str, last_good: float, first_bad: float, *, as_text: bool
) -> None:
    def written(seconds: float) -> Any:
        return str(int(seconds)) if as_text else seconds

    assert caller(**{name: written(last_good)})
    with pytest.raises(InvalidToken):
        caller(**{name: written(first_bad)})


@pytest.mark.parametrize(
    "exp",
    [
        *("", "soon", "nan", "inf", "1e999", "-1", "+1", "0x7fffffff", "1_900_000_000", " 1900000000", "1900000000\n"),
        *("\u0661\u0669\u0660\u0660\u0660\u0660\u0660\u0660\u0660\u0660", 10**400, float("nan"), True, [1], {}),
    ],
)
def test_a_time_that_is_none_is_refused(exp: Any) -> None:
    with pytest.raises(InvalidToken, match=r"^the claim 'exp' is not a time$"):
        caller(exp=exp)


def test_a_large_time_as_the_gateway_may_write_it_is_read() -> None:
    assert caller(exp="1.80000006e+09")
    assert caller(exp="1800000060.5")


def test_a_long_subject_is_cut_and_a_malformed_one_refused() -> None:
    assert caller(sub="a" * 300).name == "a" * 255
    assert caller(sub="").name is None
    for sub in ("a\0b", "a\ud800", 7):
        with pytest.raises(InvalidToken, match=r"^the claim 'sub' is malformed$"):
            caller(sub=sub)
