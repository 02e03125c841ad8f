"""Names, versions and the latest of what the registry shows as an MCP registry."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from skillroute.registry.published.entries import NO_VERSION, Registered, entries_of, name_of

AT = datetime(2026, 11, 1, tzinfo=UTC)


def server(id_: int, **fields: Any) -> Registered:
    given = {"is_own": False, "path": f"/s{id_}", "name": f"S{id_}", "own_name": None, "version": "1.0.0"}
    return Registered(id_, **{**given, "is_enabled": True, "updated_at": AT, **fields})


@pytest.mark.parametrize("own_name", ["docs", "io.github.acme/docs/more", "a/", "/a", "ab", "x" * 199 + "/y", "a b/c"])
def test_a_name_that_is_no_registry_name_gives_way_to_the_path(own_name: str) -> None:
    assert name_of(server(1, own_name=own_name)) == "local.skillroute/s1"


PATHS = st.text(min_size=1, max_size=250).map(lambda path: path.strip("/")).filter(bool)


@given(st.lists(PATHS, min_size=2, unique=True))
def test_names_have_the_form_and_no_two_paths_share_one(paths: list[str]) -> None:
    names = [name_of(server(place, path=f"/{path}")) for place, path in enumerate(paths)]
    assert len(set(names)) == len(names)
    for name in names:
        namespace, _, rest = name.partition("/")
        assert namespace == "local.skillroute"
        assert rest
        assert len(name) <= 200
        assert set(rest) <= set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-")


def test_servers_of_one_name_are_versions_of_one_the_newest_first() -> None:
    versions = ["1.9.0", "1.10.0", "1.10.0-rc.1"]
    found = entries_of(server(n, own_name="io.acme/docs", version=each) for n, each in enumerate(versions))
    assert [(each.version, each.is_latest) for each in found] == [
        ("1.10.0", True),
        ("1.10.0-rc.1", False),
        ("1.9.0", False),
    ]


def test_a_disabled_version_is_the_latest_only_where_none_is_enabled() -> None:
    old, new = server(1, own_name="io.acme/docs"), server(2, own_name="io.acme/docs", version="2.0.0", is_enabled=False)
    assert [(each.id, each.is_latest) for each in entries_of([old, new])] == [(2, False), (1, True)]
    assert [(each.id, each.is_latest) for each in entries_of([new])] == [(2, True)]


def test_an_organisation_s_own_server_goes_before_a_global_one_of_its_name_and_version() -> None:
    both = [server(1, own_name="io.acme/docs"), server(2, own_name="io.acme/docs", is_own=True)]
    assert [each.id for each in entries_of(both)] == [2]


def test_a_disabled_server_of_an_organisation_hides_no_enabled_one() -> None:
    both = [server(1, own_name="io.acme/docs"), server(2, own_name="io.acme/docs", is_own=True, is_enabled=False)]
    assert [(each.id, each.is_enabled) for each in entries_of(both)] == [(1, True)]


@pytest.mark.parametrize("version", [None, "", " ", "latest", "^1.2", ">=1", "1.x", "1.*", "1 || 2", "9" * 256])
def test_a_range_is_no_version(version: str | None) -> None:
    assert entries_of([server(1, version=version)])[0].version == NO_VERSION
