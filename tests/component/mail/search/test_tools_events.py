"""Section 8 of message-search over PostgreSQL: what the index says it will read is what it has read."""

from __future__ import annotations

from skillroute.core.caller import LAPTOP

from tests.builders import System
from tests.doubles import LogRecords, at


def test_a_rebuild_counts_what_it_reads_before_and_after(system: System, log: LogRecords) -> None:
    # GIVEN one of everything, some of it switched off or deleted
    system.skill("garden", at(0.5))
    system.skill("attic", at(0.5))
    system.skill("cellar", at(0.5))
    system.tools([("water", at(0.9)), ("prune", at(0.8))], skills=["garden"])
    system.sql("UPDATE mcp.skill_categories SET is_active = false WHERE id = 'attic'")
    system.sql("UPDATE mcp.skill_categories SET is_active = false, deleted_at = now() WHERE id = 'cellar'")
    system.sql("UPDATE mcp.tools SET is_active = false WHERE name = 'prune'")
    system.parts.registry.sync("server", [{"name": "shed", "description": "Tools."}], LAPTOP)
    system.store_message("approval")  # with its project and two agents
    # WHEN
    with system.replica.current():
        pass
    # THEN a tool, a skill, a server, and four documents of mail
    [begun], [done] = log.having("index.rebuild.start"), log.having("index.rebuild.complete")
    assert (begun.doc_count, done.doc_count) == (7, 7)  # type: ignore[attr-defined]
