"""Message search over a real database and a real index."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.builders import System, lent_system
from tests.component.mail.search.mailbox import Mailbox
from tests.doubles import EdgeIndexes

MakeMailbox = Callable[..., Mailbox]


@pytest.fixture
def mailbox(system: System) -> Mailbox:
    return Mailbox(system)


@pytest.fixture
def mailbox_with(database_url: str, edge_indexes: EdgeIndexes, request: pytest.FixtureRequest) -> MakeMailbox:
    """Make mailboxes of other settings over the same database."""

    def make(**settings: object) -> Mailbox:
        lent = lent_system(database_url, edge_indexes, **settings)
        system = lent.__enter__()
        request.addfinalizer(lambda: lent.__exit__(None, None, None))
        return Mailbox(system)

    return make
