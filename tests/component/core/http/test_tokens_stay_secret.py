"""Tokens, good and forged, are never written down: neither where the app checks them nor where the gateway has."""

from __future__ import annotations

import json

from tests.api.bad_tokens import BAD_CLAIMS, FOREIGN, KEYS, OURS
from tests.api.tokens import AUDIENCE, ISSUER, claims
from tests.component.planted import CLOSED, ROOT, Event, answers_of, assert_nothing_shows, run

JWT = {"SKILLROUTE_AUTH": "jwt", "SKILLROUTE_JWT_ISSUER": ISSUER, "SKILLROUTE_JWT_AUDIENCE": AUDIENCE}
SUBJECT = "planted-subject"


def bad_tokens() -> list[str]:
    """Return tokens that nobody is to be let in with, each with a payload and a signature of its own."""
    said = claims("admin", sub=SUBJECT)
    signed, _, signature = OURS.sign(said).rpartition(".")
    return [
        FOREIGN.sign(said, kid=OURS.kid),
        FOREIGN.sign(said),
        OURS.sign(said, algorithm="RS512"),
        f"{signed}.{signature[::-1]}",
        signed,
        *(OURS.sign(make() | {"sub": SUBJECT}) for kind, make in BAD_CLAIMS.items() if "subject" not in kind),
    ]


def with_token(token: str) -> Event:
    """Return a request that no gateway has checked."""
    event: Event = json.loads((ROOT / "events" / "search.json").read_text("utf-8"))
    event["requestContext"].pop("authorizer", None)
    event["headers"]["authorization"] = f"Bearer {token}"
    return event


def parts_of(tokens: list[str]) -> list[str]:
    """Return the payloads and signatures: of a token, what may not be seen."""
    return [part for token in tokens for part in token.split(".")[1:]]


def test_where_the_app_checks_them() -> None:
    bad = bad_tokens()
    good = OURS.sign(claims("search", "acme"))
    written = run(
        "search",
        [with_token(token) for token in [*bad, good]],
        **JWT,
        SKILLROUTE_JWT_KEYS=KEYS,
        SKILLROUTE_DATABASE_URL=CLOSED,
        AWS_SAM_LOCAL="true",
    )
    # The last one is let in, to a database that is away.
    assert [answer["statusCode"] for answer in answers_of(written)] == [401] * len(bad) + [503]
    assert_nothing_shows(written, SUBJECT, *parts_of([*bad, good]))


def test_where_only_a_gateway_could_vouch_for_them() -> None:
    tokens = [*bad_tokens(), OURS.sign(claims("search", sub=SUBJECT))]
    written = run("search", [with_token(token) for token in tokens], **JWT, SKILLROUTE_DATABASE_URL=CLOSED)
    assert [answer["statusCode"] for answer in answers_of(written)] == [401] * len(tokens)
    assert_nothing_shows(written, SUBJECT, *parts_of(tokens))


def test_keys_that_are_set_where_they_may_not_be_are_not_repeated() -> None:
    private = json.dumps({"keys": [OURS.public(d="planted-private-exponent")]})
    for environment in ({}, {"AWS_SAM_LOCAL": "true"}):
        written = run(
            "search",
            [with_token(OURS.sign(claims("search")))],
            **JWT,
            **environment,
            SKILLROUTE_JWT_KEYS=private,
            SKILLROUTE_DATABASE_URL=CLOSED,
        )
        assert "SKILLROUTE_JWT_KEYS" in written
        assert answers_of(written) == []
        assert_nothing_shows(written, "planted-private-exponent")
