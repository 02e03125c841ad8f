"""The commands that work on a database itself, over one that a secret of AWS Secrets Manager names."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import pytest
from botocore.session import Session
from skillroute_local.queue_server import ensure_queues
from skillroute_local.up import local_settings

from tests.conftest import fresh_database, url_as
from tests.e2e.processes import HASHING, cli
from tests.integration.local.gateway import REGION, Gateway, take_credentials_away

OPERATOR = "operator"
PASSWORD = "p@ss/w:r%d#?&+ \"'"  # as RDS makes them, and worse: none of it is escaped in a secret
Query = Callable[..., list[list[Any]]]


class Deployment(NamedTuple):
    """A database, and the settings with which a command reaches it from elsewhere."""

    url: str
    settings: dict[str, str]


@pytest.fixture(autouse=True)
def _no_credentials(monkeypatch: pytest.MonkeyPatch) -> None:
    take_credentials_away(monkeypatch)


@pytest.fixture
def environment(aws: str) -> dict[str, str]:
    """What the environment says of AWS."""
    services = {f"AWS_ENDPOINT_URL_{service}": aws for service in ("SECRETS_MANAGER", "SQS")}
    # The secret's region stands in its ARN; SQS is asked where the environment says.
    return {"AWS_ACCESS_KEY_ID": "x", "AWS_SECRET_ACCESS_KEY": "x", "AWS_DEFAULT_REGION": "us-east-1", **services}


@pytest.fixture
def operator(postgres_server: Any, query: Query) -> Iterator[None]:
    """A user of the database server whose password no URL could hold as it is."""
    quoted = PASSWORD.replace("'", "''")
    query(postgres_server.url_of("postgres"), f"CREATE ROLE {OPERATOR} LOGIN SUPERUSER PASSWORD '{quoted}'")
    yield
    query(postgres_server.url_of("postgres"), f"DROP ROLE {OPERATOR}")


@pytest.fixture
def secret(aws: str, request: pytest.FixtureRequest) -> Callable[..., str]:
    """Make a secret of this test's and return its ARN."""

    def make(content: dict[str, Any], suffix: str = "") -> str:
        client = Session().create_client(
            "secretsmanager",
            region_name=REGION,
            endpoint_url=aws,
            aws_access_key_id="x",
            aws_secret_access_key="x",
        )
        name = "".join(letter for letter in request.node.name if letter.isalnum()) + suffix
        arn: str = client.create_secret(Name=name, SecretString=json.dumps(content))["ARN"]
        client.close()
        return arn

    return make


@pytest.fixture
def deployment(
    operator: None,
    postgres_server: Any,
    environment: dict[str, str],
    secret: Callable[..., str],
    request: pytest.FixtureRequest,
) -> Iterator[Deployment]:
    """A database whose secret holds what RDS writes for a cluster: a user and a password.

    Empty, with the owner's login; or `migrated`, with the writer's.
    """
    template, user, password = "template0", OPERATOR, PASSWORD
    if getattr(request, "param", None) == "migrated":
        template = request.getfixturevalue("migrated_template")
        login = urlsplit(url_as("writer", postgres_server.url))
        user, password = str(login.username), str(login.password)
    with fresh_database(postgres_server, template) as url:
        parts = urlsplit(url)
        named = {
            "SKILLROUTE_DATABASE_SECRET_ARN": secret({"username": user, "password": password}),
            "SKILLROUTE_DATABASE_HOST": str(parts.hostname),
            "SKILLROUTE_DATABASE_PORT": str(parts.port),
            "SKILLROUTE_DATABASE_NAME": parts.path.lstrip("/"),
            "SKILLROUTE_DATABASE_SSLMODE": "disable",
        }
        yield Deployment(url, environment | HASHING | named)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


