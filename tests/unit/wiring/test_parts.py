"""Parts that are given in the place of the configured ones."""

from __future__ import annotations

from typing import Any

import pytest
from skillroute.core.settings import LocalSettings
from skillroute.wiring import Parts

SETTINGS = {"database_url": "postgresql://user@localhost/db", "embedding_provider": "hashing"}


def test_a_part_that_is_given_is_used() -> None:
    queue: Any = object()
    assert Parts(LocalSettings(**SETTINGS), queue=queue).queue is queue


def test_a_part_of_an_unknown_name_is_refused() -> None:
    """Else the configured one, which may be a real queue, would be used in its place."""
    misspelt: dict[str, Any] = {"notifer": object()}
    with pytest.raises(TypeError, match="there are no parts notifer to be given"):
        Parts(LocalSettings(**SETTINGS), **misspelt)
