"""A caller as people write it for `skillroute access explain --as`."""

from __future__ import annotations

import pytest
from skillroute_local.commands.access import caller_of
from skillroute_local.errors import Misused


def test_roles_groups_and_scopes_are_read() -> None:
    assert caller_of("role:analyst, group:eng,role:boss,scope:search") == {
        "roles": ["analyst", "boss"],
        "groups": ["eng"],
        "scopes": ["search"],
    }
    assert caller_of("group:cn=eng:all") == {"groups": ["cn=eng:all"]}
    assert caller_of("") == {}


@pytest.mark.parametrize("text", ["analyst", "role:", "user:ann", ":x"])
def test_what_is_no_part_of_a_caller_is_refused_with_the_form(text: str) -> None:
    with pytest.raises(Misused, match="role:NAME, group:NAME or scope:NAME"):
        caller_of(text)
