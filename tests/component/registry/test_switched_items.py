"""Items that are switched off are in lists and in no search, and stay off when their server is enabled."""

from __future__ import annotations

import pytest
from skillroute.catalogue.model import Item
from skillroute.core.bulk.versions import Expected
from skillroute.core.caller import LAPTOP, Caller
from skillroute.core.errors.model import Conflict, Forbidden, NotFound, VersionConflict

from tests.builders import of_org
from tests.component.registry.shelf import DOCS, RESOLVE, Shelf
from tests.component.registry.test_disabled_servers import active, disable, searched


def switch(shelf: Shelf, item_id: int, is_active: bool | None, caller: Caller = LAPTOP) -> Item:
    return shelf.system.parts.catalogue.switch(item_id, caller, is_active=is_active)


def item_id(shelf: Shelf, name: str) -> int:
    [[id_]] = shelf.system.rows("SELECT id FROM mcp.tools WHERE name = :name", name=name)
    return int(id_)


def test_an_item_that_is_off_leaves_every_search_and_stays_in_lists(shelf: Shelf) -> None:
    [tool, _] = shelf.system.put("docs", "other", description="Library docs.")
    shelf.system.create("reading")
    shelf.system.assign(tool, reading=0.9)
    assert searched(shelf.system) == {"docs", "other"}
    off = switch(shelf, tool, False)
    assert (off.is_active, off.is_switched_off, off.skill_ids) == (False, True, ("reading",))
    assert searched(shelf.system) == {"other"}
    assert active(shelf) == {"docs": False, "other": True}
    assert active(shelf, skill_id="reading") == {"docs": False}
    on = switch(shelf, tool, True)
    assert (on.is_active, on.is_switched_off) == (True, False)
    assert searched(shelf.system) == {"docs", "other"}
    assert shelf.system.parts.verify().findings == []


def test_the_same_again_changes_nothing(shelf: Shelf) -> None:
    [tool] = shelf.system.put("docs")
    before = shelf.system.parts.catalogue.read.get(tool, LAPTOP)
    for is_active in (True, None):
        assert switch(shelf, tool, is_active) == before
    off = switch(shelf, tool, False)
    assert off.version != before.version
    assert switch(shelf, tool, False) == off == switch(shelf, tool, None)


def test_what_is_off_stays_off_when_its_server_is_enabled_or_it_is_written(shelf: Shelf) -> None:
    server = shelf.server(tools=[DOCS, RESOLVE]).id
    tool = item_id(shelf, "resolve")
    switch(shelf, tool, False)
    disable(shelf, server)
    assert active(shelf) == {"query-docs": False, "resolve": False}
    disable(shelf, server, is_enabled=True)
    assert active(shelf) == {"query-docs": True, "resolve": False}
    shelf.system.put("resolve", server="c7", description="Something new.")
    assert active(shelf) == {"query-docs": True, "resolve": False}
    assert shelf.system.parts.verify().findings == []


def test_what_is_switched_off_while_its_server_is_disabled_stays_off(shelf: Shelf) -> None:
    server = shelf.server(tools=[DOCS]).id
    disable(shelf, server)
    assert switch(shelf, item_id(shelf, "query-docs"), False).is_switched_off
    disable(shelf, server, is_enabled=True)
    assert active(shelf) == {"query-docs": False}


def test_an_item_of_a_disabled_server_is_not_switched_on(shelf: Shelf) -> None:
    server = shelf.server(tools=[DOCS]).id
    disable(shelf, server)
    with pytest.raises(Conflict, match="as its server c7 is disabled: enable the server first") as refused:
        switch(shelf, item_id(shelf, "query-docs"), True)
    assert refused.value.code == "server_disabled"


