"""The page Changes, without a browser: what waits, and decisions on it as it was seen."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

from tests.api.local.console.conftest import page_of
from tests.builders import System


@pytest.fixture
def page(system: System, tmp_path: Path) -> TestClient:
    return page_of(system, tmp_path / "requests.jsonl")


def do(page: TestClient, name: str, **fields: Any) -> Any:
    answer = page.post(f"/do/changes/{name}", json=fields)
    assert answer.status_code == 200, answer.text
    return answer.json()


def seen(page: TestClient) -> dict[str, str]:
    return {str(row["id"]): row["changed_at"] for row in do(page, "listed")["rows"]}


def test_what_waits_is_listed_by_pages_and_counted(page: TestClient, system: System) -> None:
    assert (do(page, "listed"), do(page, "count")) == ({"rows": [], "total": 0}, {"waiting": 0})
    system.put("one", "two", "three", description="First.")
    ids = system.put("one", "two", "three", description="Second.")
    first, rest = do(page, "listed", limit=2), do(page, "listed", offset=2)
    assert [row["id"] for row in first["rows"] + rest["rows"]] == sorted(ids)
    assert (first["total"], rest["total"], do(page, "count")) == (3, 3, {"waiting": 3})
    assert first["rows"][0]["differences"] == [{"field": "description", "diff": ["@@ -1 +1 @@", "-First.", "+Second."]}]


def test_they_are_decided_on_as_they_were_seen(page: TestClient, system: System) -> None:
    system.put("one", "two", "three", description="First.")
    one, two, three = system.put("one", "two", "three", description="Second.")
    looked_at = seen(page)
    system.put("two", description="Third.")
    decided = do(page, "decide", decision="approve", seen={id_: looked_at[id_] for id_ in (str(one), str(two))})
    assert decided == [{"id": one, "status": "approved"}, {"id": two, "status": "changed_again"}]
    rejected = do(page, "decide", decision="reject", seen={str(three): looked_at[str(three)]})
    assert rejected == [{"id": three, "status": "rejected"}]
    assert list(seen(page)) == [str(two)]


@pytest.mark.parametrize("fields", [{"seen": {}}, {"seen": {"one": "2026-11-20T09:00:00Z"}}, {"decision": "keep"}])
def test_other_decisions_are_refused(page: TestClient, fields: dict[str, Any]) -> None:
    whole = {"decision": "approve", "seen": {"1": "2026-11-20T09:00:00Z"}} | fields
    assert page.post("/do/changes/decide", json=whole).status_code == 422
