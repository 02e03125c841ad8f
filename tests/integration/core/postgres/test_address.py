"""Where the database is: a secret's JSON, and a password that is changed while a process runs."""

from __future__ import annotations

import json
import ssl
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import Encoding
from cryptography.x509.oid import NameOID
from skillroute.core.errors.model import DatabaseUnavailable, SecretUnavailable
from skillroute.core.postgres.address import Address, SecretAddress, TokenAddress
from skillroute.core.postgres.connection import Connection
from skillroute.core.postgres.pool import Pool

from tests.integration.rows import Sql, connected


@dataclass
class Kept:
    """`ports.Secret` that a test changes: `text` is remembered until somebody asks again."""

    now: str
    asked_again: int = 0
    text: str | None = None

    def read(self, *, again: bool = False) -> str:
        self.asked_again += again
        if again or self.text is None:
            self.text = self.now
        return self.text


class Away:
    def read(self, *, again: bool = False) -> str:
        raise SecretUnavailable("secret arn:x cannot be read: AccessDeniedException")


def read(document: Any, **given: Any) -> Address:
    text = document if isinstance(document, str) else json.dumps(document)
    return SecretAddress(Kept(text), **given)()


RDS = {"username": "app", "password": "p/:@", "engine": "postgres", "host": "db.example", "port": 5433, "dbname": "x"}


@pytest.mark.parametrize(
    ("document", "given", "expected"),
    [
        (RDS, {}, Address("db.example", 5433, "app", "p/:@", "x", "require")),
        ({**RDS, "port": "5433"}, {}, Address("db.example", 5433, "app", "p/:@", "x", "require")),
        # What RDS manages itself holds the login alone.
        ({"username": "app", "password": "p"}, {"host": "h"}, Address("h", 5432, "app", "p", "postgres", "require")),
        # A proxy stands before the host that the secret names.
        (
            RDS,
            {"host": "proxy", "port": 6000, "database": "y", "sslmode": "verify-full"},
            Address("proxy", 6000, "app", "p/:@", "y", "verify-full"),
        ),
        ({"url": "postgresql://u:p@h:1/d"}, {"host": "other"}, Address("h", 1, "u", "p", "d", "require")),
        ({"username": "app", "host": "localhost"}, {}, Address("localhost", 5432, "app", None, "postgres", "disable")),
        # A URL keeps what it says; what it leaves open is filled in.
        (
            {"url": "postgresql://u:p@h/d"},
            {"sslmode": "verify-full"},
            Address("h", 5432, "u", "p", "d", "verify-full"),
        ),
        (
            {"url": "postgresql://u:p@h/d?sslmode=require"},
            {"sslmode": "verify-full"},
            Address("h", 5432, "u", "p", "d", "require"),
        ),
    ],
    ids=["rds", "port as text", "managed by rds", "proxy", "url", "loopback", "open sslmode", "said sslmode"],
)
def test_a_secret_says_where_and_how(document: Any, given: dict[str, Any], expected: Address) -> None:
    assert read(document, **given) == expected


@pytest.mark.parametrize(
    ("document", "says"),
    [
        ("postgresql://u:planted@h/d", "not a JSON object"),
        (["planted"], "not a JSON object"),
        ({"password": "planted"}, "lacks username and host"),
        ({"username": "u", "password": "planted"}, "lacks host"),
        ({"username": "u", "host": "h", "password": "planted", "port": "planted"}, "port that is no number"),
        ({"url": "mysql://u:planted@h/d"}, "no usable URL"),
        ({**RDS, "sslrootcert": "planted"}, "sslrootcert that is no PEM"),
    ],
)
def test_a_secret_that_cannot_be_used_is_told_without_its_words(document: Any, says: str) -> None:
    with pytest.raises(DatabaseUnavailable, match=says) as error:
        read(document)
    assert "planted" not in str(error.value)


