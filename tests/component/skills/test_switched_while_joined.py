"""A skill that is switched at the moment at which a tool joins it: the tool says afterwards what the skill is then."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import pytest
from skillroute.core.caller import LAPTOP

from tests.builders import System
from tests.doubles import once, until
from tests.integration.rows import connected

_WAITING = (
    "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() "
    "AND application_name = 'skillroute' AND wait_event = 'advisory'"
)


def by_itself(system: System) -> object:
    return system.parts.skills.change("mail", {"is_active": False}, LAPTOP)


def in_bulk(system: System) -> object:
    mail = {"id": "mail", "name": "mail", "description": "All about mail.", "is_active": False}
    return system.parts.skills.sync([mail], LAPTOP)


def document_of(system: System, tool_id: int) -> Any:
    [[keys]] = system.rows(
        "SELECT payload -> 'skill_keys' FROM mcp.documents WHERE collection = 'mcp_unified_search' AND key = :key",
        key=str(tool_id),
    )
    return keys


@pytest.mark.parametrize("switch", [by_itself, in_bulk])
def test_switching_waits_for_a_tool_that_joins(system: System, switch: Callable[[System], object]) -> None:
    system.create("mail", name="mail", description="All about mail.")
    [tool] = system.put("send")
    switched: list[Future[object]] = []

    # GIVEN a tool that joins the skill, all written and not committed
    with ThreadPoolExecutor(1) as other, connected(system.url) as watcher:

        def switching() -> None:
            switched.append(other.submit(switch, system))
            until(lambda: watcher(_WAITING) != [[0]] or switched[0].done())

        # WHEN the skill is switched off just then
        system.database.before_commit = once(switching)
        system.assign(tool, mail=0.9)
        switched[0].result()

    # THEN the tool's document does not name it
    assert document_of(system, tool) == []
    assert system.parts.verify().findings == []
    # AND the tool is in it still, once it is on again
    system.parts.skills.change("mail", {"is_active": True}, LAPTOP)
    assert document_of(system, tool) == ["mail"]
