"""What every app has, whatever it serves."""

from __future__ import annotations

from typing import Any

import pytest
from fastapi.testclient import TestClient
from skillroute.core.http.app import create_app
from skillroute.core.settings import CatalogSettings, SearchSettings, SkillsSettings
from skillroute.wiring import catalog_app, search_app, skills_app

PAGES = ["/docs", "/redoc", "/openapi.json", "/docs/oauth2-redirect"]


def test_the_document_is_there_for_who_asks_the_app_itself() -> None:
    assert create_app([]).openapi()["info"]["title"] == "Skillroute"


@pytest.mark.parametrize(
    ("make", "settings"),
    [(search_app, SearchSettings), (catalog_app, CatalogSettings), (skills_app, SkillsSettings)],
)
def test_no_function_has_pages_that_ask_nobody_who_they_are(make: Any, settings: Any) -> None:
    app = make(settings(database_url="postgresql://u:p@127.0.0.1:1/db"))
    assert [page for page in PAGES if TestClient(app).get(page).status_code != 404] == []
    assert app.openapi()["paths"]
