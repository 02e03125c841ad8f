"""Least privilege (docs/adr/0031): who migrates owns, a writer changes rows, a reader reads them and nothing else."""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import quote, urlsplit

import pytest
from pg8000.native import to_statement
from skillroute.core.postgres import queries
from skillroute.core.postgres.migrate import migrate
from skillroute.core.postgres.pool import Pool
from skillroute.core.postgres.refusals import LoginRefused, NotPermitted
from skillroute.core.postgres.roles import Login, RoleError, scram_verifier
from skillroute_local.postgres import EmbeddedPostgres

from tests.conftest import fresh_database
from tests.integration.rows import connected

PASSWORD = "p@ss/w:r%d#?&+ \"'"
OF_THE_OWNER = {"record_migration"}
CHANGES = ("INSERT", "UPDATE", "DELETE", "FOR UPDATE", "FOR NO KEY UPDATE", "FOR SHARE", "nextval", "log_change",
           "build_search_lists", "prune_trace")  # fmt: skip


@pytest.fixture
def empty_url(postgres_server: EmbeddedPostgres) -> Iterator[str]:
    with fresh_database(postgres_server, "template1") as url:
        yield url


@contextmanager
def logins(url: str, *given: Login) -> Iterator[None]:
    """Migrate with logins, which are dropped at the end: they are the server's, and outlive a database."""
    try:
        migrate(url, logins=given)
        yield
    finally:
        with connected(url) as sql:
            for each in given:
                sql(f'DROP ROLE IF EXISTS "{each.user}"')


def name_of(url: str) -> str:
    return urlsplit(url).path[1:]


def url_of(url: str, login: Login) -> str:
    parts = urlsplit(url)
    who = f"{quote(login.user)}:{quote(login.password or '', safe='')}"
    return f"postgresql://{who}@{parts.hostname}:{parts.port}{parts.path}"


def groups(database: str) -> dict[str, str]:
    """Return the roles that a database's migration made."""
    return {group: f"{database}_{group}" for group in ("reader", "writer")}


@pytest.fixture
def roles(migrated_template: str) -> dict[str, str]:
    """Those of `database_url`: it is a copy, and what was granted in the template is granted in it."""
    return groups(migrated_template)


@contextmanager
def acting_as(url: str, role: str) -> Iterator[Pool]:
    """Lend a pool whose one connection has the rights of a group."""
    pool = Pool(url, size=1)
    with pool.borrowed() as connection:
        connection.script(f'SET ROLE "{role}"')
    yield pool
    pool.close()


def explained(pool: Pool, name: str) -> None:
    """Have a statement planned and its rights checked, whatever its parameters are, without running it."""
    with pool.borrowed() as connection:
        sql, _ = to_statement(queries.statement(name))
        connection.script(f"EXPLAIN (GENERIC_PLAN) {sql}")


def test_two_migrations_in_a_row_change_nothing_of_the_roles(empty_url: str) -> None:
    # GIVEN
    rights = (
        "SELECT relname, relacl::text, (SELECT array_agg(attname || attacl::text ORDER BY attnum) FROM pg_attribute a "
        "WHERE a.attrelid = c.oid AND attacl IS NOT NULL) FROM pg_class c "
        "WHERE relnamespace = 'mcp'::regnamespace ORDER BY relname"
    )
    seen = []
    for _ in range(2):
        # WHEN
        migrate(empty_url)
        with connected(empty_url) as sql:
            seen.append(sql(rights))
    # THEN
    assert seen[0] == seen[1]
    assert len(seen[0]) > 20


def test_the_writer_may_run_every_statement_but_those_of_the_owner(database_url: str, roles: dict[str, str]) -> None:
    with acting_as(database_url, roles["writer"]) as pool:
        for name in set(queries.names()) - OF_THE_OWNER:
            explained(pool, name)
        for name in OF_THE_OWNER:
            with pytest.raises(NotPermitted):
                explained(pool, name)


def test_the_reader_may_run_what_reads_and_of_what_writes_a_position_alone(
    database_url: str, roles: dict[str, str]
) -> None:
    changing = {name for name in queries.names() if any(word in queries.statement(name) for word in CHANGES)}
    with acting_as(database_url, roles["reader"]) as pool:
        for name in set(queries.names()) - changing:
            explained(pool, name)
        refused = set()
        for name in changing:
            try:
                explained(pool, name)
            except NotPermitted:
                refused.add(name)
    # Advisory locks and sequences need no right that a plan shows; and a search leaves its receipt.
    assert changing - refused == {"new_mail_ids", "add_receipts", "add_trace"}
    assert len(refused) > 50


