"""Writing Agent Skills: what becomes of each, what is stored, and what is embedded again."""

from __future__ import annotations

import pytest
from skillroute.agent_skills.model import SKILL_MD
from skillroute.core.bulk.versions import Expected
from skillroute.core.errors.codes import ErrorCode
from skillroute.core.errors.model import Forbidden, InvalidInput, NotFound, VersionConflict

from tests.builders import System, of_org
from tests.worlds.agent_skills import agent_skill

ACME, UMBRELLA = of_org("acme"), of_org("umbrella")
LONG = "word " * 120
PARTS = f"# A\n{LONG}\n# B\nbee {LONG}\n# C\nsea {LONG}"


def statuses(report: object) -> list[str]:
    return [outcome.status for outcome in report.outcomes]  # type: ignore[attr-defined]


def test_a_skill_is_created_then_unchanged_then_updated(system: System) -> None:
    assert system.put_agent_skill().status == "created"
    assert system.put_agent_skill().status == "unchanged"
    assert system.put_agent_skill(license="MIT").status == "updated"
    assert system.put_agent_skill(license="MIT", files={"a.md": "A"}).status == "updated"


def test_each_is_judged_on_its_own(system: System) -> None:
    wrong = {**agent_skill("wrong"), "path": "other"}
    report = system.put_agent_skills(agent_skill("a"), wrong, agent_skill("a"), agent_skill("b"))
    assert statuses(report) == ["created", "failed", "failed", "created"]
    assert [outcome.field for outcome in report.outcomes] == [None, "path", "path", None]
    assert system.agent_skill_paths() == ["a", "b"]


def test_a_dry_run_writes_nothing(system: System) -> None:
    report = system.put_agent_skills(agent_skill("a"), dry_run=True)
    assert (statuses(report), report.outcomes[0].id) == (["created"], None)
    assert system.agent_skill_paths() == []


def test_more_than_a_call_may_have_are_refused(system: System) -> None:
    with pytest.raises(InvalidInput, match="at most 100"):
        system.put_agent_skills(*[agent_skill("a")] * 101)


def test_files_come_back_byte_for_byte(system: System) -> None:
    # GIVEN
    skill = agent_skill("refunds", "# A\r\n\r\nText \n", files={"notes/a.txt": "A"})
    [outcome] = system.put_agent_skills(skill).outcomes
    assert outcome.id is not None
    read = system.parts.agent_skills.read
    # WHEN
    stored = system.stored_agent_skill(outcome.id)
    # THEN
    assert stored.frontmatter == skill["frontmatter"]
    assert [file.path for file in stored.files] == [SKILL_MD, "notes/a.txt"]
    file, content = read.file(outcome.id, ACME, path=SKILL_MD)
    assert content == skill["files"][0]["text"].encode()
    assert read.file(outcome.id, ACME, digest=file.digest) == (file, content)
    with pytest.raises(NotFound) as caught:
        read.file(outcome.id, ACME, path="notes")
    assert caught.value.code is ErrorCode.AGENT_SKILL_FILE_NOT_FOUND


def test_files_that_are_left_out_are_gone(system: System) -> None:
    id_ = system.put_agent_skill(files={"a.md": "A", "b.md": "B"}).id
    system.put_agent_skill(files={"b.md": "B2"})
    assert [file.path for file in system.stored_agent_skill(id_).files] == [SKILL_MD, "b.md"]


def test_every_piece_has_a_vector(system: System) -> None:
    id_ = system.put_agent_skill("letters", PARTS).id
    assert [(heading, has) for _, heading, has in system.piece_rows(id_)] == [
        ("", True),
        ("A", True),
        ("B", True),
        ("C", True),
    ]
    assert system.stored_agent_skill(id_).is_embedded


