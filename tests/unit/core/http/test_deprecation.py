"""A route that will go says so in the document and in every answer, by one statement."""

from __future__ import annotations

from datetime import date

import pytest
from fastapi import APIRouter, HTTPException
from fastapi.testclient import TestClient
from skillroute.core.errors.model import NotFound
from skillroute.core.http.app import create_app
from skillroute.core.http.body import SafeJsonRoute
from skillroute.core.http.deprecation import deprecated
from skillroute_local.api_document.document import api_document

SINCE, SUNSET = date(2027, 1, 4), date(2027, 7, 5)
HEADERS = {
    "deprecation": "@1799020800",
    "sunset": "Mon, 05 Jul 2027 00:00:00 GMT",
    "link": '</api/v1/new>; rel="successor-version"',
}


def router_of() -> APIRouter:
    router = APIRouter(tags=["search"], route_class=SafeJsonRoute)

    @router.get("/api/v1/old/{number}", **deprecated(since=SINCE, sunset=SUNSET, instead="/api/v1/new"))
    def get_old(number: int) -> int:
        """Return a number."""
        if number == 4:
            raise NotFound("no such number")
        if number == 5:
            raise HTTPException(503, "away")
        return number

    @router.get("/api/v1/new/{number}")
    def get_new(number: int) -> int:
        """Return a number."""
        return number

    return router


@pytest.mark.parametrize(
    ("method", "number", "status"), [("GET", "1", 200), ("GET", "x", 422), ("GET", "4", 404), ("GET", "5", 503)]
)
def test_every_answer_of_a_deprecated_route_says_so(method: str, number: str, status: int) -> None:
    answer = TestClient(create_app([router_of()])).request(method, f"/api/v1/old/{number}")
    assert answer.status_code == status
    assert {name: answer.headers.get(name) for name in HEADERS} == HEADERS


def test_head_of_it_does_too() -> None:
    answer = TestClient(create_app([router_of()])).head("/api/v1/old/1")
    assert (answer.status_code, answer.headers["deprecation"]) == (200, HEADERS["deprecation"])


def test_no_other_answer_does() -> None:
    client = TestClient(create_app([router_of()]))
    for path in ("/api/v1/new/1", "/api/v1/new/x", "/api/v1/nothing"):
        assert not HEADERS.keys() & client.get(path).headers.keys()


def test_the_document_says_so_too() -> None:
    router = router_of()
    document = api_document(create_app([router]), [router])
    old, new = (document["paths"][f"/api/v1/{name}/{{number}}"]["get"] for name in ("old", "new"))
    assert (old["deprecated"], "deprecated" in new) == (True, False)
    assert old["x-deprecation"] == {"since": "2027-01-04", "sunset": "2027-07-05", "instead": "/api/v1/new"}
    assert {"Deprecation", "Sunset"} <= set(old["responses"]["200"]["headers"])
    assert not {"Deprecation", "Sunset"} & set(new["responses"]["200"]["headers"])


def test_too_short_a_notice_is_refused() -> None:
    with pytest.raises(ValueError, match="sunset: 2027-07-02 is less than 180 days after 2027-01-04"):
        deprecated(since=SINCE, sunset=date(2027, 7, 2), instead="/api/v1/new")


def test_what_comes_instead_is_a_path() -> None:
    with pytest.raises(ValueError, match="instead: new is not a path"):
        deprecated(since=SINCE, sunset=SUNSET, instead="new")
