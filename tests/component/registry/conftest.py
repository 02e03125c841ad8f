"""The registry's use cases over a real database and a real index."""

from __future__ import annotations

import pytest

from tests.builders import System
from tests.component.registry.shelf import Shelf


@pytest.fixture
def shelf(system: System) -> Shelf:
    return Shelf(system)
