"""Items that are switched off are in lists and in no search, and stay off when their server is enabled."""

from __future__ import annotations

import pytest
from skillroute.catalogue.model import Item
from skillroute.core.bulk.versions import Expected
from skillroute.core.caller import LAPTOP, Caller
from skillroute.core.errors.model import Conflict, Forbidden, NotFound, VersionConflict

from tests.builders import System, of_org
from tests.component.registry.test_disabled_servers import active, disable, searched
from tests.worlds.registry import DOCS, RESOLVE


def switch(system: System, item_id: int, is_active: bool | None, caller: Caller = LAPTOP) -> Item:
    return system.parts.catalogue.switch(item_id, caller, is_active=is_active)


def item_id(system: System, name: str) -> int:
    [[id_]] = system.rows("SELECT id FROM mcp.tools WHERE name = :name", name=name)
    return int(id_)


def test_an_item_that_is_off_leaves_every_search_and_stays_in_lists(system: System) -> None:
    [tool, _] = system.put("docs", "other", description="Library docs.")
    system.create("reading")
    system.assign(tool, reading=0.9)
    assert searched(system) == {"docs", "other"}
    off = switch(system, tool, False)
    assert (off.is_active, off.is_switched_off, off.skill_ids) == (False, True, ("reading",))
    assert searched(system) == {"other"}
    assert active(system) == {"docs": False, "other": True}
    assert active(system, skill_id="reading") == {"docs": False}
    on = switch(system, tool, True)
    assert (on.is_active, on.is_switched_off) == (True, False)
    assert searched(system) == {"docs", "other"}
    assert system.parts.verify().findings == []


def test_the_same_again_changes_nothing(system: System) -> None:
    [tool] = system.put("docs")
    before = system.parts.catalogue.read.get(tool, LAPTOP)
    for is_active in (True, None):
        assert switch(system, tool, is_active) == before
    off = switch(system, tool, False)
    assert off.version != before.version
    assert switch(system, tool, False) == off == switch(system, tool, None)


def test_what_is_off_stays_off_when_its_server_is_enabled_or_it_is_written(system: System) -> None:
    server = system.put_server(tools=[DOCS, RESOLVE]).id
    tool = item_id(system, "resolve")
    switch(system, tool, False)
    disable(system, server)
    assert active(system) == {"query-docs": False, "resolve": False}
    disable(system, server, is_enabled=True)
    assert active(system) == {"query-docs": True, "resolve": False}
    system.put("resolve", server="c7", description="Something new.")
    assert active(system) == {"query-docs": True, "resolve": False}
    assert system.parts.verify().findings == []


def test_what_is_switched_off_while_its_server_is_disabled_stays_off(system: System) -> None:
    server = system.put_server(tools=[DOCS]).id
    disable(system, server)
    assert switch(system, item_id(system, "query-docs"), False).is_switched_off
    disable(system, server, is_enabled=True)
    assert active(system) == {"query-docs": False}


def test_an_item_of_a_disabled_server_is_not_switched_on(system: System) -> None:
    server = system.put_server(tools=[DOCS]).id
    disable(system, server)
    with pytest.raises(Conflict, match="as its server c7 is disabled: enable the server first") as refused:
        switch(system, item_id(system, "query-docs"), True)
    assert refused.value.code == "server_disabled"


def test_a_server_is_not_found_by_a_tool_that_is_off(system: System) -> None:
    server = system.put_server(tools=[DOCS, RESOLVE]).id
    words = "SELECT count(*) FROM mcp.registry_words WHERE tool_id IS NOT NULL"
    assert (system.entity(server).tool_count, system.rows(words)) == (2, [[2]])
    switch(system, item_id(system, "resolve"), False)
    assert (system.entity(server).tool_count, system.rows(words)) == (1, [[1]])
    disable(system, server)
    assert system.entity(server).tool_count == 1
    disable(system, server, is_enabled=True)
    switch(system, item_id(system, "resolve"), True)
    assert (system.entity(server).tool_count, system.rows(words)) == (2, [[2]])
    assert system.parts.verify().findings == []


def test_an_organisation_switches_its_own_items_only(system: System) -> None:
    [of_all] = system.put("docs")
    [of_globex] = system.put("secret", caller=of_org("globex"))
    with pytest.raises(Forbidden):
        switch(system, of_all, False, of_org("acme"))
    with pytest.raises(NotFound):
        switch(system, of_globex, False, of_org("acme"))


def test_another_version_than_expected_is_refused(system: System) -> None:
    [tool] = system.put("docs")
    read = system.parts.catalogue.read.get(tool, LAPTOP).version
    switch(system, tool, False)
    with pytest.raises(VersionConflict):
        system.parts.catalogue.switch(tool, LAPTOP, is_active=True, expected=Expected(frozenset({read})))


def test_many_items_are_deleted_in_one_transaction_with_a_result_each(system: System) -> None:
    own = system.put("docs", "other", caller=of_org("acme"))
    [of_all] = system.put("shared")
    deleted = system.parts.catalogue.delete.of_ids([own[0], of_all, 999, own[0], own[1]], of_org("acme"))
    assert [(one.id, one.error and one.error.code.value) for one in deleted] == [
        (own[0], None),
        (of_all, "global_item"),
        (999, "item_not_found"),
        (own[0], "invalid_request"),
        (own[1], None),
    ]
    assert active(system, of_org("acme")) == {"shared": True}


def test_the_items_of_a_server_are_deleted_of_ones_own_and_the_server_stays(system: System) -> None:
    server = system.put_server(tools=[DOCS, RESOLVE]).id
    system.put("ask", server="c7", type="prompt")
    system.put("ask", server="c7", type="prompt", caller=of_org("acme"))
    deleted, more = system.parts.catalogue.delete.of_server("c7", "tool", LAPTOP)
    assert (len(deleted), more) == (2, False)
    assert active(system) == {"ask": True}
    assert (
        system.entity(server).tool_count,
        system.rows("SELECT count(*) FROM mcp.registry_words WHERE tool_id > 0"),
    ) == (
        0,
        [[0]],
    )
    assert len(system.parts.catalogue.delete.of_server("c7", None, of_org("acme"))[0]) == 1
    assert active(system) == {"ask": True}
    assert system.parts.verify().findings == []


def test_a_server_of_very_many_items_is_deleted_in_several_calls(
    system: System, monkeypatch: pytest.MonkeyPatch
) -> None:
    from skillroute.catalogue import delete_many

    monkeypatch.setattr(delete_many, "MAX_OF_SERVER", 2)
    ids = system.put("a", "b", "c", server="c7")
    found, more = system.parts.catalogue.delete.of_server("c7", None, LAPTOP)
    assert ([one.id for one in found], more) == (ids[:2], True)
    found, more = system.parts.catalogue.delete.of_server("c7", None, LAPTOP)
    assert ([one.id for one in found], more) == (ids[2:], False)
    assert system.parts.catalogue.delete.of_server("c7", None, LAPTOP) == ([], False)