@pytest.mark.parametrize("group", ["reader", "writer"])
@pytest.mark.parametrize(
    "statement",
    [
        "CREATE TABLE mcp.mine (id int)",
        "ALTER TABLE mcp.tools DISABLE TRIGGER ALL",
        "DROP TABLE mcp.outbox",
        "TRUNCATE mcp.tools",
        "DELETE FROM mcp.migrations",
        "CREATE FUNCTION mcp.mine() RETURNS int LANGUAGE sql RETURN 1",
        "SET session_replication_role = replica",
    ],
)
def test_neither_group_changes_the_schema(database_url: str, roles: dict[str, str], group: str, statement: str) -> None:
    with acting_as(database_url, roles[group]) as pool, pool.borrowed() as connection, pytest.raises(NotPermitted):
        connection.script(statement)


def test_the_reader_changes_no_row_and_of_a_position_no_name(database_url: str, roles: dict[str, str]) -> None:
    with connected(database_url) as sql:
        tables = [row[0] for row in sql("SELECT tablename FROM pg_tables WHERE schemaname = 'mcp' ORDER BY 1")]
    with acting_as(database_url, roles["reader"]) as pool, pool.borrowed() as connection:
        for table in tables:
            connection.script(f"SELECT * FROM mcp.{table}")
            with pytest.raises(NotPermitted):
                connection.script(f"DELETE FROM mcp.{table}")
        for statement in ("UPDATE mcp.index_generations SET after_key = 'x'", "SELECT nextval('mcp.outbox_version')"):
            with pytest.raises(NotPermitted):
                connection.script(statement)


@pytest.mark.parametrize(("group", "written"), [("reader", False), ("writer", True)])
def test_a_table_of_a_later_migration_is_the_groups_in_its_own_transaction(
    database_url: str, roles: dict[str, str], group: str, written: bool
) -> None:
    # GIVEN a table that the owner creates, and no migration after it
    with connected(database_url) as sql:
        sql("CREATE TABLE mcp.later (id bigint DEFAULT 1)")
        sql("CREATE SEQUENCE mcp.later_version")
    # WHEN, THEN
    with acting_as(database_url, roles[group]) as pool, pool.borrowed() as connection:
        connection.script("SELECT * FROM mcp.later")
        for statement in ("INSERT INTO mcp.later VALUES (1)", "SELECT nextval('mcp.later_version')"):
            if written:
                connection.script(statement)
            else:
                with pytest.raises(NotPermitted):
                    connection.script(statement)


def test_what_somebody_granted_at_a_prompt_goes_with_the_next_migration(empty_url: str) -> None:
    reader = groups(name_of(empty_url))["reader"]
    migrate(empty_url)
    with connected(empty_url) as sql:
        sql(f'GRANT DELETE ON mcp.tools TO "{reader}"')
        sql(f'GRANT UPDATE (description) ON mcp.tools TO "{reader}"')
    migrate(empty_url)
    with acting_as(empty_url, reader) as pool, pool.borrowed() as connection:
        for statement in ("DELETE FROM mcp.tools", "UPDATE mcp.tools SET description = ''"):
            with pytest.raises(NotPermitted):
                connection.script(statement)


def test_logins_of_secrets_log_in_with_their_groups_rights(empty_url: str) -> None:
    # GIVEN
    given = Login("reader", "search 1", PASSWORD), Login("writer", "functions_1", PASSWORD)
    with logins(empty_url, *given):
        reader, writer = (Pool(url_of(empty_url, each)) for each in given)
        # WHEN the writer writes
        writer.transact(lambda c: c.script("INSERT INTO mcp.outbox (queue, key) VALUES ('classify', '1')"))
        # THEN the reader reads it, and may not take it away
        assert reader.read(lambda c: c.run("applied_migrations"))
        with pytest.raises(NotPermitted, match="permission denied for table outbox"):
            reader.transact(lambda c: c.script("DELETE FROM mcp.outbox"))
        reader.close()
        writer.close()
        with connected(empty_url) as sql:
            stored = sql("SELECT rolpassword FROM pg_authid WHERE rolname = 'functions_1'")
        assert stored[0][0].startswith("SCRAM-SHA-256$4096:")


