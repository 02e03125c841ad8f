"""Two lists of one server's tools at the same moment: one after the other, each whole."""

from __future__ import annotations

from concurrent.futures import Future, ThreadPoolExecutor

from skillroute.registry.report import EntityOutcome, ToolCounts

from tests.builders import System
from tests.doubles import once, until
from tests.integration.rows import connected

_WAITING_FOR = (
    "SELECT wait_event FROM pg_stat_activity WHERE datname = current_database() "
    "AND application_name = 'skillroute' AND wait_event_type = 'Lock'"
)


def test_of_two_lists_of_a_server_that_stays_the_same_the_second_waits_for_all_of_the_first(system: System) -> None:
    id_ = system.put_server(tools=[{"name": "x"}, {"name": "y"}]).id
    system.rows("SELECT 1")
    second: list[Future[EntityOutcome]] = []
    waits_for: list[str] = []

    # GIVEN a writer that has written its list and not committed
    with ThreadPoolExecutor(1) as other, connected(system.url) as watcher:

        def another() -> None:
            second.append(other.submit(lambda: system.put_server(tools=[{"name": "y"}, {"name": "z"}])))

            def waits() -> bool:
                waits_for[:] = [row[0] for row in watcher(_WAITING_FOR)]
                return bool(waits_for) or second[0].done()

            until(waits)

        # WHEN another one sends a list of its own just then
        system.database.before_commit = once(another)
        first = system.put_server(tools=[{"name": "w"}])
    # THEN it waits before it looks at anything: at the server's path, not at a row that they happen to share
    assert waits_for == ["advisory"]
    assert first.tools == ToolCounts(created=1, removed=2)
    # AND what it then finds are the tools that the first one left
    assert second[0].result().tools == ToolCounts(created=2, removed=1)
    assert {name: embedded for name, (_, _, embedded) in system.tools_of().items()} == {"y": True, "z": True}
    assert system.entity_text(id_) == "Context7\ny\nz"
    assert system.parts.verify().findings == []
