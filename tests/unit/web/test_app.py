"""What every app has, whatever it serves."""

from __future__ import annotations

from typing import Any

import pytest
from fastapi.testclient import TestClient
from skillroute.core.http.app import create_app
from skillroute.core.settings import CatalogSettings, SearchSettings, SkillsSettings
from skillroute.wiring import catalog_app, search_app, skills_app

PAGES = ["/docs", "/redoc", "/openapi.json", "/docs/oauth2-redirect"]


@pytest.mark.parametrize("page", PAGES)
def test_the_pages_about_the_api_can_be_left_out(page: str) -> None:
    assert TestClient(create_app([])).get(page).status_code == 200
    assert TestClient(create_app([], with_docs=False)).get(page).status_code == 404


def test_the_document_is_there_for_who_asks_the_app_itself() -> None:
    assert create_app([], with_docs=False).openapi()["info"]["title"] == "Skillroute"


@pytest.mark.parametrize(
    ("make", "settings"),
    [(search_app, SearchSettings), (catalog_app, CatalogSettings), (skills_app, SkillsSettings)],
)
def test_no_function_has_pages_that_ask_nobody_who_they_are(make: Any, settings: Any) -> None:
    app = make(settings(database_url="postgresql://u:p@127.0.0.1:1/db"))
    assert [page for page in PAGES if TestClient(app).get(page).status_code != 404] == []
    assert app.openapi()["paths"]
