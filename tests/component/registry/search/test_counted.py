"""What a registry search leaves in the metrics."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from skillroute.core import observability

from tests.builders import System
from tests.component.registry.search.searched import Registry
from tests.doubles import at


@pytest.fixture
def emitted(monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, object]]:
    """What is written as EMF where it is: on Lambda."""
    monkeypatch.setattr(observability, "_ON_LAMBDA", True)
    observability.metrics.clear_metrics()
    yield observability.metrics.metric_set
    observability.metrics.clear_metrics()


@pytest.mark.parametrize("is_away", [False, True], ids=["hybrid", "lexical-only"])
def test_a_search_is_counted_with_its_time(
    system: System, counted: Callable[[str], float], emitted: dict[str, object], is_away: bool
) -> None:
    registry = Registry(system)
    registry.server("/context7", at(0.5))
    system.embedder.away = is_away
    answer = registry.search("context7")
    assert answer.search_mode == ("lexical-only" if is_away else "hybrid")
    assert (counted("Search"), counted("SearchDegraded")) == (1, float(is_away))
    assert emitted["SearchTime"] == {
        "Unit": "Milliseconds",
        "StorageResolution": 60,
        "Value": [answer.metadata.total_time_ms],
    }
