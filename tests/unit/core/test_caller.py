"""What a token allows, and whose items its caller sees (decisions 26 and 27)."""

from __future__ import annotations

import pytest
from skillroute.core.caller import LAPTOP, Caller, Scope


def test_a_scope_allows_itself_and_nothing_else() -> None:
    caller = Caller("acme", frozenset({Scope.SEARCH}))
    assert [scope for scope in Scope if caller.may(scope)] == [Scope.SEARCH]


def test_admin_allows_all() -> None:
    assert all(Caller("acme", frozenset({Scope.ADMIN})).may(scope) for scope in Scope)


def test_without_scopes_nothing_is_allowed() -> None:
    assert not any(Caller("acme").may(scope) for scope in Scope)


@pytest.mark.parametrize(("org", "visible"), [(None, (None,)), ("acme", (None, "acme"))])
def test_a_caller_sees_global_items_and_its_own(org: str | None, visible: tuple[str | None, ...]) -> None:
    assert Caller(org).visible_orgs == visible


def test_the_laptop_is_global_and_may_do_all() -> None:
    assert LAPTOP.org_id is None
    assert all(LAPTOP.may(scope) for scope in Scope)
