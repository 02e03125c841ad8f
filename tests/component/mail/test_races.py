"""Several that write mail at once: each thing once, each name in one spelling, and no deadlock."""

from __future__ import annotations

from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import pytest
from skillroute.core.caller import LAPTOP
from skillroute.core.errors.model import NotFound
from skillroute.mail.repository import MailRepository
from skillroute.mail.rows import MailReport

from tests.builders import System, of_org
from tests.doubles import in_threads
from tests.integration.rows import connected, waits_for_a_lock
from tests.worlds.mail import message, statuses


def test_two_that_write_the_same_messages_at_once_write_each_once(office: System) -> None:
    messages = [message(f"m{number}", **{"from": f"Agent{number % 7}"}) for number in range(40)]

    def write(place: int) -> MailReport:
        return office.put_mail("message", *(messages if place else reversed(messages)))

    one, other = in_threads(2, write)
    assert sorted([one.count("created"), other.count("created")]) == [0, 40]
    assert sorted([one.count("unchanged"), other.count("unchanged")]) == [0, 40]
    assert {each.key: each.id for each in one.outcomes} == {each.key: each.id for each in other.outcomes}
    [[rows, senders]] = office.rows("SELECT count(*), count(DISTINCT sender_id) FROM mcp.mail_messages")
    assert (rows, senders, len(office.mail_keys("agent"))) == (40, 7, 8)
    assert office.findings() == []


def test_whoever_writes_second_waits_and_sees_what_the_first_wrote(office: System) -> None:
    real = MailRepository.put_messages
    others: list[Future[MailReport]] = []
    asked_for_ids: list[int] = []
    real_ids = MailRepository.new_ids

    def new_ids(repository: MailRepository, count: int) -> list[int]:
        asked_for_ids.append(count)
        return real_ids(repository, count)

    def put_messages(repository: MailRepository, *arguments: Any) -> None:
        real(repository, *arguments)
        if not others:
            # WHEN the second comes while the first has written and not committed
            others.append(pool.submit(lambda: office.put_mail("message", message("a", **{"from": "BLUELAKE"}))))
            while not waits_for_a_lock(watcher):
                assert not others[0].done()

    with ThreadPoolExecutor(1) as pool, connected(office.url) as watcher, pytest.MonkeyPatch.context() as patch:
        patch.setattr(MailRepository, "put_messages", put_messages)
        patch.setattr(MailRepository, "new_ids", new_ids)
        first = office.put_mail("message", message("a"))
        [second] = [other.result() for other in others]
    # THEN it finds the message, and its agents in the first spelling
    assert (statuses(first), statuses(second)) == (["created"], ["unchanged"])
    assert office.mail_keys("agent") == ["BlueLake", "GreenHill"]
    # AND had not looked before: only the first needed ids, for the message and for its agents
    assert asked_for_ids == [1, 2]


def test_other_organisations_do_not_wait(office: System) -> None:
    acme = of_org("acme")
    office.mail_outcome("project", acme, key="atlas", name="Atlas")
    real = MailRepository.put_messages
    written: list[list[str]] = []

    def put_messages(repository: MailRepository, *arguments: Any) -> None:
        real(repository, *arguments)
        patch.setattr(MailRepository, "put_messages", real)
        # In this very thread, while the first is not committed: it would wait for ever.
        written.append(statuses(office.put_mail("message", message("b"), caller=acme)))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(MailRepository, "put_messages", put_messages)
        assert statuses(office.put_mail("message", message("a"))) == ["created"]
    assert written == [["created"]]


def test_a_project_that_is_deleted_while_it_is_written_to_stays_or_takes_nothing(office: System) -> None:
    [[atlas]] = office.rows("SELECT id FROM mcp.mail_projects")
    for number in range(5):
        office.mail_outcome("project", key="atlas", name="Atlas")
        [[atlas]] = office.rows("SELECT id FROM mcp.mail_projects")

        def act(place: int, number: int = number, atlas: int = atlas) -> Any:
            if place:
                return office.put_mail("message", message(f"m{number}"))
            try:
                return office.parts.mail.read.delete("project", atlas, LAPTOP)
            except Exception as error:  # noqa: BLE001 (looked at below)
                return error

        deleted, report = in_threads(2, act)
        [outcome] = report.outcomes
        # THEN one of the two was first, and the other was told so
        assert (deleted is None) == (outcome.status == "failed"), (deleted, outcome)
        assert outcome.field in {None, "project"}
        if outcome.id is not None:
            office.parts.mail.read.delete("message", outcome.id, LAPTOP)
    assert office.findings() == []


def test_a_global_project_that_goes_while_an_agent_of_an_organisation_joins_it_fails_the_agent(office: System) -> None:
    [[atlas]] = office.rows("SELECT id FROM mcp.mail_projects")
    real = MailRepository.put_agents

    def put_agents(repository: MailRepository, *arguments: Any) -> None:
        patch.setattr(MailRepository, "put_agents", real)
        office.parts.mail.read.delete("project", atlas, LAPTOP)
        real(repository, *arguments)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(MailRepository, "put_agents", put_agents)
        report = office.put_mail("agent", {"name": "BlueLake", "projects": ["atlas"]}, caller=of_org("acme"))
    [outcome] = report.outcomes
    assert (outcome.status, outcome.field) == ("failed", "projects.0")
    with pytest.raises(NotFound):
        office.parts.mail.read.get("project", atlas, LAPTOP)
    assert office.findings() == []


def test_vectors_that_come_late_go_to_the_text_that_they_are_of(office: System) -> None:
    office.embedder.away = True
    id_ = office.put_message(body="Old.")
    office.embedder.away = False
    real = office.embedder.embed
    changed: list[int] = []

    def embed(texts: list[str], *, timeout_s: float) -> Any:
        vectors = real(texts, timeout_s=timeout_s)
        if not changed:
            changed.append(id_)
            office.embedder.away = True
            office.put_message(body="New.")
            office.embedder.away = False
        return vectors

    office.embedder.embed = embed  # type: ignore[method-assign, assignment]
    office.parts.embed_missing()
    # The vector of the old text is not stored beside the new one, which gets its own.
    assert office.embedder.texts[-1].endswith("New.")
    assert (office.is_mail_embedded(id_), office.mail_document(id_, "body")) == (True, ["New."])
    assert office.findings() == []
