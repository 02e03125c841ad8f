"""Logins over a real database and a real authorization server."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest
from fastapi.testclient import TestClient
from skillroute.core.caller import Caller, Scope
from skillroute.core.http.app import create_app
from skillroute.core.outbound.credentials import Credentials, ServerRef
from skillroute.core.postgres.database import Database
from skillroute.identity.credentials import CallerIdentities
from skillroute.identity.encryption.key_file import KeyFileEncryption
from skillroute.identity.links import LoginLinks
from skillroute.identity.logins import Finished, Logins
from skillroute.identity.manage import ManageIdentities
from skillroute.identity.oauth.web import Web
from skillroute.identity.persons import Persons
from skillroute.identity.places import SecretPlaces
from skillroute.identity.renewal import PersonTokens
from skillroute.identity.routes import open_router
from skillroute.identity.vault import Vault

from tests.integration.identity.authorization_server import Sso, running_sso
from tests.integration.rows import Sql, connected

REDIRECT = "https://skillroute.test/oauth/callback"
OPERATOR = Caller(None, frozenset({Scope.ADMIN}), "root")


def person(name: str | None, org: str | None = "acme") -> Caller:
    """Return a caller of an organisation, who searches."""
    return Caller(org, frozenset({Scope.SEARCH}), name, is_person=True)


class Clock:
    """A time that stands still until a test moves it."""

    def __init__(self) -> None:
        self.at = datetime.now(UTC)

    def __call__(self) -> datetime:
        return self.at

    def pass_(self, seconds: float) -> None:
        self.at += timedelta(seconds=seconds)


class Door:
    """One process of Skillroute: what it does with identities, and a browser of its persons."""

    def __init__(self, database: Database, sql: Sql, sso: Sso, key: Path, clock: Clock | None = None) -> None:
        self.database, self.sql, self.sso, self.clock = database, sql, sso, clock or Clock()
        self.vault = Vault(KeyFileEncryption(key))
        self.web = Web(httpx.AsyncClient, plain_origins=frozenset({sso.origin}))
        self.places = SecretPlaces(prefix="skillroute/servers/", allows_local=True)
        self.tokens = PersonTokens(database, self.vault, self.web, now=self.clock)
        persons = Persons()
        self.manage = ManageIdentities(database, self.places, self.vault)
        self.logins = Logins(
            database, self.vault, self.web, self.places, self.tokens, persons, now=self.clock
        )  # fmt: skip
        self.links = LoginLinks(database, self.vault, persons, now=self.clock)
        self.identities = CallerIdentities(database, self.places, self.tokens, persons, self.links)

    def server(self, path: str = "mcp", org: str | None = None, kind: str = "oauth", **settings: object) -> ServerRef:
        """Store a server of the other side with its identity."""
        url = f"{self.sso.origin}/{path}"
        owned, document = "NULL" if org is None else f"'{org}'", json.dumps({"remotes": [{"url": url}]})
        rows = self.sql(
            "INSERT INTO mcp.registry_entities (org_id, kind, path, name, document, content_hash) "
            f"VALUES ({owned}, 'server', '/{path}', 'notes', '{document}', '') RETURNING id"
        )
        owner = OPERATOR if org is None else Caller(org, frozenset({Scope.CATALOG}), "root")
        self.manage.put(rows[0][0], owner, kind, settings)  # type: ignore[arg-type]
        return ServerRef(rows[0][0], org, "notes", url)

    def browse(self, url: str) -> dict[str, str]:
        """Open the page of a login as its person does; return what comes back with the browser."""
        answer = httpx.get(url)
        assert answer.status_code == 302, answer.text
        assert answer.headers["location"].startswith(REDIRECT)
        return {name: values[0] for name, values in parse_qs(urlsplit(answer.headers["location"]).query).items()}

    def finish(self, came: dict[str, str]) -> Finished:
        return self.logins.finish(came["state"], came.get("code"), came.get("iss"), came.get("error"))

    def log_in(self, server: ServerRef, caller: Caller, scopes: tuple[str, ...] = ()) -> Finished:
        self.sso.provider.who = caller.name or ""
        return self.finish(self.browse(self.logins.begin(server.id, caller, REDIRECT, scopes).url))

    def call(self, server: ServerRef, credentials: Credentials) -> httpx.Response:
        """Call the other side with credentials."""
        return httpx.post(server.url, headers=dict(credentials.headers))


@pytest.fixture
def sso() -> Iterator[Sso]:
    with running_sso() as sso:
        yield sso


@pytest.fixture
def key(tmp_path: Path) -> Path:
    return tmp_path / "tokens.key"


@pytest.fixture
def sql(database_url: str) -> Iterator[Sql]:
    with connected(database_url) as sql:
        yield sql


@pytest.fixture
def door(database: Database, sql: Sql, sso: Sso, key: Path) -> Door:
    return Door(database, sql, sso, key)


@pytest.fixture
def browser(door: Door) -> TestClient:
    """A browser at the pages that take no token."""
    return TestClient(create_app([open_router], use_cases={Logins: door.logins, LoginLinks: door.links}))
