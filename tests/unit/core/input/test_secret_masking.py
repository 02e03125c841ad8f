"""Secrets go, whatever they are written as; what only speaks of them stays."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st
from skillroute.core.input.secret_masking import _FORMS, _ROUNDS, MASK, _masked, without_secrets
from skillroute.mail.text import SearchText, impacts, search_vector

OPAQUE = "Zq7" + "aB3x" * 10  # an invented key, long enough for every issuer

# A text, and the parts of it that nobody may find.
SECRETS: list[tuple[str, *tuple[str, ...]]] = [
    # name=value, in the ways of files and languages
    ("password=hunter2", "hunter2"),
    ("password = hunter2", "hunter2"),
    ("password==hunter2", "hunter2"),
    ('password := "hunter2"', "hunter2"),
    ("'password' => 'hunter2'", "hunter2"),
    ('{"apiKey": "hunter2", "n": 1}', "hunter2"),
    ('{"api_key":"hunter2"}', "hunter2"),
    ('{\\"password\\":\\"hunter2\\"}', "hunter2"),
    ('{"credentials": {"user": "bob", "key": "hunter2"}}', "hunter2"),
    ('{"credentials": {"db": {"user": "bob", "key": "hunter2"}, "x": {"key": "hunter3"}}}', "hunter2", "hunter3"),
    ('"tokens": 1, "secrets": ["hunter2", "hunter3"]', "hunter2", "hunter3"),
    ("password: hunter2", "hunter2"),
    ("password: 'hunter two'", "two"),
    ("password: `hunter two`", "two"),
    ("password: |\n  hunter2\n  hunter3\nname: x", "hunter2", "hunter3"),
    ("password: >-\n    hunter2", "hunter2"),
    ("password:\n  hunter2", "hunter2"),
    ("password：hunter2", "hunter2"),
    ("**Password**: hunter2", "hunter2"),
    ("**password:** hunter2", "hunter2"),
    ("__password:__ hunter2", "hunter2"),
    ("- **API key:** `hunter2`", "hunter2"),
    ("*token:* hunter2", "hunter2"),
    ("***secret:*** hunter2", "hunter2"),
    ("**Passwort:** geheim", "geheim"),
    ("**passphrase:** correct horse", "correct", "horse"),
    ("**password:**hunter2", "hunter2"),
    ("<b>password:</b> hunter2", "hunter2"),
    ("<b>password</b>: hunter2", "hunter2"),
    ("<p><b><i>password:</i></b> hunter2</p>", "hunter2"),
    ("pw=hunter2", "hunter2"),
    ("DB_PW: hunter2", "hunter2"),
    ("auth_key=hunter2", "hunter2"),
    ("license_key=hunter2", "hunter2"),
    ("Licence key: hunter2", "hunter2"),
    ("pass phrase: correct horse", "correct", "horse"),
    ("tokens: hunter2, hunter3", "hunter2", "hunter3"),
    ('"tokens": ["hunter", "hunted"]', "hunter", "hunted"),
    ("password (prod): hunter2", "hunter2"),
    ("**Password (staging DB):** hunter2", "hunter2"),
    ("password\u200b: hunter2", "hunter2"),
    ("password: ... hunter2", "hunter2"),
    ("password → hunter2", "hunter2"),
    ("password -> hunter2", "hunter2"),
    ("`password`: hunter2", "hunter2"),
    ("export DB_PASSWORD=hunter2", "hunter2"),
    ("PGPASSWORD=hunter2 psql", "hunter2"),
    ("MYSQL_PWD=hunter2", "hunter2"),
    ("SECRET_KEY_BASE=hunter2", "hunter2"),
    ("PASSWORD_HASH=hunter2", "hunter2"),
    ("password2: hunter2", "hunter2"),
    ("spring.datasource.password=hunter2", "hunter2"),
    ("//registry.example/:_authToken=hunter2", "hunter2"),
    ("const clientSecret = 'hunter2';", "hunter2"),
    ('dbPassword: "hunter2"', "hunter2"),
    ("secretKeyBase = hunter2", "hunter2"),
    ("API key: hunter2", "hunter2"),
    ("api-key:hunter2", "hunter2"),
    ("X-Api-Key: hunter2", "hunter2"),
    ("aws_secret_access_key = wJalrXUtn/K7MDENG+bPx", "wJalrXUtn", "K7MDENG", "bPx"),
    ("DefaultEndpointsProtocol=https;AccountKey=hunter2==;EndpointSuffix=x", "hunter2"),
    ("Server=db;Uid=bob;Pwd=hunter2;Database=x", "hunter2"),
    ("token: hunter2, then more", "hunter2"),
    ("password=hun,ter2;x", "hun", "ter2"),
    ('password=a"hunter2"b', "hunter2"),
    ('password="hun\\"ter2"', "hun", "ter2"),
    ('password="hunter2 hunter3', "hunter2", "hunter3"),
    ("passwords: hunter2, hunter3", "hunter2", "hunter3"),
    ("passphrase: correct horse battery", "correct", "horse", "battery"),
    ("<password>hunter2 hunter3</password>", "hunter2", "hunter3"),
    ('<db:clientSecret type="x">hunter2</db:clientSecret>', "hunter2"),
    # said
    ("the password is hunter2", "hunter2"),
    ('the password is "hunter"', "hunter"),
    ("the password for the staging box is hunter2", "hunter2"),
    ("API key for billing: hunter2", "hunter2"),
    ("| `password` | hunter2 |", "hunter2"),
    ("das Passwort lautet hunter2", "hunter2"),
    ("PIN: 4711", "4711"),
    ("PIN: 4711--password hunter2", "4711", "hunter2"),
    ("Passwort: geheim", "geheim"),
    ("Kennwort = geheim", "geheim"),
    ("Zugangsdaten: bob / geheim", "geheim"),
    ("contraseña: secreto", "secreto"),
    ("contrasen\u0303a: secreto", "secreto"),
    ("contrasena=secreto", "secreto"),
    ("mot de passe : bonjour", "bonjour"),
    ("пароль: qwerty", "qwerty"),
    ("密码:qwerty", "qwerty"),
    # command lines and URLs
    ("mysql --password hunter2 -u root", "hunter2"),
    ("tool --api-key=hunter2", "hunter2"),
    ("tool --db.password 'hunter two'", "two"),
    ("curl --token hunter2 https://x", "hunter2"),
    ("curl -u bob:hunter2 https://x", "hunter2"),
    ("machine x login bob password hunter2", "hunter2"),
    ("postgres://bob:hunter2@db:5432/x", "hunter2"),
    ("postgres://bob:hun@ter2@db", "hun", "ter2"),
    ("postgres://bob:hun/ter2@db", "hun", "ter2"),
    ("postgres://bob:/hun/ter2@10.0.0.1:5432/x", "hun", "ter2"),
    ("redis://:hunter2@cache", "hunter2"),
    (f"https://x/v1?key={OPAQUE}&page=1", OPAQUE),
    (f"https://x/v1?page=1&key={OPAQUE.lower()}", OPAQUE.lower()),
    ("https://x/?access_token=hunter2&page=1", "hunter2"),
    ("https://x/blob?sv=1&sig=hunter2%3D", "hunter2"),
    # headers
    (f"Authorization: Bearer {OPAQUE}", OPAQUE),
    ("Authorization: Bearer abcdefghijklmnop", "abcdefghijklmnop"),
    ("Authorization: Token hunter2", "hunter2"),
    ("authorization=hunter2hunter2", "hunter2"),
    ('-H "Authorization: Basic Ym9iOmh1bnRlcjI="', "Ym9iOmh1bnRlcjI"),
    (f"we sent bearer {OPAQUE} along", OPAQUE),
    ("Basic Ym9iOmh1bnRlcjI=", "Ym9iOmh1bnRlcjI"),
    ("Cookie: session=hunter2; theme=hunter3", "hunter2", "hunter3"),
    # issued keys
    *(
        (f"it was {key}, sorry", key)
        for key in [
            "AKIAIOSFODNN7EXAMPLE",
            "ASIAIOSFODNN7EXAMPLE",
            f"ghp_{OPAQUE}",
            f"gho_{OPAQUE}",
            f"github_pat_11A_{OPAQUE}",
            f"glpat-{OPAQUE}",
            f"xoxb-123456789-{OPAQUE}",
            f"xapp-1-{OPAQUE}",
            f"sk_live_{OPAQUE}",
            f"rk_test_{OPAQUE}",
            f"whsec_{OPAQUE}",
            f"sk-proj-{OPAQUE}",
            f"AIza{OPAQUE}",
            f"ya29.{OPAQUE}",
            f"npm_{OPAQUE}",
            f"pypi-{OPAQUE}",
            f"hf_{OPAQUE}",
            f"gsk_{OPAQUE}",
            f"dckr_pat_{OPAQUE}",
            f"xai-{OPAQUE}",
            f"SG.{OPAQUE}.{OPAQUE}",
            "dop_v1_" + "0af3" * 16,
            "shpat_" + "0af3" * 8,
            "AC" + "0af3" * 8,
            "SK" + "0af3" * 8,
            "key-" + "0af3" * 8,
            "NRAK-" + "ABC123" * 5,
            f"ATATT3{OPAQUE}",
            f"hvs.{OPAQUE}",
            f"tskey-auth-{OPAQUE}",
            f"sq0atp-{OPAQUE}",
            "AGE-SECRET-KEY-1" + "QQ7" * 15,
            "123456789:" + "Aa0-_" * 7,
            "abc8Q~" + "Aa0-_" * 7,
            f"eyJhbGciOiJI.{OPAQUE}.{OPAQUE}",
            f"jwt_eyJhbGciOiJI.{OPAQUE}.{OPAQUE}",
            f"x-eyJhbGciOiJI.{OPAQUE}.{OPAQUE}",
        ]
    ),
    ("https://hooks.slack.com/services/T000/B000/hunter2", "T000", "hunter2"),
    ("https://discord.com/api/webhooks/123/hunter2", "123", "hunter2"),
    # private keys, whole and cut off
    *(
        (f"-----BEGIN {kind}PRIVATE KEY-----\nMIIEow\nIBAAKC\n-----END {kind}PRIVATE KEY-----\n", "MIIEow", "IBAAKC")
        for kind in ["", "RSA ", "EC ", "OPENSSH ", "ENCRYPTED "]
    ),
    ("-----BEGIN PGP PRIVATE KEY BLOCK-----\n\nlQOYBF\n-----END PGP PRIVATE KEY BLOCK-----", "lQOYBF"),
    ("-----BEGIN PRIVATE KEY-----\nMIIEow\nIBAAKC", "MIIEow", "IBAAKC"),
    ("MIIEowIBAAKCAQEA0123\nMIIEowIBAAKCAQEA4567\nMII=\n-----END RSA PRIVATE KEY-----", "MIIEow", "MII="),
    ("> -----BEGIN PRIVATE KEY-----\n> MIIEow\n> IBAAKC\n> -----END PRIVATE KEY-----\n", "MIIEow", "IBAAKC"),
    ("> MIIEowIBAAKCAQEA0123\n> MIIEowIBAAKCAQEA4567\n> MII=\n> -----END RSA PRIVATE KEY-----", "MIIEow", "MII="),
    ('{"private_key": "-----BEGIN PRIVATE KEY-----\\nMIIEow\\n-----END PRIVATE KEY-----\\n"}', "MIIEow"),
]

KEPT = [
    "9fceb02d0ae598e95dc970b74767f19372d61af8",
    "commit 4fe1c2a",
    "POL-358",
    "6f1a2e4d-90aa-4b0a-9d0b-0c6f1a2e4d90",
    "sha256:2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae",
    "token bucket",
    "token bucket: 100 a second",
    "a token, a secret and a password",
    "password reset",
    "Password reset: please test",
    "password policy: 12 characters",
    "secret santa",
    "the token is expired",
    "is the password expired?",
    "the API key is in the vault",
    "tokens: 512",
    "tokens: 12.5k a day",
    "tokens: input and output",
    '"tokens": [101, 2023, 102]',
    "password (old) reset",
    "def get_token(self) -> str",
    "token->value",
    "key: value",
    "**key:** value",
    "auth: done, license: MIT",
    "pw is short for password",
    "the key → the lock",
    "| user | password | host |",
    "a token for the API: we need one",
    "jwt_eyJhbGciOiJI is cut off",
    "https://x.example/?key=POL-358&page=2",
    "https://x.example/?key=6f1a2e4d-90aa-4b0a-9d0b-0c6f1a2e4d90",
    "https://x.example/?key=the-long-name-of-some-page",
    "max_tokens=512",
    "token_count: 20",
    "tokenCount = 20",
    "password_min_length: 12",
    "token_url=https://x.example/oauth",
    "secretName: billing",
    "tokenizer: bert",
    "secretary: Jane",
    "compass: north",
    "passport: yes",
    "bypass=1",
    "pin: version 1.2",
    "src/auth/token.py",
    "docs/secrets/README.md",
    "C:\\Users\\password\\notes.txt",
    "public_key: abc",
    "deadline: Friday",
    "status: blocked, owner: Jane",
    "10:30",
    "username=bob",
    "author: bob",
    "auth: oauth2",
    "sk-learn, risk-averse, task-force-of-four",
    "Bearer of bad news",
    "bearer token authentication",
    "basic understanding of things",
    "basic authentication",
    "Basic JavaScript tutorial",
    "Cookie: chocolate chip is best",
    "Authorization: we need to talk",
    "see https://example.com:8080/path:80/x?page=2",
    "see http://localhost:8080/x/@y and http://db:5432/x?mail=bob@example.com",
    "https://bob@example.com/x",
    "bob@example.com, jane@example.com",
    "-----BEGIN PUBLIC KEY-----\nMIIBIj\n-----END PUBLIC KEY-----",
]


@pytest.mark.parametrize(("text", "parts"), [(text, parts) for text, *parts in SECRETS], ids=[s[0] for s in SECRETS])
def test_a_secret_goes(text: str, parts: list[str]) -> None:
    masked = without_secrets(text)
    assert MASK in masked
    assert [part for part in parts if part in masked] == []


@pytest.mark.parametrize("text", KEPT)
def test_what_only_looks_like_one_stays(text: str) -> None:
    assert without_secrets(text) == text
    assert without_secrets(f"Hello, {text} and so on.") == f"Hello, {text} and so on."


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        ("set DB_PASSWORD=hunter2 and restart", "set DB_PASSWORD= …  and restart"),
        ("postgres://bob:hunter2@db:5432/x", "postgres:// … @db:5432/x"),
        ("Server=db;Pwd=hunter2;Database=x", "Server=db;Pwd= … ;Database=x"),
        ('{"password": "hunter2", "user": "bob"}', '{"password":  … , "user": "bob"}'),
        ("<password>hunter2</password><user>bob</user>", "<password> … </password><user>bob</user>"),
        ("https://x/?access_token=abc is dead", "https://x/?access_token= …  is dead"),
        ("Authorization: Bearer hunter2\nHost: x", "Authorization:  … \nHost: x"),
        ("A_TOKEN=... DB=x", "A_TOKEN= …  DB=x"),
        # In doubt a word is lost.
        ("the secret: be kind", "the secret:  …  kind"),
    ],
)
def test_the_name_stays_and_so_does_what_is_beside_it(text: str, masked: str) -> None:
    assert without_secrets(text) == masked


def test_nothing_that_is_searched_or_embedded_holds_a_secret() -> None:
    for text, *parts in SECRETS:
        said = SearchText.of(text, f"In short: {text}")
        terms = "\n".join([said.embedded, *impacts(said), search_vector(said)])
        assert [part for part in parts if part.lower() in terms.lower()] == [], text


PIECES = (
    [text for text, *_ in SECRETS] + KEPT + [" ", "\n", "=", ":", '"', "…", MASK, "password", "token", "Bearer ", "--"]
)


@given(st.lists(st.sampled_from(PIECES) | st.text(max_size=5), max_size=8).map("".join))
def test_masking_twice_changes_nothing(text: str) -> None:
    masked = without_secrets(text)
    assert without_secrets(masked) == masked


@given(
    st.lists(st.sampled_from(PIECES) | st.text(max_size=5), max_size=8).map("".join),
    st.sampled_from([str, str.upper, str.title, lambda text: text.replace("i", "\u0131").replace("s", "\u017f")]),
)
def test_no_form_is_passed_over_that_would_be_found(text: str, spelt: Callable[[str], str]) -> None:
    # GIVEN a text in which names are spelt in any case
    text = spelt(text)
    # WHEN it is masked, THEN all is gone that is gone where every form is looked for, whatever its hints say
    assert without_secrets(text) == _with_every_form(text)


def _with_every_form(text: str) -> str:
    for _ in range(_ROUNDS):
        for form in _FORMS:
            text = form.pattern.sub(_masked, text)
    return text


def took_s(work: Callable[[], object]) -> float:
    """Return the seconds of a processor that some work took."""
    began = time.process_time()
    work()
    return time.process_time() - began


HOSTILE = [
    "a", "-", "=", " ", "\\", '"', "'", "{", "<", "a-", "a.", "a_", "token_", "password", "password=", 'password="',
    'password="\\', "password: |\n ", "password={", "password=[", "secrets:", "password is ", "--password ", "--a-",
    "<a", "<password ", "eyJ", "-eyJ", "eyJtoken_", "eyJaaaaaaaa.", "eyJa_eyJaaaaaaaa.a.", "-eyJaaaaaaaa",
    "-SG.", "xoxb-", "AKIA", "password for ", "password for a: ", "|password", "|password|",
    "://", "://a:", "://a:/", "://a:b@", "password (a", "password(", "password (a)", "password:**", "password:</b>",
    "password -> ", "password →", "tokens:", "tokens: a", "tokens:[1,", "tokens:1.", "?key=", "?key=a1",
    "password={{{", "password={}", "A" * 20 + "\n> ", "> ", "> A\n", "pass ", "\x1e", "bearer ", "bearer a",
    "authorization:", "authorization=", "cookie:", "Cookie:a", "login a ", "-u a", "?sig=",
    "-----BEGIN PRIVATE KEY-----", "-----BEGIN ", "-----END PRIVATE KEY-----", "A" * 20 + "\n",
    "1234567890:", "8Q~", "PIN ", "secret\t", "ñ", "…",
]  # fmt: skip


@pytest.mark.parametrize("unit", HOSTILE)
def test_time_grows_with_the_length_and_no_faster(unit: str) -> None:
    # GIVEN a text of 20,000 characters that repeats itself, and one of a sixteenth
    long = unit * (20_000 // len(unit))
    short = long[: len(long) // 16]
    # WHEN both are masked, THEN the long one takes 16 times as long, not 256 times, at least once: noise only adds
    assert any(
        took_s(lambda: without_secrets(long)) < 64 * max(took_s(lambda: without_secrets(short)), 0.0002)
        for _ in range(3)
    )
