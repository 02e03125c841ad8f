"""Servers that are asked for their tools again."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import pytest
from skillroute.calling.model import CallFailed, Endpoint, Failure, JsonObject, Limits
from skillroute.core.caller import LAPTOP, Caller
from skillroute.core.listing import Order
from skillroute.core.outbound.credentials import Credentials
from skillroute.registry.model import EntityFilter, SeenOutcome

from tests.builders import System, lent_system, of_org
from tests.doubles import EdgeIndexes
from tests.worlds.calling import REMOTE, KnownIdentities


class Listing:
    """`RemoteTools` that list what a test sets."""

    def __init__(self) -> None:
        self.tools: Sequence[JsonObject] | CallFailed = []
        self.asked: list[str] = []

    async def list_tools(self, endpoint: Endpoint, *, credentials: Credentials, limits: Limits) -> Sequence[JsonObject]:
        self.asked.append(endpoint.url)
        if isinstance(self.tools, CallFailed):
            raise self.tools
        return self.tools


@pytest.fixture
def system(database_url: str, edge_indexes: EdgeIndexes) -> Iterator[System]:
    with lent_system(database_url, edge_indexes, calls="both", changed_definitions="block") as system:
        yield system


@pytest.fixture
def remote(system: System) -> Listing:
    listing = Listing()
    vars(system.parts.calling).update(remote=listing, identities=KnownIdentities())
    return listing


def tools(*names: str, **fields: Any) -> list[JsonObject]:
    return [
        {"name": name, "description": f"Does {name}.", "inputSchema": {"type": "object"}, **fields} for name in names
    ]


def see(system: System, left_s: float = 50.0) -> dict[str, int]:
    """Let every server be due, and ask again."""
    system.rows("UPDATE mcp.server_sightings SET seen_at = seen_at - interval '25 hours'")
    found: dict[str, int] = system.parts.calling.see_servers(lambda: left_s)
    return found


def state(system: System) -> dict[str, bool]:
    return dict(system.rows("SELECT name, is_active FROM mcp.tools ORDER BY name"))


def sighting(system: System) -> list[Any]:
    [row] = system.rows("SELECT outcome, tools, error FROM mcp.server_sightings")
    return list(row)


def test_what_is_new_is_added_and_what_is_gone_is_off_until_it_is_back(system: System, remote: Listing) -> None:
    system.put_server("/tools", **REMOTE)
    remote.tools = tools("a", "b", "c")
    assert see(system) == {"seen": 1}
    assert state(system) == {"a": True, "b": True, "c": True}
    remote.tools = tools("a", "b", "d")
    assert see(system) == {"seen": 1}
    assert state(system) == {"a": True, "b": True, "c": False, "d": True}
    remote.tools = tools("a", "b", "c", "d")
    see(system)
    assert all(state(system).values())
    assert sighting(system) == ["seen", 4, None]


def test_what_a_person_switched_off_stays_off(system: System, remote: Listing) -> None:
    system.put_server("/tools", **REMOTE)
    remote.tools = tools("a", "b")
    see(system)
    [[id_]] = system.rows("SELECT id FROM mcp.tools WHERE name = 'a'")
    system.parts.catalogue.switch(id_, LAPTOP, is_active=False)
    see(system)
    assert state(system) == {"a": False, "b": True}


def test_a_changed_definition_is_quarantined_and_what_keepers_added_stays(system: System, remote: Listing) -> None:
    system.put_server("/tools", **REMOTE)
    system.put("a", server="tools", description="Does a.", input_schema={"type": "object"}, tags=["ours"])
    remote.tools = tools("a", title="A")
    see(system)
    rows = system.rows("SELECT is_quarantined, tags, metadata::text FROM mcp.tools")
    assert rows == [[True, ["ours"], '{"title": "A"}']]


@pytest.mark.parametrize("listed", [[], tools("a")])
def test_losing_most_is_believed_the_second_time(system: System, remote: Listing, listed: list[JsonObject]) -> None:
    system.put_server("/tools", **REMOTE)
    remote.tools = tools("a", "b", "c")
    see(system)
    remote.tools = listed
    assert see(system) == {"doubted": 1}
    assert all(state(system).values())
    assert see(system) == {"seen": 1}
    assert sum(state(system).values()) == len(listed)


def test_a_list_that_fails_switches_nothing_off_and_says_why(system: System, remote: Listing) -> None:
    system.put_server("/tools", **REMOTE)
    remote.tools = tools("a", "b")
    see(system)
    remote.tools = CallFailed(Failure.UNREACHABLE, "the server cannot be reached")
    assert see(system) == {"failed": 1}
    assert all(state(system).values())
    assert sighting(system) == ["failed", None, "the server cannot be reached"]


def listed(system: System, caller: Caller, outcome: SeenOutcome | None = None) -> list[Any]:
    where = EntityFilter(kind="server", seen_outcome=outcome)
    rows = system.parts.registry.read.listed(where, caller, Order("path"), limit=9, offset=0)
    assert rows.total == len(rows.rows)
    return [(each.content.path, each.seen_outcome, each.seen_error) for each in rows.rows]


def test_lists_of_servers_say_what_came_of_it_and_its_own_organisation_why(system: System, remote: Listing) -> None:
    system.put_server("/tools", **REMOTE)
    system.put_server("/without")
    remote.tools = CallFailed(Failure.UNREACHABLE, "the server cannot be reached")
    see(system)
    failed = ("/tools", "failed", "the server cannot be reached")
    assert listed(system, LAPTOP) == [failed, ("/without", None, None)]
    assert (listed(system, LAPTOP, "failed"), listed(system, LAPTOP, "doubted")) == ([failed], [])
    assert listed(system, of_org("acme"), "failed") == [("/tools", "failed", None)]
    entity = system.entity(system.rows("SELECT server_id FROM mcp.server_sightings")[0][0])
    assert (entity.seen_outcome, entity.seen_error) == failed[1:]
    assert entity.seen_at is not None


def test_a_server_of_persons_is_left_out_and_says_so(system: System, remote: Listing) -> None:
    id_ = system.put_server("/tools", **REMOTE).id
    system.rows("INSERT INTO mcp.server_identities (server_id, kind) VALUES (:id, 'oauth')", id=id_)
    assert see(system) == {"left_out": 1}
    assert remote.asked == []
    assert "oauth" in sighting(system)[2]


def test_only_what_is_due_has_an_address_and_is_enabled_is_asked(system: System, remote: Listing) -> None:
    system.put_server("/tools", **REMOTE)
    system.put_server("/without")
    assert system.parts.calling.see_servers(lambda: 50.0) == {"seen": 1}
    assert system.parts.calling.see_servers(lambda: 50.0) == {}
    assert see(system, left_s=1.0) == {}


def test_items_are_written_for_the_organisation_whose_server_it_is(system: System, remote: Listing) -> None:
    acme: Caller = of_org("acme")
    system.put_server("/tools", acme, **REMOTE)
    remote.tools = tools("a")
    see(system)
    assert system.rows("SELECT org_id, server FROM mcp.tools") == [["acme", "tools"]]
