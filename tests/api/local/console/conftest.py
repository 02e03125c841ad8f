"""The console's pages without a browser: over the client, over the real API."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient
from skillroute_client import AsyncSkillroute
from skillroute_local.console.app import KEY_HEADER, console_app
from skillroute_local.console.lent_parts import LendParts

from tests.api.one_app import app_over
from tests.api.tokens import JWT, Signer, claims, key_set
from tests.builders import System, lent_system
from tests.client_over import URL, async_client_over
from tests.doubles import EdgeIndexes

Do = Callable[..., Any]


def page_of(system: System, requests: Path, *, reaches: bool = True, lend: LendParts | None = None) -> TestClient:
    """Return the console over a system, as its own pages ask it."""

    def connect(token: str | None) -> AsyncSkillroute:
        return async_client_over(app_over(system), token=token)

    console = console_app(connect, url=URL, requests=requests, reaches=reaches, lend=lend)
    return TestClient(console, headers={KEY_HEADER: "page"})


@pytest.fixture
def requests(tmp_path: Path) -> Path:
    return tmp_path / "requests.jsonl"


@pytest.fixture
def page(system: System, requests: Path) -> TestClient:
    return page_of(system, requests)


@pytest.fixture
def do(page: TestClient) -> Do:
    """Carry out an action that must succeed."""

    def run(name: str, **fields: Any) -> Any:
        answer = page.post(f"/do/{name}", json=fields)
        assert answer.status_code == 200, answer.text
        return answer.json()

    return run


@pytest.fixture
def signer() -> Signer:
    return Signer("k")


@pytest.fixture
def locked(
    database_url: str, edge_indexes: EdgeIndexes, requests: Path, signer: Signer
) -> Iterator[Callable[..., TestClient]]:
    """Pages of a Skillroute that asks for tokens, with a token of these claims or, with no scope, without any."""
    settings = JWT | {"jwt_keys": key_set(signer.public())}
    with lent_system(database_url, edge_indexes, **settings) as system:

        def page(scope: str | None = None, org: str | None = None) -> TestClient:
            page = page_of(system, requests)
            if scope is not None:
                page.headers["authorization"] = f"Bearer {signer.sign(claims(scope, org))}"
            return page

        yield page
