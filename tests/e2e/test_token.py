"""`skillroute token`, and `skillroute up` that lets nobody in without one."""

from __future__ import annotations

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import jwt
import pytest

from tests.e2e.conftest import _fresh_home
from tests.e2e.processes import HASHING, Processes, Up, answered, cli, eventually

_TOOL = {"server": "garden", "name": "water_plants", "description": "Open the valves of the irrigation."}
_SEARCH = {"query": "open the valves", "strategy": "direct"}


def token(home: Path, *args: str, **settings: str) -> str:
    """Return what `skillroute token` prints; it must print nothing else."""
    made = cli(home, "token", *args, **settings)
    assert (made.returncode, made.stderr) == (0, "")
    return made.stdout.removesuffix("\n")


def bearer(made: str) -> dict[str, str]:
    return {"authorization": f"Bearer {made}"}


@pytest.fixture(scope="module")
def locked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Up]:
    """`skillroute up` in mode jwt, with a scope prefix that the commands are not told of."""
    with _fresh_home() as home:
        started = Processes(tmp_path_factory.mktemp("locked"))
        try:
            yield started.up(
                home, "--no-examples", **HASHING, SKILLROUTE_AUTH="jwt", SKILLROUTE_JWT_SCOPE_PREFIX="skillroute/"
            ).ready()
        finally:
            started.close()


@pytest.mark.parametrize("path", ["/health", "/ready", "/api/v1/tools", "/api/v1/skills", "/api/v1/verify"])
def test_without_a_token_nothing_is_answered(locked: Up, path: str) -> None:
    refused = locked.http.get(path)
    assert (refused.status_code, refused.headers["www-authenticate"]) == (401, "Bearer")


def test_a_token_searches_and_does_no_more(locked: Up) -> None:
    home = locked.home.path
    searches, writes = bearer(token(home)), bearer(token(home, "--scope", "catalog"))

    assert locked.http.put("/api/v1/tools", json={"items": [_TOOL]}, headers=searches).status_code == 403
    answered(locked.http.put("/api/v1/tools", json={"items": [_TOOL]}, headers=writes))
    found = answered(locked.http.post("/api/v1/search", json=_SEARCH, headers=searches))
    assert [tool["name"] for tool in found["tools"]] == ["water_plants"]
    assert locked.http.post("/api/v1/search", json=_SEARCH, headers=writes).status_code == 403


def test_scopes_add_up_and_an_organisation_keeps_its_items(locked: Up) -> None:
    home = locked.home.path
    of_acme = bearer(token(home, "--scope", "catalog", "--scope", "search", "--org", "acme"))
    of_globex = bearer(token(home, "--scope", "admin", "--org", "globex"))
    item = {**_TOOL, "name": "of_acme"}

    [written] = answered(locked.http.put("/api/v1/tools", json={"items": [item]}, headers=of_acme))["results"]

    assert answered(locked.http.get(f"/api/v1/tools/{written['id']}", headers=of_acme))["name"] == "of_acme"
    assert locked.http.get(f"/api/v1/tools/{written['id']}", headers=of_globex).status_code == 404


def test_below_the_console_no_address_is_reached_and_nothing_of_all_is_shown_to_who_has_a_token(locked: Up) -> None:
    page = bearer(token(locked.home.path, "--scope", "admin", "--org", "acme")) | {"x-skillroute-console": "page"}
    source = {"address": "http://127.0.0.1:9/mcp", "server": "x"}  # nothing listens there: that would be the error
    answer = locked.http.post("/console/do/servers/compare", json={"source": source}, headers=page)
    assert json.loads(answer.text)["problem"]["code"] == "address_not_reached"
    assert answered(locked.http.post("/console/do/health/queues", json={}, headers=page)) is None
    assert answered(locked.http.post("/console/do/overview/series", json={"range_": "1h"}, headers=page))["why"]


def test_what_has_expired_or_is_of_another_home_is_refused(locked: Up, home: Path) -> None:
    for made in (token(locked.home.path, "--expires-in", "-60"), token(home)):
        refused = locked.http.get("/api/v1/tools", headers=bearer(made))
        assert (refused.status_code, refused.headers["www-authenticate"]) == (401, 'Bearer error="invalid_token"')
        assert made.rpartition(".")[2] not in refused.text


def test_the_greeting_shows_a_search_with_a_token(locked: Up) -> None:
    eventually(lambda: "Ctrl-C stops it." in locked.output, "it greets")
    assert '-H "authorization: Bearer $(' in locked.output
    assert "skillroute token)" in locked.output
    assert "PRIVATE KEY" not in locked.output
    assert "eyJ" not in locked.output  # how every token begins


def test_commands_here_need_no_token(locked: Up, tmp_path: Path) -> None:
    home = locked.home.path
    file = tmp_path / "tools.jsonl"
    file.write_text(json.dumps({**_TOOL, "name": "imported"}) + "\n", encoding="utf-8")

    imported = cli(home, "import", str(file), **HASHING)
    searched = cli(home, "search", "open the valves", "--strategy", "direct", "--json", **HASHING)
    status = cli(home, "status", "--url", locked.url + "/", "--json", SKILLROUTE_AUTH="jwt", **HASHING)
    verified = cli(home, "verify", "--json", **HASHING)

    assert (imported.returncode, imported.stderr.count("401")) == (0, 0)
    assert "imported" in {tool["name"] for tool in json.loads(searched.stdout)["tools"]}
    assert {each["queue"] for each in json.loads(status.stdout)["queues"]} == {"classify", "aggregate", "learn"}
    assert json.loads(verified.stdout)["ok"] is True


