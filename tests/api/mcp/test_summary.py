"""What is remembered of a catalogue's summary is what a count would say, for each organisation."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from skillroute.catalogue.collection import TOOL_DOCUMENTS
from skillroute.core.caller import LAPTOP, Caller
from skillroute.mcp.remembered import Remembered
from skillroute.mcp.summary import CatalogueSummary
from skillroute.skills.collection import SKILL_DOCUMENTS

from tests.builders import System, of_org

ACME, GLOBEX = of_org("acme"), of_org("globex")
EVERYBODY = (LAPTOP, ACME, GLOBEX)


class Counted:
    """A summary that notes for whom it was asked."""

    def __init__(self, summary: Callable[[Caller], str]) -> None:
        self._summary = summary
        self.asked: list[str | None] = []

    def __call__(self, caller: Caller) -> str:
        self.asked.append(caller.org_id)
        return self._summary(caller)


@pytest.fixture
def fresh(system: System) -> Counted:
    parts = system.parts
    return Counted(CatalogueSummary(parts.mcp.read_items, parts.skills.read, parts.mcp.count_tokens))


@pytest.fixture
def remembered(system: System, fresh: Counted) -> Remembered[str]:
    return Remembered(fresh, system.parts.feed, frozenset({TOOL_DOCUMENTS, SKILL_DOCUMENTS}))


def changes(system: System) -> Iterator[str]:
    """Make one change of a catalogue after the other."""
    shared = system.create("shared").id
    yield "a global skill"
    [tool] = system.put("shared_tool")
    yield "a global tool"
    system.assign(tool, **{shared: 0.9})
    yield "a global assignment"
    own = system.create("own", ACME).id
    yield "an organisation's skill"
    [ours, other] = system.put("ours", "other", caller=ACME)
    yield "an organisation's tools"
    system.assign(ours, ACME, **{own: 0.9})
    yield "an assignment within it"
    system.classify(tool, other)
    yield "what the classifier decides"
    system.assign(ours, ACME, **{own: 0.9, shared: 0.5})
    yield "a second skill of a tool"
    system.assign(ours, ACME, **{shared: 0.5})
    yield "a skill less"
    system.put("plan", type="prompt", caller=GLOBEX)
    yield "a prompt"
    system.put("other", caller=ACME, is_active=False)
    yield "a tool switched off"
    system.change(own, ACME, is_active=False)
    yield "a skill switched off"
    system.change(own, ACME, is_active=True)
    yield "and on"
    system.parts.catalogue.read.delete(other, ACME)
    yield "a tool deleted"
    system.parts.skills.change.delete(own, ACME)
    yield "a skill deleted"
    system.parts.catalogue.read.delete(tool, LAPTOP)
    yield "a global tool deleted"
    system.sql("DELETE FROM mcp.tool_skill_assignments")
    yield "all assignments deleted behind everybody's back"
    system.sql("TRUNCATE mcp.tools CASCADE")
    yield "all tools deleted behind everybody's back"


def test_after_every_change_it_is_what_a_count_says(
    system: System, remembered: Remembered[str], fresh: Counted
) -> None:
    seen = {tuple(remembered(caller) for caller in EVERYBODY)}
    for change in changes(system):
        now = tuple(remembered(caller) for caller in EVERYBODY)
        assert now == tuple(fresh(caller) for caller in EVERYBODY), change
        seen.add(now)
    assert len(seen) > 10, "what never changes shows nothing"


def test_what_does_not_change_is_counted_once_for_each_organisation(
    system: System, remembered: Remembered[str], fresh: Counted
) -> None:
    system.put("ours", caller=ACME)
    for _ in range(3):
        assert [remembered(caller) for caller in EVERYBODY] == [
            "The catalogue is empty.", "The catalogue holds 1 tool.", "The catalogue is empty.",
        ]  # fmt: skip
    assert fresh.asked == [None, "acme", "globex"]


def test_mail_and_the_registry_change_no_catalogue(system: System, remembered: Remembered[str], fresh: Counted) -> None:
    remembered(LAPTOP)
    system.parts.mail.sync("project", [{"key": "garden", "name": "Garden"}], LAPTOP)
    system.parts.registry.sync("agent", [{"name": "Ann", "description": "Gardens.", "url": "https://a.test"}], LAPTOP)
    remembered(LAPTOP)
    assert fresh.asked == [None]


def test_a_database_that_begins_anew_is_counted_again(
    system: System, remembered: Remembered[str], fresh: Counted
) -> None:
    remembered(LAPTOP)
    system.sql("UPDATE mcp.index_state SET epoch = gen_random_uuid()")
    remembered(LAPTOP)
    assert fresh.asked == [None, None]