def test_a_password_that_was_changed_in_its_secret_is_set_by_the_next_migration(empty_url: str) -> None:
    old, new = Login("reader", "search_2", "old"), Login("reader", "search_2", "new")
    with logins(empty_url, old):
        migrate(empty_url, logins=[new])
        pool = Pool(url_of(empty_url, new))
        assert pool.read(lambda c: c.run("applied_migrations"))
        pool.close()
        with pytest.raises(LoginRefused):
            Pool(url_of(empty_url, old)).read(lambda c: c.run("applied_migrations"))


def test_logins_with_tokens_are_for_servers_that_know_them(empty_url: str) -> None:
    login = Login("reader", "search_3")
    with pytest.raises(RoleError, match="there is no role rds_iam"):
        migrate(empty_url, logins=[login])
    with connected(empty_url) as sql:
        sql("CREATE ROLE rds_iam")
        try:
            member = "SELECT pg_has_role('search_3', 'rds_iam', 'MEMBER')"
            with logins(empty_url, login):
                assert sql(member) == [[True]]
                # A login that gets a password has no tokens any more: RDS would go on asking for one.
                migrate(empty_url, logins=[Login("reader", "search_3", "p")])
                assert sql(member) == [[False]]
        finally:
            sql("DROP ROLE rds_iam")


@pytest.mark.parametrize(
    ("granted", "reason"),
    [
        ("ALTER ROLE search_4 CREATEROLE", "has rights on the whole server"),
        ("ALTER ROLE search_4 SUPERUSER", "has rights on the whole server"),
        ('GRANT "{owner}" TO search_4', "may act as the owner of the schema"),
        ('GRANT "{writer}" TO search_4', "may write"),
    ],
)
def test_a_login_that_may_do_more_than_its_group_is_refused(empty_url: str, granted: str, reason: str) -> None:
    login = Login("reader", "search_4", "p")
    with logins(empty_url, login), connected(empty_url) as sql:
        [[owner]] = sql("SELECT nspowner::regrole::text FROM pg_namespace WHERE nspname = 'mcp'")
        sql(granted.format(owner=owner, writer=groups(name_of(empty_url))["writer"]))
        with pytest.raises(RoleError, match=f"'search_4' {reason}"):
            migrate(empty_url, logins=[login])


def test_who_migrates_is_no_login_of_a_function(empty_url: str) -> None:
    user = str(urlsplit(empty_url).username)
    with pytest.raises(RoleError, match="is the one that migrates"):
        migrate(empty_url, logins=[Login("writer", user, "p")])


def test_an_owner_who_may_not_make_roles_says_what_an_administrator_has_to(empty_url: str) -> None:
    # GIVEN an owner that may create a schema, and no role
    owner = Login("writer", "owner_5", "p")
    database = name_of(empty_url)
    with connected(empty_url) as sql:
        sql("CREATE ROLE owner_5 LOGIN PASSWORD 'p'")
        sql(f'GRANT CREATE ON DATABASE "{database}" TO owner_5')
        try:
            # WHEN
            with pytest.raises(RoleError) as refused:
                migrate(url_of(empty_url, owner))
            # THEN what it says to do is enough
            statements = str(refused.value).split("`")[1]
            assert all(role in statements for role in groups(database).values())
            for statement in statements.split(";"):
                sql(statement)
            assert migrate(url_of(empty_url, owner))
            assert sql("SELECT DISTINCT tableowner FROM pg_tables WHERE schemaname = 'mcp'") == [["owner_5"]]
        finally:
            sql("DROP OWNED BY owner_5 CASCADE")
            sql("DROP ROLE owner_5")


def test_a_verifier_is_the_one_that_the_servers_own_function_makes() -> None:
    # RFC 7677's exchange of user "user", password "pencil".
    salt = "W22ZaJ0SNY7soEsUEjb6gQ=="
    assert scram_verifier("pencil", b64decode(salt)) == (
        f"SCRAM-SHA-256$4096:{salt}$WG5d8oPm3OtcPnkdi4Uo7BkeZkBFzpcXkuLmtbsT4qY=:"
        "wfPLwcE6nTWhTAmQ7tl2KeoiWGPlZqQxSrmfPwDl2dU="
    )


@pytest.mark.parametrize("password", ["", "pass\u00adword", "pässword", "a\nb"])
def test_a_password_that_clients_prepare_in_different_ways_is_refused(password: str) -> None:
    with pytest.raises(RoleError, match="printable ASCII"):
        scram_verifier(password)