def test_a_server_is_not_found_by_a_tool_that_is_off(shelf: Shelf) -> None:
    server = shelf.server(tools=[DOCS, RESOLVE]).id
    words = "SELECT count(*) FROM mcp.registry_words WHERE tool_id IS NOT NULL"
    assert (shelf.get(server).tool_count, shelf.system.rows(words)) == (2, [[2]])
    switch(shelf, item_id(shelf, "resolve"), False)
    assert (shelf.get(server).tool_count, shelf.system.rows(words)) == (1, [[1]])
    disable(shelf, server)
    assert shelf.get(server).tool_count == 1
    disable(shelf, server, is_enabled=True)
    switch(shelf, item_id(shelf, "resolve"), True)
    assert (shelf.get(server).tool_count, shelf.system.rows(words)) == (2, [[2]])
    assert shelf.system.parts.verify().findings == []


def test_an_organisation_switches_its_own_items_only(shelf: Shelf) -> None:
    [of_all] = shelf.system.put("docs")
    [of_globex] = shelf.system.put("secret", caller=of_org("globex"))
    with pytest.raises(Forbidden):
        switch(shelf, of_all, False, of_org("acme"))
    with pytest.raises(NotFound):
        switch(shelf, of_globex, False, of_org("acme"))


def test_another_version_than_expected_is_refused(shelf: Shelf) -> None:
    [tool] = shelf.system.put("docs")
    read = shelf.system.parts.catalogue.read.get(tool, LAPTOP).version
    switch(shelf, tool, False)
    with pytest.raises(VersionConflict):
        shelf.system.parts.catalogue.switch(tool, LAPTOP, is_active=True, expected=Expected(frozenset({read})))


def test_many_items_are_deleted_in_one_transaction_with_a_result_each(shelf: Shelf) -> None:
    own = shelf.system.put("docs", "other", caller=of_org("acme"))
    [of_all] = shelf.system.put("shared")
    deleted = shelf.system.parts.catalogue.delete.of_ids([own[0], of_all, 999, own[0], own[1]], of_org("acme"))
    assert [(one.id, one.error and one.error.code.value) for one in deleted] == [
        (own[0], None),
        (of_all, "global_item"),
        (999, "item_not_found"),
        (own[0], "invalid_request"),
        (own[1], None),
    ]
    assert active(shelf, of_org("acme")) == {"shared": True}


def test_the_items_of_a_server_are_deleted_of_ones_own_and_the_server_stays(shelf: Shelf) -> None:
    server = shelf.server(tools=[DOCS, RESOLVE]).id
    shelf.system.put("ask", server="c7", type="prompt")
    shelf.system.put("ask", server="c7", type="prompt", caller=of_org("acme"))
    deleted, more = shelf.system.parts.catalogue.delete.of_server("c7", "tool", LAPTOP)
    assert (len(deleted), more) == (2, False)
    assert active(shelf) == {"ask": True}
    assert (
        shelf.get(server).tool_count,
        shelf.system.rows("SELECT count(*) FROM mcp.registry_words WHERE tool_id > 0"),
    ) == (
        0,
        [[0]],
    )
    assert len(shelf.system.parts.catalogue.delete.of_server("c7", None, of_org("acme"))[0]) == 1
    assert active(shelf) == {"ask": True}
    assert shelf.system.parts.verify().findings == []


def test_a_server_of_very_many_items_is_deleted_in_several_calls(shelf: Shelf, monkeypatch: pytest.MonkeyPatch) -> None:
    from skillroute.catalogue import delete_many

    monkeypatch.setattr(delete_many, "MAX_OF_SERVER", 2)
    ids = shelf.system.put("a", "b", "c", server="c7")
    found, more = shelf.system.parts.catalogue.delete.of_server("c7", None, LAPTOP)
    assert ([one.id for one in found], more) == (ids[:2], True)
    found, more = shelf.system.parts.catalogue.delete.of_server("c7", None, LAPTOP)
    assert ([one.id for one in found], more) == (ids[2:], False)
    assert shelf.system.parts.catalogue.delete.of_server("c7", None, LAPTOP) == ([], False)
