"""The use cases of agent mail over a real database and a real index."""

from __future__ import annotations

import pytest

from tests.builders import System


@pytest.fixture
def office(system: System) -> System:
    """A system with one project, `atlas`, of the laptop's own."""
    system.mail_outcome("project", key="atlas", name="Atlas")
    return system
