"""Two organisations' mail, much of it not everybody's: who asks, what is there, and what must stay unknown."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpx
import jwt

from tests.api.tokens import AUDIENCE, ISSUER, Signer, claims, key_set
from tests.e2e.processes import HASHING, Bare, answered
from tests.e2e.work import put_mail

_SIGNER = Signer("of the mail world")

TOKENS = {
    **HASHING,
    "SKILLROUTE_AUTH": "jwt",
    "SKILLROUTE_JWT_ISSUER": ISSUER,
    "SKILLROUTE_JWT_AUDIENCE": AUDIENCE,
    "SKILLROUTE_JWT_KEYS": key_set(_SIGNER.public()),
    "SKILLROUTE_JWT_REQUIRE_ORG": "false",
    # No comparison is left out because a busy machine was late.
    "SKILLROUTE_SEARCH_SHADOW_TIMEOUT_S": "5",
}
"""Settings of a server that lets in who has a token of this world."""

OPEN, SECRET = "orchard", "vault"
"""The project that Ann belongs to, and one that she does not."""

ROUNDS = 8
"""How many messages Ann may see."""

HIDDEN = 3
"""How many of her organisation's she may not, for each that she may."""


@contextmanager
def client_of(
    server: Bare, *, org: str | None = "acme", agent: str | None = None, scope: str = "search"
) -> Iterator[httpx.Client]:
    """Lend a client whose token speaks for an agent of an organisation."""
    token = _SIGNER.sign(claims(scope, org, agent=agent))
    with httpx.Client(
        base_url=server.url, timeout=30.0, trust_env=False, headers={"authorization": f"Bearer {token}"}
    ) as http:
        yield http


def fill(server: Bare) -> None:
    """Write everything of everybody, what may be seen between what may not, always under the same ids."""
    with (
        client_of(server, org=None, scope="admin") as anybody,
        client_of(server, scope="admin") as acme,
        client_of(server, org="globex", scope="admin") as globex,
    ):
        put_mail(anybody, "project", _project("commons"), _project("depths"))
        put_mail(globex, "project", _project(OPEN), _project(SECRET), _project("mine"))
        put_mail(acme, "project", _project(SECRET), _project(OPEN), _project("cellar"))
        put_mail(globex, "agent", _agent("Ann", SECRET), _agent("Otto", OPEN))
        put_mail(acme, "agent", _agent("Ben", SECRET, "cellar"), _agent("Ann", OPEN), _agent("Cat", OPEN, SECRET))
        put_mail(acme, "agent", _agent("Eve", "cellar"), _agent("Gil", OPEN, "commons", "depths"))
        put_mail(anybody, "agent", _agent("Mona", "depths"))
        put_mail(
            acme, "product", _product("hoard", SECRET), _product("mixed", OPEN, SECRET), _product("cask", "cellar")
        )
        put_mail(globex, "product", _product("mixed", OPEN, SECRET))
        for number in range(ROUNDS):
            seen = _message(f"m{number}", OPEN, "Cat", "Ann", number)
            secret = [_hidden(f"s{number}-{at}", HIDDEN * number + at) for at in range(HIDDEN)]
            others = _message(f"g{number}", OPEN, "Otto", "Ann", number), _hidden(f"h{number}", number)
            put_mail(globex, "message", *others)
            put_mail(acme, "message", *secret, seen)
            put_mail(anybody, "message", _message(f"c{number}", "depths", "Mona", "Ann", number))


def forget(server: Bare) -> None:
    """Delete everything that Ann of acme must not know of, and the other organisation's and all global mail."""
    with client_of(server, scope="admin") as acme:
        _delete(acme, "message", lambda each: each["project"] != OPEN)
        _delete(acme, "product", lambda each: each["key"] != "mixed")
        _delete(acme, "agent", lambda each: OPEN not in each["projects"])
        _delete(acme, "project", lambda each: each["key"] != OPEN)
    for org in ("globex", None):
        with client_of(server, org=org, scope="admin") as others:
            for kind in ("message", "product", "agent", "project"):
                _delete(others, kind, lambda _: True)


def ids(http: httpx.Client, kind: str) -> dict[str, int]:
    """Return the ids of all that a caller sees, by key or name."""
    found = answered(http.get(f"/api/v1/mail/{kind}s", params={"limit": 1000}))
    return {each.get("key") or each["name"]: each["id"] for each in found}


def _delete(http: httpx.Client, kind: str, is_secret: Any) -> None:
    own = answered(http.get(f"/api/v1/mail/{kind}s", params={"limit": 1000}))
    with_org = [each for each in own if each["org_id"] == _org_of(http)]
    for each in with_org:
        if is_secret(each):
            assert http.delete(f"/api/v1/mail/{kind}s/{each['id']}").status_code == 204


def _org_of(http: httpx.Client) -> str | None:
    said = jwt.decode(http.headers["authorization"].split()[1], options={"verify_signature": False})
    org: str | None = said.get("org_id")
    return org


def _project(key: str) -> dict[str, Any]:
    return {"key": key, "name": f"Project {key}", "description": f"Everything about the {key}, and its ledger."}


def _agent(name: str, *projects: str) -> dict[str, Any]:
    description = "Keeps the ledger and counts the apples."
    return {"name": name, "description": description, "contact": f"mailto:{name}@x.test", "projects": list(projects)}


def _product(key: str, *projects: str) -> dict[str, Any]:
    return {"key": key, "name": key.title(), "projects": list(projects)}


def _message(key: str, project: str, sender: str, to: str, number: int) -> dict[str, Any]:
    return {
        "key": key,
        "project": project,
        "from": sender,
        "to": [to],
        "bcc": ["Gil"] if number % 3 == 0 else [],
        "subject": f"Apples {number}: harvest of row {number % 5}",
        "body": "The ledger of apples. " * (number % 4) + f"Row {number} was picked, the baskets are in the barn.",
        "thread_id": f"T-{number % 3}",
        "importance": ("low", "normal", "high", "urgent")[number % 4],
        "ack_required": number % 2 == 0,
        "created_ts": 1_700_000_000_000_000 + 7_000_000 * number,
    }


def _hidden(key: str, number: int) -> dict[str, Any]:
    """Return what fits every query better than what may be seen, and says what nothing else says."""
    message = _message(key, SECRET, "Ben", "Eve", number)
    return message | {
        "cc": ["Cat"],
        "subject": f"Quicksilver ledger of apples, harvest {number}",
        "body": "Ledger, apples, harvest, baskets, barn, row. Quicksilver. " * (1 + number % 3),
        "thread_id": "T-secret" if number % 2 else "T-1",
        "created_ts": 1_700_000_000_000_000 + 3_000_000 * number,
    }
