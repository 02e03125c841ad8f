"""Pages of other origins ask from a browser only where the deployment names them."""

from __future__ import annotations

from typing import Any

import pytest
from fastapi import APIRouter
from fastapi.testclient import TestClient
from mangum import Mangum
from skillroute.core.errors.model import NotFound
from skillroute.core.http.app import create_app
from skillroute.core.http.cors import origins_of
from skillroute.core.http.plain_app import create_plain_app
from skillroute.core.settings import LocalSettings
from skillroute_local.browsers import Hosts, OwnPagesOnly
from skillroute_local.gateway import http_event

PAGE = "https://console.example.com"
OTHER = "https://evil.example.com"
ASKED = {"access-control-request-method": "PUT", "access-control-request-headers": "authorization,if-match"}

router = APIRouter()


@router.put("/thing")
def thing() -> dict[str, str]:
    raise NotFound("no thing")


def preflight(client: TestClient, origin: str) -> Any:
    return client.options("/thing", headers={"origin": origin, **ASKED})


@pytest.mark.parametrize("app", [create_app([router], cors_origins=[PAGE]), create_plain_app([], cors_origins=[PAGE])])
def test_a_named_page_may_ask_and_others_may_not(app: Any) -> None:
    client = TestClient(app)
    allowed = preflight(client, PAGE)
    assert (allowed.status_code, allowed.headers["access-control-allow-origin"]) == (200, PAGE)
    assert "PUT" in allowed.headers["access-control-allow-methods"]
    assert allowed.headers["access-control-allow-headers"] == "authorization,if-match"
    assert "access-control-allow-credentials" not in allowed.headers
    refused = preflight(client, OTHER)
    assert (refused.status_code, refused.json()["code"]) == (403, "forbidden")
    assert refused.json()["detail"].startswith(f"pages of {OTHER} may not ask this server")
    assert "access-control-allow-origin" not in refused.headers
    for answer in (allowed, refused):
        [request_id] = answer.headers.get_list("x-request-id")
        assert request_id == (answer.json()["request_id"] if answer is refused else request_id) != ""
    asked = {"origin": PAGE, "access-control-request-method": "TRACE"}
    assert "may not use this method" in client.options("/thing", headers=asked).json()["detail"]


def test_errors_can_be_read_by_the_page_too() -> None:
    client = TestClient(create_app([router], cors_origins=[PAGE]))
    answer = client.put("/thing", headers={"origin": PAGE})
    assert (answer.status_code, answer.json()["code"]) == (404, "not_found")
    assert answer.headers["access-control-allow-origin"] == PAGE
    assert answer.headers["access-control-expose-headers"] == "*"
    assert "access-control-allow-origin" not in client.put("/thing", headers={"origin": OTHER}).headers


def test_what_nobody_foresaw_can_be_read_too() -> None:
    broken = APIRouter()

    @broken.get("/broken")
    def fail() -> None:
        raise RuntimeError("a mistake")

    for app in (create_app([broken], cors_origins=[PAGE]), create_plain_app(broken.routes, cors_origins=[PAGE])):  # type: ignore[arg-type]
        answer = TestClient(app, raise_server_exceptions=False).get("/broken", headers={"origin": PAGE})
        assert (answer.status_code, answer.json()["code"]) == (500, "internal_error")
        assert answer.headers.get_list("x-request-id") == [answer.json()["request_id"]]
        assert answer.headers["access-control-allow-origin"] == PAGE


def test_without_the_setting_nothing_says_that_pages_may() -> None:
    client = TestClient(create_app([router]))
    assert preflight(client, PAGE).status_code == 405
    assert not [name for name in client.put("/thing", headers={"origin": PAGE}).headers if name.startswith("access-")]


def test_a_preflight_comes_through_the_gateway_without_an_authorizer() -> None:
    event = http_event("OPTIONS /thing")
    event["headers"] |= {"origin": PAGE, **ASKED}
    answer = Mangum(create_app([router], cors_origins=[PAGE]), lifespan="off")(event, None)  # type: ignore[arg-type]
    assert (answer["statusCode"], answer["headers"]["access-control-allow-origin"]) == (200, PAGE)


def test_the_laptop_lets_named_pages_in_and_no_others() -> None:
    app = create_app([router], cors_origins=[PAGE])
    app.add_middleware(OwnPagesOnly, hosts=Hosts(), pages=[PAGE])
    client = TestClient(app, base_url="http://localhost:3000")
    cross = {"sec-fetch-site": "cross-site"}
    assert client.put("/thing", headers={"origin": PAGE, **cross}).status_code == 404
    refused = client.put("/thing", headers={"origin": OTHER, **cross})
    assert refused.status_code == 403
    assert refused.json()["detail"].endswith(f"only pages of http://localhost:3000, {PAGE} may ask this server")
    assert client.put("/thing", headers=cross).status_code == 403
    renamed = TestClient(app, base_url="http://rebound.example.com")
    assert renamed.put("/thing", headers={"origin": PAGE}).status_code == 403


@pytest.mark.parametrize("listed", ["*", "https://*.example.com", "example.com", f"{PAGE}/", f"{PAGE}/page", "null"])
def test_what_is_no_origin_stops_the_start(listed: str) -> None:
    with pytest.raises(ValueError, match="is not an origin"):
        origins_of(listed)
    with pytest.raises(ValueError, match="SKILLROUTE_CORS_ALLOW_ORIGINS"):
        LocalSettings(database_url="postgresql://nobody", cors_allow_origins=listed)  # type: ignore[arg-type]