@pytest.mark.parametrize("sslmode", ["require", "verify-full"])
def test_a_server_without_tls_says_so(database_url: str, sslmode: str) -> None:
    with pytest.raises(DatabaseUnavailable, match=f"offers no TLS, or closed the connection .sslmode={sslmode}"):
        Pool(f"{database_url}?sslmode={sslmode}").read(whoami)


def test_authorities_of_a_secret_are_trusted_beside_the_known_ones() -> None:
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "an authority of RDS")])
    begins = datetime(2026, 1, 1, tzinfo=UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(begins)
        .not_valid_after(begins + timedelta(days=36_500))
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    pem = certificate.public_bytes(Encoding.PEM).decode()

    contexts = [read({**RDS, **more}, sslmode="verify-full").ssl_context() for more in ({}, {"sslrootcert": pem})]

    known, more = (set(map(str, context.get_ca_certs())) for context in contexts if isinstance(context, ssl.SSLContext))
    assert known < more
    assert "an authority of RDS" in str(more - known)


def test_a_secret_that_cannot_be_read_is_an_unreachable_database() -> None:
    with pytest.raises(DatabaseUnavailable, match="PostgreSQL cannot be reached: secret arn:x cannot be read"):
        Pool(SecretAddress(Away())).read(lambda connection: connection.run("count_skills_of", org_id=None))


@pytest.fixture
def sql(database_url: str) -> Iterator[Sql]:
    with connected(database_url) as sql:
        sql("CREATE ROLE rotated LOGIN PASSWORD 'first'")
        yield sql
        sql("DROP ROLE rotated")


def whoami(connection: Connection) -> str:
    connection.script("SELECT 1")
    user: str = connection._native.run("SELECT current_user")[0][0]
    return user


def test_a_changed_password_is_read_again_when_the_old_one_is_refused(sql: Sql, database_url: str) -> None:
    # GIVEN a pool whose login comes from a secret
    address = Address.parse(database_url)
    secret = Kept(json.dumps({"username": "rotated", "password": "first"}))
    pool = Pool(SecretAddress(secret, host=address.host, port=address.port, database=address.database))
    assert pool.read(whoami) == "rotated"

    # WHEN the password is rotated, and a new connection is needed
    sql("ALTER ROLE rotated PASSWORD 'second'")
    secret.now = json.dumps({"username": "rotated", "password": "second"})
    with pool.borrowed():
        # THEN it gets in
        assert pool.read(whoami) == "rotated"
    assert secret.asked_again == 1
    pool.close()


def test_a_token_that_is_refused_is_made_anew(sql: Sql, database_url: str) -> None:
    # GIVEN a pool that logs in with tokens; RDS takes them where others take a password
    address = Address.parse(database_url)
    where = {"host": address.host, "port": address.port, "database": address.database, "sslmode": "disable"}
    token = Kept("first")
    pool = Pool(TokenAddress(token, user="rotated", **where))  # type: ignore[arg-type]
    assert pool.read(whoami) == "rotated"

    # WHEN it has ended, and a new connection is needed
    sql("ALTER ROLE rotated PASSWORD 'second'")
    token.now = "second"
    with pool.borrowed():
        # THEN it gets in
        assert pool.read(whoami) == "rotated"
    assert token.asked_again == 1
    pool.close()


def test_a_token_that_cannot_be_signed_is_an_unreachable_database() -> None:
    source = TokenAddress(Away(), host="h", port=5432, user="u", database="d", sslmode="require")
    with pytest.raises(DatabaseUnavailable, match="PostgreSQL cannot be reached: secret arn:x cannot be read"):
        source()


def test_a_login_that_stays_wrong_is_told_after_one_more_look(sql: Sql, database_url: str) -> None:
    address = Address.parse(database_url)
    secret = Kept(json.dumps({"username": "rotated", "password": "wrong"}))
    pool = Pool(SecretAddress(secret, host=address.host, port=address.port, database=address.database))
    with pytest.raises(DatabaseUnavailable, match="password authentication failed") as error:
        pool.read(whoami)
    assert secret.asked_again == 1
    assert "wrong" not in str(error.value)