def test_migrate_reaches_the_database_of_a_secret(deployment: Deployment, home: Path, query: Query) -> None:
    first = cli(home, "migrate", **deployment.settings)
    second = cli(home, "migrate", **deployment.settings)

    assert (first.returncode, first.stderr) == (0, "")
    assert first.stdout.startswith("applied 0001_catalogue\n")
    assert (second.returncode, second.stdout, second.stderr) == (0, "up to date\n", "")
    owner = "SELECT DISTINCT tableowner FROM pg_tables WHERE schemaname = 'mcp'"
    assert query(deployment.url, owner) == [[OPERATOR]]
    assert not home.exists()


def test_migrate_makes_the_logins_of_the_functions_from_their_secrets(
    deployment: Deployment, home: Path, query: Query, secret: Callable[..., str]
) -> None:
    logins = {group: {"username": f"{group}_of_secrets", "password": f"{group}!"} for group in ("reader", "writer")}
    named = {f"SKILLROUTE_DATABASE_{group.upper()}_SECRET_ARN": secret(logins[group], group) for group in logins}
    try:
        done = cli(home, "migrate", **deployment.settings, **named)

        assert (done.returncode, done.stderr) == (0, "")
        parts = urlsplit(deployment.url)
        for group, login in logins.items():
            who = f"{login['username']}:{login['password']}@{parts.hostname}:{parts.port}"
            url = parts._replace(netloc=who).geturl()
            assert query(url, "SELECT count(*) FROM mcp.tools") == [[0]]
            may_write = "SELECT has_table_privilege('mcp.tools', 'INSERT')"
            assert query(url, may_write) == [[group == "writer"]]
    finally:
        query(deployment.url, "DROP ROLE reader_of_secrets, writer_of_secrets")


def test_a_functions_login_that_is_the_owners_is_one_line(deployment: Deployment, home: Path) -> None:
    same = deployment.settings["SKILLROUTE_DATABASE_SECRET_ARN"]

    done = cli(home, "migrate", **deployment.settings, SKILLROUTE_DATABASE_READER_SECRET_ARN=same)

    assert done.returncode == 1
    said = f"skillroute: the reader's login '{OPERATOR}' is the one that migrates: give it a user of its own\n"
    assert done.stderr == said


@pytest.mark.parametrize("deployment", ["migrated"], indirect=True)
@pytest.mark.parametrize(
    ("command", "answer"),
    [
        (
            "reindex",
            "embedded 0 items, 0 skills, 0 servers and agents, 0 documents of mail, and 0 pieces of Agent Skills; "
            "every index rebuilds now\n",
        ),
        ("dlq list", "nothing was given up\n"),
        ("skills propose", "there are no tools without a skill; --all groups those that have one, too\n"),
    ],
)
def test_other_commands_reach_it_as_well(deployment: Deployment, home: Path, command: str, answer: str) -> None:
    done = cli(home, *command.split(), **deployment.settings)

    assert done.returncode == 0, done.stderr
    assert done.stdout.endswith(answer)
    assert not home.exists()


