"""The roles and groups of a token, in all the forms that claims come in."""

from __future__ import annotations

import pytest
from skillroute.core.http.challenge import InvalidToken
from skillroute.core.http.claims import TokenRules

RULES = TokenRules("https://issuer", frozenset({"skillroute"}), groups_claim="cognito:groups")
CLAIMS = {"iss": "https://issuer", "aud": "skillroute", "exp": 2e9}


@pytest.mark.parametrize(
    ("claim", "names"),
    [
        (None, set()),
        ("", set()),
        ("analyst", {"analyst"}),
        ("[analyst boss]", {"analyst", "boss"}),  # as API Gateway writes an array
        ("[]", set()),
        (["analyst", "the boss"], {"analyst", "the boss"}),
    ],
)
def test_a_claim_is_a_name_or_an_array_of_names(claim: object, names: set[str]) -> None:
    caller = RULES.caller(CLAIMS | {"roles": claim, "cognito:groups": claim, "org_id": "acme"}, 1e9)
    assert (caller.roles, caller.groups) == (names, names)


@pytest.mark.parametrize("claim", [7, {"a": "b"}, ["a", 1], [str(n) for n in range(1001)]])
def test_what_is_neither_is_refused(claim: object) -> None:
    with pytest.raises(InvalidToken, match="roles"):
        RULES.caller(CLAIMS | {"roles": claim}, 1e9)
