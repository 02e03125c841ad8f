"""What `--prune` may take: little unless confirmed, switched off first, and back with its skills when it is back."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from skillroute.core.caller import LAPTOP
from skillroute_local.client import Client
from skillroute_local.importing.compare import Change
from skillroute_local.importing.model import Choices
from skillroute_local.importing.pruning import Pruning
from skillroute_local.importing.report import ImportReport
from skillroute_local.importing.run import Import
from skillroute_local.importing.wanted import wanted

from tests.builders import System, lent_system
from tests.client_over import URL, AppTransport
from tests.doubles import EdgeIndexes
from tests.integration.local.test_import_sources import NoBar

SOME, ALL = Pruning(), Pruning(is_confirmed=True)
TODAY = datetime(2026, 3, 1, tzinfo=UTC)


@pytest.fixture
def system(emptied_database_url: str, edge_indexes: EdgeIndexes) -> Any:
    with lent_system(emptied_database_url, edge_indexes) as system:
        yield system


@pytest.fixture
def client(system: System) -> Any:
    import httpx
    from skillroute_local.server import local_app

    with Client(URL, http=httpx.Client(transport=AppTransport(local_app(system.parts)))) as client:
        yield client
