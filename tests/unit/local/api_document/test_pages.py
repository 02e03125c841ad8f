"""The page under /docs needs nothing that is not on this machine."""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import urljoin

import pytest
from fastapi.testclient import TestClient
from skillroute.core.http.app import create_app
from skillroute_local.api_document.pages import add_pages
from skillroute_local.browsers import Hosts
from skillroute_local.console.mounted import add_console

ELSEWHERE = re.compile(r"""(?:src|href|url|import)\s*[=(:]\s*["']?(?:https?:)?//[^"')\s>]*""")


@pytest.fixture(scope="module")
def client() -> TestClient:
    app = create_app([])
    add_pages(app, [])
    return TestClient(app)


def test_the_page_loads_only_what_is_here(client: TestClient) -> None:
    page = client.get("/docs")
    assert (page.status_code, ELSEWHERE.findall(page.text)) == (200, [])
    links = re.findall(r"""<(?:script|link)[^>]* (?:src|href)="([^"]+)\"""", page.text)
    assert len(links) == 3
    for link in links:
        asset = client.get(urljoin("/docs", link))
        assert (asset.status_code, len(asset.content) > 100) == (200, True), link
    assert "'/openapi.json'" in page.text


def test_the_style_loads_only_what_is_here(client: TestClient) -> None:
    style = client.get("/docs/swagger-ui.css").text
    assert re.findall(r"url\((?![\"']?data:)[^)]*\)", style) == []
    assert "@import" not in style


def test_browsers_are_told_to_load_nothing_from_elsewhere(client: TestClient) -> None:
    policy = dict(part.split(" ", 1) for part in client.get("/docs").headers["content-security-policy"].split("; "))
    assert policy["default-src"] == "'none'"
    assert not any("http" in sources or "*" in sources for sources in policy.values())


def test_no_document_is_sent_to_a_validator(client: TestClient) -> None:
    assert '"validatorUrl": "none"' in client.get("/docs").text


@pytest.mark.parametrize("name", ["nothing.js", "..%2fcore.py", "redoc.standalone.js", "__init__.py"])
def test_nothing_else_of_the_package_is_served(client: TestClient, name: str) -> None:
    assert client.get(f"/docs/{name}").status_code == 404


def test_the_document_served_is_of_where_it_is_served(client: TestClient) -> None:
    document = client.get("/openapi.json").json()
    assert (document["openapi"], [server["url"] for server in document["servers"]]) == ("3.1.0", ["/"])


def test_the_root_leads_a_person_to_the_pages_that_there_are(client: TestClient) -> None:
    page = client.get("/", headers={"accept": "text/html,application/xhtml+xml,*/*;q=0.8"})

    links = re.findall(r'href="([^"]+)"', page.text)

    assert page.headers["content-type"].startswith("text/html")
    assert links == ["/docs", "/openapi.json", "/health", "/mcp"]


def test_the_root_tells_programs_the_same(client: TestClient) -> None:
    assert client.get("/").json() == {
        "docs": "/docs", "openapi": "/openapi.json", "health": "/health", "mcp": "/mcp",
    }  # fmt: skip


def test_the_root_leads_to_the_console_where_it_is_served(tmp_path: Path) -> None:
    app = create_app([])
    add_pages(app, [])
    add_console(app, url="http://localhost", requests=tmp_path / "requests.jsonl", hosts=Hosts(), lend=None)

    links = TestClient(app).get("/").json()

    assert links["console"] == "/console/"