@pytest.mark.parametrize("deployment", ["migrated"], indirect=True)
def test_texts_that_the_embedding_model_refused_are_listed_and_asked_for_again(
    deployment: Deployment, home: Path, query: Query
) -> None:
    def dlq(*args: str) -> Any:
        return cli(home, "dlq", *args, **deployment.settings)

    nothing = dlq("refused")
    assert (nothing.returncode, nothing.stdout, nothing.stderr) == (0, "no text was refused\n", "")
    # GIVEN a refused text whose reason holds what a terminal would take for markup
    said = (
        "UPDATE mcp.index_state SET embedding_model = 'm', embedding_dimension = 2;"
        "INSERT INTO mcp.tools (name, type, content_hash, org_id) VALUES ('deploy', 'tool', '', 'acme');"
        "INSERT INTO mcp.documents (collection, key, org_id, is_searchable, texts, lexical_text, text_hash, payload) "
        "SELECT 'mcp_unified_search', id::text, 'acme', true, '{}', '', '', '{\"name\": \"deploy\"}' FROM mcp.tools;"
        "INSERT INTO mcp.document_vectors (collection, key, model, dimension, text_hash, refusal) "
        "SELECT collection, key, 'm', 2, '', 'answered 400: [red]no' FROM mcp.documents"
    )
    for statement in said.split(";"):
        query(deployment.url, statement)
    assert "refused: 1; `skillroute dlq refused` lists them" in dlq("list").stdout
    [line] = [line.split() for line in dlq("refused", "tools").stdout.splitlines() if line.startswith("tools")]
    assert line == ["tools", "1", "acme", "deploy", "m", "answered", "400:", "[red]no"]
    [found] = json.loads(dlq("refused", "--json").stdout)
    assert (found["collection"], found["key"], found["reason"]) == ("tools", "1", "answered 400: [red]no")
    # WHEN, THEN
    assert json.loads(dlq("refused", "mail", "--json").stdout) == []
    unknown = dlq("retry", "tools", "1", "2")
    assert (unknown.returncode, unknown.stdout) == (4, "1 wait for a vector again\n")
    assert unknown.stderr == "no text was refused of 2\n"
    assert dlq("refused").stdout == "no text was refused\n"


def test_an_option_goes_before_the_environment(deployment: Deployment, home: Path) -> None:
    settings = deployment.settings | {"SKILLROUTE_DATABASE_HOST": "127.0.0.1", "SKILLROUTE_DATABASE_PORT": "1"}

    done = cli(home, "migrate", "--database-url", deployment.url, **settings)

    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("applied 0001_catalogue\n")


@pytest.mark.parametrize("command", ["migrate", "reindex", "dlq list", "skills propose"])
def test_a_url_and_a_secret_exclude_each_other(home: Path, command: str) -> None:
    both = {"SKILLROUTE_DATABASE_URL": "postgresql://a:b@127.0.0.1:1/c", "SKILLROUTE_DATABASE_SECRET_ARN": "name"}

    done = cli(home, *command.split(), **both)

    assert (done.returncode, done.stdout) == (2, "")
    assert "set one of SKILLROUTE_DATABASE_URL and SKILLROUTE_DATABASE_SECRET_ARN" in done.stderr
    assert done.stderr.count("\n") == 1


def test_a_secret_that_cannot_be_read_is_one_line(environment: dict[str, str], home: Path) -> None:
    arn = f"arn:aws:secretsmanager:{REGION}:123456789012:secret:none-AbCdEf"

    missing = cli(home, "migrate", SKILLROUTE_DATABASE_SECRET_ARN=arn, **environment)
    nobody = cli(home, "migrate", SKILLROUTE_DATABASE_SECRET_ARN=arn)

    assert (missing.returncode, nobody.returncode) == (3, 3)
    said = f"skillroute: PostgreSQL cannot be reached: secret {arn} cannot be read: "
    assert missing.stderr == f"{said}ResourceNotFoundException\n"
    assert nobody.stderr == f"{said}NoCredentialsError\n"


@pytest.fixture
def queues(aws: str) -> Iterator[dict[str, str]]:
    """The settings of queues that hold one message to classify and two dead letters of aggregating."""
    urls = ensure_queues(aws)
    client = Session().create_client(
        "sqs", region_name="us-east-1", endpoint_url=aws, aws_access_key_id="x", aws_secret_access_key="x"
    )
    for name in ("skillroute-classify", "skillroute-aggregate-dlq", "skillroute-aggregate-dlq"):
        client.send_message(QueueUrl=urls[name], MessageBody="{}")
    yield {
        f"SKILLROUTE_{name.upper()}_{kind}_URL": urls[f"skillroute-{name}{suffix}"]
        for name in ("classify", "aggregate", "learn")
        for kind, suffix in (("QUEUE", ""), ("DLQ", "-dlq"))
    }
    for url in urls.values():
        client.delete_queue(QueueUrl=url)
    client.close()


