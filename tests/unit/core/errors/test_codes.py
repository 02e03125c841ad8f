"""The table of error codes: whole, in the docs as in the code, and of one status each."""

from __future__ import annotations

from collections.abc import Iterator
from typing import get_args

import pytest
from skillroute.core.errors import model as errors
from skillroute.core.errors.codes import ErrorCode, Kind, not_found_code
from skillroute.core.errors.model import (
    BudgetSpent,
    ConfigurationError,
    Conflict,
    DependencyUnavailable,
    Forbidden,
    InvalidInput,
    NotFound,
    SkillrouteError,
    Unauthenticated,
    VersionConflict,
)
from skillroute.core.errors.statement import StatementRejected

from tests.error_table import PAGE, table, with_table

STATUSES = (
    (InvalidInput, 422),
    (Unauthenticated, 401),
    (Forbidden, 403),
    (NotFound, 404),
    (Conflict, 409),
    (VersionConflict, 412),
    (BudgetSpent, 429),
    (DependencyUnavailable, 503),
)


def kinds(of: type[SkillrouteError] = SkillrouteError) -> Iterator[type[SkillrouteError]]:
    for kind in of.__subclasses__():
        if kind.__module__ == errors.__name__ and not kind.__name__.startswith("_"):
            yield kind
        yield from kinds(kind)


def test_the_docs_have_the_table_of_the_code() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert with_table(page) == page, "python -m tests.error_table"
    assert all(f"`{code.value}`" in table() for code in ErrorCode)


@pytest.mark.parametrize("kind", sorted(set(kinds()), key=lambda kind: kind.__name__))
def test_the_code_of_an_error_comes_with_its_status(kind: type[SkillrouteError]) -> None:
    if kind in {ConfigurationError, StatementRejected}:  # no caller sees these
        assert kind.code is ErrorCode.INTERNAL_ERROR
        return
    assert kind.code.status == next(status for base, status in STATUSES if issubclass(kind, base))


@pytest.mark.parametrize("kind", get_args(Kind))
def test_every_kind_has_a_code_of_its_own_when_it_is_not_found(kind: Kind) -> None:
    assert (not_found_code(kind), not_found_code(kind).status) == (f"{kind.replace(' ', '_')}_not_found", 404)
