"""The harness of `make bench-resume`, with some thousand rows: processes that are killed fill a server together."""

from __future__ import annotations

from benchmarks.standing.filling import Filling


def test_processes_that_are_killed_fill_a_server_together_and_no_search_lacks_anything_unmarked(
    database_url: str,
) -> None:
    # GIVEN a server that takes 6,000 rows, twelve pages, in 4.8 s: more than two processes have
    filling = Filling(database_url, rows=6000, timeout_s=2.0, delay_s=0.4)
    # WHEN
    filled, changed = filling.run()
    # THEN
    assert filling.broken == []
    assert filled["killed"] > 1
    assert filled["not_ready"] > 0  # and none of them waited
    assert changed["stale"] > 0
