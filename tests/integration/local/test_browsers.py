"""A web site that the person looks at neither reads from the servers on this machine nor makes them act."""

from __future__ import annotations

import http.client
from collections.abc import Iterator

import psutil
import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient
from skillroute_local.browsers import Hosts, OwnPagesOnly
from skillroute_local.docker_bridge import DESKTOP_HOST
from skillroute_local.loopback import HOST, is_loopback
from skillroute_local.queue_server import QueueServer, ensure_queues
from skillroute_local.up import Doors

OWN = "localhost:3000"
LED = {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate", "sec-fetch-dest": "document"}
"""What a browser sends that another site led here."""


@pytest.mark.parametrize(
    "host",
    [
        "localhost",
        OWN,
        "LOCALHOST:3000",
        "127.0.0.1:3000",
        "127.0.0.2:80",
        "[::1]:3000",
        "[::1]",
        "box.example:3000",
        "Box.Example",
    ],
)
def test_this_machine_is_asked_by_its_names(host: str) -> None:
    assert Hosts(["box.example", " ", ""]).refusal(host, None, None) is None


def test_this_machine_is_asked_by_its_own_addresses() -> None:
    addresses = [
        each.address for some in psutil.net_if_addrs().values() for each in some if each.family.name == "AF_INET"
    ]
    assert [Hosts().refusal(f"{address}:3000", None, None) for address in addresses] == [None] * len(addresses)


@pytest.mark.parametrize(
    "host",
    [
        None,
        "",
        ":3000",
        "evil.example",
        "evil.example:3000",
        "localhost.evil.example:3000",
        "localhost@evil.example",
        "evil.example/localhost",
        "0.0.0.0:3000",
        "192.0.2.1:3000",
        "[2001:db8::1]:3000",
        "[::1",
        "localhost:port",
        "local host",
        "127.0.0.1.evil.example",
        DESKTOP_HOST,
    ],
)
def test_a_name_that_was_made_to_mean_this_machine_is_refused(host: str | None) -> None:
    """DNS rebinding: the browser asks 127.0.0.1 and believes to ask the site, whose pages then read the answer."""
    why = Hosts().refusal(host, None, None)
    assert why is not None
    assert "--allow-host" in why


@pytest.mark.parametrize(
    ("origin", "fetch_site"),
    [
        ("https://evil.example", "cross-site"),
        ("https://evil.example", None),
        ("null", None),
        ("http://localhost:8000", "same-site"),
        ("http://127.0.0.1:3000", None),
        ("http://localhost", None),
        ("file://", None),
        (None, "cross-site"),
        (None, "same-site"),
    ],
)
def test_a_page_of_another_site_is_refused(origin: str | None, fetch_site: str | None) -> None:
    why = Hosts().refusal(OWN, origin, fetch_site)
    assert why is not None
    assert "http://localhost:3000" in why


@pytest.mark.parametrize(
    ("origin", "fetch_site"), [(None, None), (None, "none"), (f"http://{OWN}", "same-origin"), (f"https://{OWN}", None)]
)
def test_programs_and_its_own_pages_are_answered(origin: str | None, fetch_site: str | None) -> None:
    assert Hosts().refusal(OWN, origin, fetch_site) is None


class TestTheWebServer:
    @pytest.fixture
    def client(self) -> TestClient:
        app = FastAPI()
        self.acted = 0

        @app.post("/act")
        def act() -> dict[str, str]:
            self.acted += 1
            return {"mail": "secret"}

        app.add_middleware(OwnPagesOnly, hosts=Hosts(["box.example"]))
        return TestClient(app, base_url=f"http://{OWN}")

    def test_a_request_without_a_body_from_elsewhere_does_not_act(self, client: TestClient) -> None:
        """Such a request needs no preflight: any page can send it."""
        for headers in (
            {"origin": "https://evil.example"},
            {"sec-fetch-site": "cross-site"},
            {"host": "evil.example:3000"},
            {"host": "evil.example:3000", "origin": "http://evil.example:3000", "sec-fetch-site": "same-origin"},
        ):
            response = client.post("/act", headers=headers)
            assert response.status_code == 403, headers
            assert response.headers["content-type"] == "application/json"
            refusal = response.json()
            assert isinstance(refusal["detail"], str)
            assert (refusal["code"], refusal["request_id"]) == ("forbidden", response.headers["x-request-id"])
            assert "secret" not in response.text
        assert self.acted == 0

    def test_a_preflight_from_elsewhere_is_refused(self, client: TestClient) -> None:
        asked = {"origin": "https://evil.example", "access-control-request-method": "POST"}
        response = client.options("/act", headers=asked)
        assert response.status_code == 403
        assert not [name for name in response.headers if name.startswith("access-control")]

    def test_whoever_may_ask_is_answered(self, client: TestClient) -> None:
        assert client.post("/act").json() == {"mail": "secret"}
        assert client.post("/act", headers={"host": "box.example", "origin": "http://box.example"}).status_code == 200


class TestTheQueues:
    @pytest.fixture(scope="class")
    @classmethod
    def server(cls) -> Iterator[QueueServer]:
        with QueueServer() as server:
            ensure_queues(server.url)
            yield server

    @staticmethod
    def status(server: QueueServer, **headers: str) -> int:
        port = int(server.url.rpartition(":")[2])
        connection = http.client.HTTPConnection(HOST, port, timeout=30)
        connection.request("GET", "/?Action=ListQueues&Version=2012-11-05", headers=headers)
        response = connection.getresponse()
        response.read()
        connection.close()
        return response.status

    def test_pages_and_strange_names_are_refused(self, server: QueueServer) -> None:
        for headers in (
            {"Origin": "https://evil.example"},
            {"Sec-Fetch-Site": "cross-site"},
            {"Host": "evil.example"},
        ):
            assert self.status(server, **headers) == 403, headers

    def test_containers_come_by_docker_s_names(self, server: QueueServer) -> None:
        """`sam local`: by the bridge's address, which is this machine's, or by Docker Desktop's name for it."""
        for host in ("127.0.0.2:4566", f"{DESKTOP_HOST}:4566"):
            assert self.status(server, Host=host) == 200


@pytest.mark.parametrize(
    ("host", "url", "alone"),
    [
        ("127.0.0.1", "http://localhost:1", True),
        ("::1", "http://localhost:1", True),
        ("localhost", "http://localhost:1", True),
        ("0.0.0.0", "http://localhost:1", False),
        ("::", "http://localhost:1", False),
        ("192.0.2.1", "http://192.0.2.1:1", False),
        ("2001:db8::1", "http://[2001:db8::1]:1", False),
        ("box", "http://box:1", False),
    ],
)
def test_where_it_listens_is_where_it_is_reached(host: str, url: str, alone: bool) -> None:
    assert (Doors(0, host).url(1), is_loopback(host)) == (url, alone)

    @pytest.fixture
    def landing(self) -> TestClient:
        app = FastAPI()

        @app.api_route("/back", methods=["GET", "HEAD", "POST"])
        def back() -> str:
            return "asked"

        @app.get("/other")
        def other() -> str:
            return "secret"

        app.add_middleware(OwnPagesOnly, hosts=Hosts(), landings=["/back"])
        return TestClient(app, base_url=f"http://{OWN}")

    @pytest.mark.parametrize("site", ["cross-site", "same-site", "none", "same-origin"])
    def test_another_site_may_lead_a_browser_to_a_landing(self, landing: TestClient, site: str) -> None:
        assert landing.get("/back", headers={**LED, "sec-fetch-site": site}).status_code == 200

    @pytest.mark.parametrize(
        ("method", "path", "headers"),
        [
            ("GET", "/other", {}),
            ("GET", "/back/", {}),
            ("POST", "/back", {}),
            ("GET", "/back", {"sec-fetch-dest": "iframe"}),
            ("GET", "/back", {"sec-fetch-dest": "empty", "sec-fetch-mode": "no-cors"}),
            ("GET", "/back", {"origin": "https://evil.example"}),
            ("POST", "/back", {"sec-fetch-site": "same-origin", "origin": "null"}),
            ("GET", "/back", {"host": "evil.example:3000"}),
        ],
    )
    def test_it_gets_no_further(self, landing: TestClient, method: str, path: str, headers: dict[str, str]) -> None:
        assert landing.request(method, path, headers={**LED, **headers}).status_code == 403