def test_only_pieces_whose_text_is_new_are_embedded_again(system: System) -> None:
    # GIVEN
    id_ = system.put_agent_skill("letters", PARTS).id
    before = system.piece_rows(id_)
    system.embedder.calls.clear()
    # WHEN a section is put before the others, and one goes
    system.put_agent_skill("letters", f"# New\nnew {LONG}\n" + PARTS.partition("\n# C")[0])
    # THEN
    [text] = system.embedder.texts
    assert text.startswith("letters: New\n")
    after = system.piece_rows(id_)
    assert [heading for _, heading, _ in after] == ["", "New", "A", "B"]
    assert [id_ for id_, *_ in after][2:] == [id_ for id_, *_ in before][1:3]
    assert all(has_vector for *_, has_vector in after)


def test_without_the_model_skills_are_stored_and_the_next_write_embeds_them(system: System) -> None:
    # GIVEN
    system.embedder.away = True
    report = system.put_agent_skills(agent_skill())
    assert (statuses(report), report.embedding_unavailable) == (["created"], True)
    assert not system.stored_agent_skill(report.outcomes[0].id).is_embedded
    # WHEN
    system.embedder.away = False
    report = system.put_agent_skills(agent_skill())
    # THEN
    assert (statuses(report), report.embedding_unavailable) == (["unchanged"], False)
    assert system.stored_agent_skill(report.outcomes[0].id).is_embedded


def test_two_organisations_and_all_may_have_the_same_path(system: System) -> None:
    ids = {system.put_agent_skill("a", caller=caller).id for caller in (of_org(None), ACME, UMBRELLA)}
    assert len(ids) == 3
    assert system.agent_skill_paths(ACME) == ["a", "a"]  # the global one and its own, as items
    assert system.agent_skill_paths(of_org(None)) == ["a"]


def test_another_organisation_s_skill_does_not_exist(system: System) -> None:
    id_ = system.put_agent_skill("a", caller=ACME).id
    assert id_ is not None
    read = system.parts.agent_skills.read
    [digest] = {file.digest for file in system.stored_agent_skill(id_, ACME).files}
    for call in (
        lambda: read.get(id_, UMBRELLA),
        lambda: read.file(id_, UMBRELLA, path=SKILL_MD),
        lambda: read.file(id_, UMBRELLA, digest=digest),
        lambda: read.switch(id_, UMBRELLA, is_active=False),
        lambda: read.delete(id_, UMBRELLA),
    ):
        with pytest.raises(NotFound) as caught:
            call()
        assert caught.value.code is ErrorCode.AGENT_SKILL_NOT_FOUND
    assert system.agent_skill_paths(ACME) == ["a"]


def test_a_global_skill_is_not_an_organisation_s_to_change(system: System) -> None:
    id_ = system.put_agent_skill("a").id
    assert id_ is not None
    read = system.parts.agent_skills.read
    with pytest.raises(Forbidden):
        read.delete(id_, ACME)
    with pytest.raises(Forbidden):
        read.switch(id_, ACME, is_active=False)


def test_a_deleted_skill_leaves_nothing_behind(system: System) -> None:
    id_ = system.put_agent_skill("letters", PARTS).id
    assert id_ is not None
    system.parts.agent_skills.read.delete(id_, of_org(None))
    for table in ("agent_skills", "agent_skill_files", "agent_skill_pieces", "documents", "document_vectors"):
        assert system.rows(f"SELECT count(*) FROM mcp.{table}") == [[0]], table


def test_a_change_from_another_version_is_refused(system: System) -> None:
    id_ = system.put_agent_skill("a").id
    assert id_ is not None
    version = system.stored_agent_skill(id_).version
    read = system.parts.agent_skills.read
    read.switch(id_, of_org(None), is_active=False, expected=Expected(frozenset({version})))
    with pytest.raises(VersionConflict):
        read.delete(id_, of_org(None), Expected(frozenset({version})))


def test_what_is_switched_off_stays_so_when_it_is_written(system: System) -> None:
    id_ = system.put_agent_skill("a").id
    assert id_ is not None
    system.parts.agent_skills.read.switch(id_, of_org(None), is_active=False)
    system.put_agent_skill("a", license="MIT")
    assert not system.stored_agent_skill(id_).is_active
    assert system.agent_skill_paths(is_active=True) == []
    searchable = system.rows("SELECT DISTINCT is_searchable FROM mcp.documents")
    assert searchable == [[False]]
