"""Settings: read from the environment, refused by the name of the variable."""

from __future__ import annotations

import os

import pytest
from skillroute.errors import ConfigurationError
from skillroute.settings import CatalogSettings, SearchSettings

URL = "postgresql://u:secret@127.0.0.1/db"
Loads = type[CatalogSettings]


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """Only what a test sets itself, and a database."""
    for name in os.environ:
        if name.startswith(("SKILLROUTE_", "AWS_LAMBDA_")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("SKILLROUTE_DATABASE_URL", URL)
    return monkeypatch


@pytest.mark.parametrize("settings", [CatalogSettings, SearchSettings])
@pytest.mark.parametrize("auth", ["none", "", None])
def test_on_lambda_nobody_is_let_in_unasked(environment: pytest.MonkeyPatch, settings: Loads, auth: str | None) -> None:
    # GIVEN
    environment.setenv("AWS_LAMBDA_FUNCTION_NAME", "skillroute-search")
    if auth is not None:
        environment.setenv("SKILLROUTE_AUTH", auth)
    # WHEN, THEN
    with pytest.raises(ConfigurationError, match="SKILLROUTE_AUTH must be jwt or iam on Lambda") as refused:
        settings.load()
    assert "secret" not in str(refused.value)


@pytest.mark.parametrize("auth", ["jwt", "iam"])
def test_on_lambda_verified_callers_are_let_in(environment: pytest.MonkeyPatch, auth: str) -> None:
    environment.setenv("AWS_LAMBDA_FUNCTION_NAME", "skillroute-search")
    environment.setenv("SKILLROUTE_AUTH", auth)
    assert SearchSettings.load().auth == auth


def test_on_a_laptop_nobody_is_asked() -> None:
    assert SearchSettings.load().auth == "none"


def test_a_variable_that_is_set_to_nothing_is_not_set(environment: pytest.MonkeyPatch) -> None:
    defaults = SearchSettings.load()
    for name in SearchSettings.model_fields:
        if name != "database_url":
            environment.setenv(f"SKILLROUTE_{name.upper()}", "")
    assert SearchSettings.load() == defaults
    assert defaults.qdrant_url is None


@pytest.mark.parametrize("url", ["", None])
def test_what_is_needed_and_missing_is_named(environment: pytest.MonkeyPatch, url: str | None) -> None:
    environment.delenv("SKILLROUTE_DATABASE_URL") if url is None else environment.setenv("SKILLROUTE_DATABASE_URL", url)
    with pytest.raises(ConfigurationError, match=r"^SKILLROUTE_DATABASE_URL: Field required$"):
        SearchSettings.load()
