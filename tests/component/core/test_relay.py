"""What the relay takes up again of one organisation does not keep that of another waiting (docs/adr/0028)."""

from __future__ import annotations

from skillroute.skills.classification.repository import ClassificationRepository
from skillroute.skills.suggestions.suggest import SuggestSkills

from tests.builders import System
from tests.component.core.queue.clocked import CLASSIFY, Clocked, relay


def suggested(system: System, org: str, name: str, tool_ids: list[int]) -> None:
    """Store suggestions of a language model that nobody has approved yet."""
    for tool_id in tool_ids:
        system.rows(
            "INSERT INTO mcp.skill_suggestions (org_id, suggested_name, suggested_description, source_tool_id) "
            "VALUES (:org, :name, 'What these tools have in common.', :tool_id)",
            org=org,
            name=name,
            tool_id=tool_id,
        )


def test_lost_tools_of_every_organisation_are_queued_in_turn(system: System) -> None:
    # GIVEN more lost tools of one organisation than are queued at once
    system.tools([(f"t{n}", None) for n in range(5)], org="acme")
    [tool_id] = system.tools([("t", None)], org="globex")
    system.sql("DELETE FROM mcp.outbox")
    system.sql("UPDATE mcp.tools SET created_at = created_at - interval '1 hour'")
    # WHEN
    queued = system.database.transact(
        lambda session: ClassificationRepository(session).queue_lost(older_than_s=600, limit=2)
    )
    # THEN
    assert queued == 2
    assert str(tool_id) in system.waiting("classify")


def test_suggestions_are_approved_for_every_organisation_in_turn_and_within_a_time(system: System) -> None:
    # GIVEN three names of one organisation, older than the one of another
    ids = system.tools([(f"t{n}", None) for n in range(3)], org="acme")
    for name, tool_id in zip(("Video", "Audio", "Maps"), ids, strict=True):
        suggested(system, "acme", name, [tool_id])
    suggested(system, "globex", "Mail", system.tools([("t", None)], org="globex"))
    suggest = SuggestSkills(
        system.database, system.parts.prepare_skill, system.notifier, approve_after=1, clock=system.clock
    )
    # WHEN the time is up after two of them
    system.embedder.takes_s = 2.0
    suggest.approve_waiting(within_s=3.0)
    # THEN
    approved = system.rows("SELECT org_id, count(*) FROM mcp.skill_categories GROUP BY org_id ORDER BY org_id")
    assert approved == [["acme", 1], ["globex", 1]]
    # AND the next run takes up the others
    suggest.approve_waiting(within_s=10.0)
    assert system.rows("SELECT count(*) FROM mcp.skill_categories") == [[4]]


def test_work_is_published_before_suggestions_are_approved(queued: System, queue: Clocked) -> None:
    queued.tool("t", None)
    at_approval: list[int] = []
    relay(queued, approve=lambda: at_approval.append(len(queue.calls)))()
    assert at_approval == [1]
    assert len(queue.sent(CLASSIFY)) == 1


def test_embedding_gets_what_is_left_of_the_time_of_a_run(queued: System, queue: Clocked) -> None:
    # GIVEN a queue that takes ten seconds to answer
    queued.tool("t", None)
    queue.takes_s = 10.0
    left: list[float] = []

    def embed_missing(within_s: float) -> int:
        left.append(within_s)
        return 0

    run = relay(queued, embed_missing=embed_missing, queue=queue)
    run()
    # THEN
    queued.sql("UPDATE mcp.outbox SET published_at = NULL")
    queue.takes_s = 60.0
    run()
    # AND a few seconds even where the time is up, so that embedding is never left out for good
    assert left == [25.0, 5.0]
