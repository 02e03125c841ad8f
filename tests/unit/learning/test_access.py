"""Rights of callers without an organisation."""

from __future__ import annotations

import pytest
from skillroute.core.caller import LAPTOP, Caller, Scope
from skillroute.core.errors.codes import ErrorCode
from skillroute.core.errors.model import Forbidden
from skillroute.learning.access import require_operator_of_what_is_global

CHANGED = "the state of the global catalogue is changed"


def test_members_and_the_operator_are_let_through() -> None:
    for caller in (LAPTOP, Caller(scopes=frozenset({Scope.ADMIN})), Caller(org_id="a")):
        require_operator_of_what_is_global(caller, CHANGED)


def test_a_keeper_without_an_organisation_is_refused_and_told_the_remedy() -> None:
    with pytest.raises(Forbidden, match="changed by the operator alone: send a token with scope admin") as refused:
        require_operator_of_what_is_global(Caller(scopes=frozenset({Scope.SKILLS})), CHANGED)
    assert refused.value.code == ErrorCode.OPERATOR_ONLY
