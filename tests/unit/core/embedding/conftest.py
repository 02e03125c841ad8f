"""Embedders that compute every vector themselves."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.vectors import computed_vectors


@pytest.fixture(autouse=True)
def _computed_vectors() -> Iterator[None]:
    """Take no vector that another test has computed."""
    with computed_vectors():
        yield
