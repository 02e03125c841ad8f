"""The use cases of agent mail over a real database and a real index."""

from __future__ import annotations

import pytest

from tests.builders import System
from tests.component.mail.office import Office


@pytest.fixture
def office(system: System) -> Office:
    """An office with one project, `atlas`, of the laptop's own."""
    office = Office(system)
    office.one("project", key="atlas", name="Atlas")
    return office