class TestStatus:
    @pytest.mark.parametrize("deployment", ["migrated"], indirect=True)
    def test_shows_the_queues_and_the_work_of_a_deployment(
        self, deployment: Deployment, queues: dict[str, str], home: Path, query: Query
    ) -> None:
        query(deployment.url, "INSERT INTO mcp.outbox (queue, key) VALUES ('classify', gen_random_uuid()::text)")
        with Gateway() as gateway:
            done = cli(home, "status", "--json", "--url", gateway.url, **deployment.settings, **queues)

        assert (done.returncode, done.stderr) == (0, "")
        classify, aggregate, learn = json.loads(done.stdout)["queues"]
        assert classify.pop("oldest_s") >= 0
        work, none = {"waiting": 1, "given_up": 0}, {"waiting": 0, "given_up": 0, "oldest_s": 0}
        still = {"under_way": 0, "delayed": 0}
        assert classify == {"queue": "classify", "ready": 1, "dead_letters": 0} | work | still
        assert aggregate == {"queue": "aggregate", "ready": 0, "dead_letters": 2} | none | still
        assert learn == {"queue": "learn", "ready": 0, "dead_letters": 0} | none | still

    def test_shows_queues_without_their_database(
        self, environment: dict[str, str], queues: dict[str, str], home: Path
    ) -> None:
        with Gateway() as gateway:
            alone = cli(home, "status", "--url", gateway.url, **environment, **queues)
            closed = {"SKILLROUTE_DATABASE_URL": "postgresql://a:b@127.0.0.1:1/c"}
            away = cli(home, "status", "--url", gateway.url, **environment, **queues, **closed)

        rows = [line.split()[-3:] for line in alone.stdout.splitlines()[-7:]]
        given_up = (
            "aggregate: 2 given up. Read the reasons (`skillroute dlq list`), remove their cause, then try the work"
        )
        assert (alone.returncode, alone.stderr) == (0, f"{given_up} again.\n")
        assert rows == [["-"] * 3] * 3 + [["1", "0", "0"], ["0"] * 3, ["0"] * 3, ["0", "2", "0"]]
        assert (away.returncode, away.stdout) == (0, alone.stdout)
        away_too = "the database cannot be asked: PostgreSQL at 127.0.0.1:1 cannot be reached\n"
        assert away.stderr == f"{away_too}{alone.stderr}"

    def test_says_when_queues_cannot_be_asked(self, queues: dict[str, str], home: Path) -> None:
        closed = {"AWS_ENDPOINT_URL_SQS": "http://127.0.0.1:1", "AWS_DEFAULT_REGION": "us-east-1"}
        with Gateway() as gateway:
            nobody = cli(home, "status", "--url", gateway.url, **closed, **queues)
            del queues["SKILLROUTE_AGGREGATE_QUEUE_URL"]
            half = cli(home, "status", "--url", gateway.url, **closed, **queues)

        assert (nobody.returncode, half.returncode) == (0, 0)
        assert nobody.stderr.startswith("the queues cannot be asked: SQS cannot be reached: ")
        assert "SKILLROUTE_LEARN_QUEUE_URL go together" in half.stderr
        assert nobody.stdout == half.stdout
        assert "dead letters" not in nobody.stdout


def test_what_runs_here_leaves_the_secret_of_a_deployment_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    url = "postgresql://a:b@127.0.0.1:1/c"
    monkeypatch.setenv("SKILLROUTE_DATABASE_URL", "")
    monkeypatch.setenv("SKILLROUTE_INDEX_OPTIMIZE_ABOVE", "1")
    monkeypatch.setenv("SKILLROUTE_DATABASE_SECRET_ARN", "name")

    settings = local_settings(url)

    assert settings.database_url is not None
    assert (settings.database_url.get_secret_value(), settings.database_secret_arn) == (url, None)
