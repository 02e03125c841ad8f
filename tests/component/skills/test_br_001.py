"""BR-001 of skill-contract: creating a skill."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError
from skillroute.core.documents.model import IndexFilter
from skillroute.core.errors.model import Conflict, InvalidInput, NotFound
from skillroute.skills.collection import SKILL_DOCUMENTS
from skillroute.skills.model import MAX_SKILLS

from tests.builders import System, of_org
from tests.doubles import at, succeed_at_once

FULL = f"""
INSERT INTO mcp.skill_categories (id, name, description)
SELECT 'filler_' || n, 'Filler', 'One of very many.' FROM generate_series(1, {MAX_SKILLS - 1}) n
"""


def test_br_001_the_record_is_created_as_it_was_sent(system: System) -> None:
    created = system.create(
        "calendar",
        name="Calendar",
        description="Managing calendars.",
        keywords=("event", "schedule"),
        examples=("create_event",),
        parent_domain="productivity",
    )
    stored = system.parts.skills.read.get("calendar", of_org(None))
    assert stored == created
    assert (stored.id, stored.name, stored.description) == ("calendar", "Calendar", "Managing calendars.")
    assert (stored.keywords, stored.examples) == (("event", "schedule"), ("create_event",))
    assert (stored.parent_domain, stored.is_active, stored.org_id) == ("productivity", True, None)
    assert stored.created_at == stored.updated_at


def test_br_001_what_is_optional_may_be_left_out(system: System) -> None:
    created = system.create("calendar")
    assert (created.keywords, created.examples, created.parent_domain) == ((), (), None)


def test_br_001_the_tool_count_begins_at_0(system: System) -> None:
    system.put("lonely")
    assert system.create("calendar").tool_count == 0


def test_br_001_the_initial_embedding_is_that_of_the_description(system: System) -> None:
    system.embedder._inner.table["Calendar: Managing calendars."] = at(0.6)  # type: ignore[attr-defined]
    system.create("calendar", name="Calendar", description="Managing calendars.")
    assert system.vector("calendar") == pytest.approx(at(0.6))
    assert system.vector("calendar", of_description=True) == pytest.approx(at(0.6))


def test_br_001_it_is_in_the_index_of_the_very_next_search(system: System) -> None:
    with system.replica.current():
        pass  # an index that is there already, and empty
    system.create("calendar")
    assert [skill.id for skill in system.search().matched_skills] == ["calendar"]
    assert system.index.match(SKILL_DOCUMENTS, where=IndexFilter(), limit=10) == ["calendar"]


def test_br_001_without_the_model_it_is_stored_and_embedded_by_the_relay(system: System) -> None:
    system.embedder.away = True
    system.create("calendar")
    assert system.vector("calendar") is None
    system.embedder.away = False
    report = system.parts.relay()
    assert report.embedded == 1
    assert system.vector("calendar") == pytest.approx(at(1.0))


# Validation


@pytest.mark.parametrize("good", ["a", "a1", "a_", "calendar_management", "a" * 64])
def test_br_001_an_id_is_lower_case_begins_with_a_letter_and_may_have_underscores(system: System, good: str) -> None:
    assert system.create(good).id == good


@pytest.mark.parametrize(
    "bad",
    ["", "a" * 65, "1a", "_a", "A", "aB", "a-b", "a b", "a.b", "é", "a\n", " a", "classify", "suggestions", 7, None],
)
def test_br_001_any_other_id_is_refused(system: System, bad: Any) -> None:
    with pytest.raises(ValidationError):
        system.create(bad)
    assert system.rows("SELECT count(*) FROM mcp.skill_categories") == [[0]]


@pytest.mark.parametrize(
    "fields",
    [
        {"name": "n"},
        {"name": "n" * 255},
        {"description": "d" * 10},
        {"description": "d" * 1000},
        {"description": "漢" * 1000},
        {"keywords": ("k",) * 20},
        {"keywords": ("k" * 64,)},
        {"keywords": ("größe", "日本", "k8s & co")},
        {"examples": ("e",) * 10},
        {"examples": ("e" * 256,)},
        {"parent_domain": "p" * 64},
        {"parent_domain": None},
    ],
    ids=lambda fields: "-".join(f"{k}-{len(v or '')}" for k, v in fields.items()),
)
def test_br_001_fields_at_their_limits_are_taken(system: System, fields: dict[str, Any]) -> None:
    created = system.create("calendar", **fields)
    assert {name: getattr(created, name) for name in fields} == fields


@pytest.mark.parametrize(
    "fields",
    [
        {"name": ""},
        {"name": "  "},
        {"name": "n" * 256},
        {"name": None},
        {"name": 7},
        {"description": ""},
        {"description": "d" * 9},
        {"description": f"{'d' * 9}   "},
        {"description": "d" * 1001},
        {"description": None},
        {"keywords": ("k",) * 21},
        {"keywords": ("Calendar",)},
        {"keywords": ("Übersicht",)},
        {"keywords": ("",)},
        {"keywords": ("k" * 65,)},
        {"keywords": (7,)},
        {"keywords": "calendar"},
        {"examples": ("e",) * 11},
        {"examples": ("",)},
        {"examples": ("e" * 257,)},
        {"name": "a\x00b"},
        {"name": "a\u200bb"},
        {"parent_domain": ""},
        {"parent_domain": "p" * 65},
        {"tool_count": 3},
    ],
    ids=lambda fields: "-".join(f"{k}-{str(v)[:12]}-{len(v) if isinstance(v, tuple | str) else 0}"
                                for k, v in fields.items()),
)  # fmt: skip
def test_br_001_fields_beyond_their_limits_are_refused(system: System, fields: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        system.create("calendar", **fields)
    assert system.rows("SELECT count(*) FROM mcp.skill_categories") == [[0]]


@pytest.mark.parametrize("fields", [{"keywords": ("\x00",)}, {"parent_domain": "\x00"}])
def test_br_001_a_text_that_cannot_be_stored_is_refused(system: System, fields: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput):
        system.create("calendar", **fields)


# Duplicates and the limit


def test_br_001_a_duplicate_id_is_a_conflict_that_names_it_and_changes_nothing(system: System) -> None:
    for caller in (of_org(None), of_org("acme")):
        skill_id = f"calendar_of_{caller.org_id or 'all'}"
        before = system.create(skill_id, caller)
        with pytest.raises(Conflict, match=rf"^Skill already exists: {skill_id}$"):
            system.create(skill_id, caller, name="Other", description="Something else.")
        assert system.parts.skills.read.get(skill_id, caller) == before


def test_br_001_an_inactive_skill_keeps_its_id(system: System) -> None:
    system.create("calendar")
    system.change("calendar", is_active=False)
    with pytest.raises(Conflict):
        system.create("calendar")


def test_br_001_there_are_1000_skills_at_most(system: System) -> None:
    system.sql(FULL)
    assert system.create("last").id == "last"
    with pytest.raises(Conflict, match="1000 skills"):
        system.create("one_too_many")
    with pytest.raises(NotFound):
        system.parts.skills.read.get("one_too_many", of_org(None))
    # AND another organisation has room of its own, and a deleted skill makes room
    assert system.create("of_acme", of_org("acme")).org_id == "acme"
    system.parts.skills.change.delete("filler_1", of_org(None))
    assert system.create("in_its_place").id == "in_its_place"


def test_br_001_a_duplicate_is_called_one_when_there_is_no_room_either(system: System) -> None:
    system.sql(FULL)
    system.create("last")
    with pytest.raises(Conflict, match="already exists"):
        system.create("last")


def test_br_001_of_two_that_create_the_last_skill_at_once_one_succeeds(system: System) -> None:
    system.sql(FULL)
    assert succeed_at_once(2, lambda place: system.create(f"last_{place}")) == [False, True]
