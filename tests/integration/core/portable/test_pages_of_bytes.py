"""A page is cut by bytes where it is read, so that what does not fit is never in memory (decision 36)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest
from skillroute.catalogue import repository as items
from skillroute.catalogue.model import ItemFilter
from skillroute.catalogue.repository import ItemRepository
from skillroute.core.postgres.database import Database, Session
from skillroute.core.rights.decide import EVERYTHING
from skillroute.mail import lists as mail
from skillroute.mail.model import MessageFilter
from skillroute.mail.repository import MailRepository
from skillroute.registry import repository as registry
from skillroute.registry.model import EntityContent, EntityFilter
from skillroute.registry.repository import RegistryRepository

from tests.integration.mail_rows import Mail
from tests.integration.rows import item_row

Read = Callable[[Session, int], tuple[Sequence[Any], int]]
LONG = "x" * 400

LISTS: dict[str, Read] = {
    "items": lambda s, offset: ItemRepository(s).page(ItemFilter(), None, limit=100, offset=offset, rights=EVERYTHING),
    "servers": lambda s, offset: RegistryRepository(s).page(
        EntityFilter("server"), None, limit=100, offset=offset, rights=EVERYTHING
    ),
    "messages": lambda s, offset: MailRepository(s).messages(MessageFilter(), None, None, limit=100, offset=offset),
    "mail agents": lambda s, offset: MailRepository(s).agents(None, None, limit=100, offset=offset),
    "products": lambda s, offset: MailRepository(s).products(None, None, limit=100, offset=offset),
    "projects": lambda s, offset: MailRepository(s).projects(None, None, limit=100, offset=offset),
}


@pytest.fixture
def filled(database: Database, monkeypatch: pytest.MonkeyPatch) -> Database:
    """Five of everything, with 400 bytes each and more, and pages that have room for 1,000."""
    for module in (items, mail, registry):
        monkeypatch.setattr(module, "PAGE_BYTES", 1_000)
    rows = [
        item_row("described", description=LONG),
        item_row("taking", input_schema={"x": LONG}),
        item_row("giving", output_schema={"x": LONG}),
        item_row("annotated", annotations={"x": LONG}),
        item_row("more", metadata={"x": LONG}),
    ]
    database.transact(lambda s: ItemRepository(s).upsert(None, None, rows))
    for number in range(5):
        server = EntityContent("server", f"/s{number}", "A server", document={"x": LONG})
        database.transact(
            lambda s, server=server: RegistryRepository(s).upsert(None, server, repr(server), is_enabled=None)
        )  # type: ignore[misc]
    written = Mail(database)
    for number in range(5):
        written.project(f"p{number}{LONG[:120]}", description=LONG)
        written.agent(f"a{number}", description=LONG)
    for number in range(5):
        written.product(f"x{number}", *(f"p{other}{LONG[:120]}" for other in range(3)))
        written.message(f"m{number}", LONG)
    return database


@pytest.mark.parametrize("name", LISTS)
def test_a_page_has_as_many_rows_as_fit_and_the_next_goes_on_behind_them(filled: Database, name: str) -> None:
    read = LISTS[name]
    everything: list[Any] = []
    total = 1
    while len(everything) < total:
        page, total = filled.read(lambda s: read(s, len(everything)))  # noqa: B023 (called at once)
        assert 1 <= len(page) <= 3
        everything += page
    ids = [row.id for row in everything]
    assert len(set(ids)) == len(ids) == total >= 5
    assert filled.read(lambda s: read(s, total)) == ([], total)


@pytest.mark.parametrize("name", LISTS)
def test_a_row_that_is_larger_than_a_page_is_read_alone(
    filled: Database, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (items, mail, registry):
        monkeypatch.setattr(module, "PAGE_BYTES", 10)
    rows, _ = filled.read(lambda s: LISTS[name](s, 0))
    assert len(rows) == 1


def test_items_by_their_ids_are_read_in_that_order_until_there_is_no_room(filled: Database) -> None:
    rows, _ = filled.read(lambda s: ItemRepository(s).page(ItemFilter(), None, limit=1, offset=0, rights=EVERYTHING))
    first = rows[0].id
    ids = [first + 3, first, first + 3, first + 99, first + 1, first + 2]
    found, without_room = filled.read(lambda s: ItemRepository(s).some(ids, None, rights=EVERYTHING))
    assert [item.id for item in found] == [first + 3, first]
    assert without_room == [first + 1, first + 2]
    assert found[1] == filled.read(lambda s: ItemRepository(s).get(first, None, rights=EVERYTHING))
