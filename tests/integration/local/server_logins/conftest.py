"""A server of MCP that wants logins, with the authorization server it asks, and a browser whose person allows them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from mcp.server import MCPServer
from mcp.server.auth.middleware.auth_context import get_access_token
from mcp.server.auth.settings import AuthSettings, ClientRegistrationOptions, RevocationOptions
from pydantic import AnyHttpUrl
from skillroute_local.mcp_servers.config import read_servers
from skillroute_local.mcp_servers.model import HttpServer
from skillroute_local.server_logins.login import BrowserLogin
from skillroute_local.server_logins.model import ServerLogin
from skillroute_local.server_logins.store import LoginStore
from skillroute_local.server_logins.tokens import make_web
from starlette.applications import Starlette

from tests.integration.identity.authorization_server import Provider, Sso, running_sso
from tests.integration.local.connect.conftest import agent, anyio_backend, model

__all__ = ["agent", "anyio_backend", "model"]


class Notes:
    """A server of notes that somebody has to be logged in at.

    Attributes
    ----------
    calls : list of str
        The persons whose calls it carried out.
    """

    def __init__(self, folder: Path, path: str = "mcp") -> None:
        self._path = path
        self.calls: list[str] = []
        self.config = folder / "mcp.json"
        self.sso: Sso

    def app(self, provider: Provider, origin: str) -> Starlette:
        options = ClientRegistrationOptions(enabled=True, valid_scopes=["read"], default_scopes=["read"])
        settings = AuthSettings(
            issuer_url=AnyHttpUrl(origin), resource_server_url=AnyHttpUrl(f"{origin}/{self._path}"),
            required_scopes=["read"],
            client_registration_options=options, revocation_options=RevocationOptions(enabled=True),
            validate_token_resource=True,
        )  # fmt: skip
        server = MCPServer("notes", auth=settings, auth_server_provider=provider)

        @server.tool()
        def read_note() -> str:
            """Read the note that a person has written."""
            token = get_access_token()
            self.calls.append(token.subject if token is not None and token.subject else "")
            return f"the note of {self.calls[-1]}"

        return server.sse_app() if self._path == "sse" else server.streamable_http_app()

    def begin(self, sso: Sso) -> None:
        self.sso = sso
        entry = {"url": f"{sso.origin}/{self._path}", "type": "sse" if self._path == "sse" else "http"}
        self.config.write_text(json.dumps({"mcpServers": {"notes": entry}}))

    @property
    def server(self) -> HttpServer:
        [server] = read_servers(self.config).servers
        assert isinstance(server, HttpServer)
        return server

    @property
    def command(self) -> str:
        return f"skillroute login --config {self.config} notes"


def browse(page: str) -> httpx.Response:
    """Open the page of a login as its person does, who allows it."""
    return httpx.get(page, follow_redirects=True)


@pytest.fixture
def notes(tmp_path: Path) -> Iterator[Notes]:
    notes = Notes(tmp_path)
    with running_sso(notes.app) as sso:
        notes.begin(sso)
        yield notes


@pytest.fixture
def old_notes(tmp_path: Path) -> Iterator[Notes]:
    """The same by the older SSE."""
    notes = Notes(tmp_path, "sse")
    with running_sso(notes.app) as sso:
        notes.begin(sso)
        yield notes


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> LoginStore:
    monkeypatch.setenv("SKILLROUTE_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("PYTHON_KEYRING_BACKEND", "keyring.backends.null.Keyring")  # not that of who runs the tests
    return LoginStore()


@pytest.fixture
def logged_in(notes: Notes, store: LoginStore) -> ServerLogin:
    return BrowserLogin(store, make_web(), browse).log_in(notes.server)