def test_status_shows_numbers_to_the_operator_of_the_deployment_alone(locked: Up, tmp_path: Path) -> None:
    """Decision 30."""
    of_acme = token(locked.home.path, "--scope", "admin", "--org", "acme")

    # Called from a home of its own, as from another machine.
    of_organisation = cli(tmp_path, "status", "--url", locked.url, "--token", of_acme, **HASHING)
    of_operator = cli(locked.home.path, "status", "--url", locked.url, **HASHING)

    assert (of_organisation.returncode, of_operator.returncode) == (0, 0)
    assert "index items" in of_operator.stdout
    shown = [line.split("  ")[0] for line in of_organisation.stdout.splitlines()]
    assert shown == ["status", "version", "search mode", "database", "index", "embedding model"]


def test_a_token_that_is_given_is_the_one_that_is_sent(locked: Up) -> None:
    weak = token(locked.home.path, "--scope", "catalog")

    for refused in (
        cli(locked.home.path, "search", "valves", "--token", weak),
        cli(locked.home.path, "search", "valves", SKILLROUTE_TOKEN=weak),
    ):
        assert (refused.returncode, refused.stderr) == (1, "skillroute: 403: the token lacks the scope 'search'\n")


def test_a_stranger_is_told_how_to_be_let_in(locked: Up, home: Path) -> None:
    # Another home: this Skillroute is not its own, and gets no token of its key.
    refused = cli(home, "search", "valves", "--url", locked.url)

    assert refused.returncode == 1
    assert refused.stderr == (
        "skillroute: 401: the request carries no bearer token: give a token with --token or SKILLROUTE_TOKEN\n"
    )
    assert not (home / "token-key.pem").exists()


def test_the_document_is_there_without_a_token_and_asks_for_one(locked: Up) -> None:
    document = answered(httpx.get(f"{locked.url}/openapi.json", trust_env=False))
    assert document["components"]["securitySchemes"]["token"]["scheme"] == "bearer"


class TestTheKey:
    def test_is_closed_to_others_and_stays_the_same(self, home: Path) -> None:
        first, again = token(home, "--jwks"), token(home, "--jwks")

        assert first == again
        assert (home / "token-key.pem").stat().st_mode & 0o777 == 0o600
        assert [path.name for path in home.iterdir()] == ["token-key.pem"]

    def test_is_one_for_all_that_make_it_at_once(self, home: Path) -> None:
        with ThreadPoolExecutor(4) as together:
            made = set(together.map(lambda _: token(home, "--jwks"), range(4)))

        assert len(made) == 1
        assert [path.name for path in home.iterdir()] == ["token-key.pem"]

    def test_verifies_what_it_signed_and_shows_its_public_half_alone(self, home: Path) -> None:
        made = token(home, "--scope", "search", "--scope", "skills", "--subject", "ann", "--expires-in", "120")
        [public] = json.loads(token(home, "--jwks"))["keys"]

        claims = jwt.decode(
            made, jwt.PyJWK(public).key, algorithms=["RS256"], audience="skillroute", issuer="urn:skillroute:local"
        )

        assert public.keys() == {"kty", "n", "e", "kid", "use", "alg"}
        assert jwt.get_unverified_header(made) == {"alg": "RS256", "typ": "JWT", "kid": public["kid"]}
        assert (claims["scope"], claims["sub"], claims["exp"] - claims["iat"]) == ("search skills", "ann", 120)
        assert "org_id" not in claims

    def test_says_what_the_environment_asks_for(self, home: Path) -> None:
        made = token(
            home,
            "--org",
            "acme",
            SKILLROUTE_JWT_ISSUER="https://issuer.test/",
            SKILLROUTE_JWT_AUDIENCE="first, second",
            SKILLROUTE_JWT_ORG_CLAIM="tenant",
            SKILLROUTE_JWT_SCOPE_PREFIX="api/",
        )

        claims = jwt.decode(made, options={"verify_signature": False})

        assert (claims["iss"], claims["aud"], claims["tenant"]) == ("https://issuer.test/", "first", "acme")
        assert claims["scope"] == "api/search"

    @pytest.mark.parametrize(
        ("mode", "says"),
        [(0o600, "holds no private key: delete it for a new one"), (0o644, "is open to others")],
    )
    def test_that_is_none_is_one_line(self, home: Path, mode: int, says: str) -> None:
        home.mkdir()
        key = home / "token-key.pem"
        key.write_text("nonsense", encoding="utf-8")
        key.chmod(mode)

        refused = cli(home, "token")

        assert (refused.returncode, refused.stdout) == (1, "")
        assert refused.stderr.startswith(f"skillroute: {key} {says}")
        assert refused.stderr.count("\n") == 1
