"""Requests of the command line to a deployment: signed, with a token, or refused with the reason."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from skillroute_client.connection import execute_api_region
from skillroute_local.client import Client
from skillroute_local.commands.shared import client_for
from skillroute_local.errors import LocalError
from skillroute_local.home import Home, Run

from tests.e2e.processes import cli
from tests.integration.local.gateway import CREDENTIALS, REGION, Gateway, Received, is_signed, take_credentials_away

HOST = f"abc123.execute-api.{REGION}.amazonaws.com"
# With what a client could spell in two ways, so that another body than the signed one would show.
REQUEST = {"query": "zwei Bücher / 100 % “fertig”"}


@pytest.fixture(autouse=True)
def _no_credentials(monkeypatch: pytest.MonkeyPatch) -> None:
    take_credentials_away(monkeypatch)


@pytest.fixture
def gateway() -> Iterator[Gateway]:
    with Gateway(wants_signatures=True) as gateway:
        yield gateway


@pytest.fixture
def api(gateway: Gateway, monkeypatch: pytest.MonkeyPatch) -> str:
    """The URL of an API of AWS whose name leads to the gateway on loopback."""
    resolve = socket.getaddrinfo

    def resolve_here(host: Any, *args: Any, **more: Any) -> Any:
        return resolve("127.0.0.1" if host == HOST else host, *args, **more)

    monkeypatch.setattr(socket, "getaddrinfo", resolve_here)
    return f"http://{HOST}:{gateway.port}"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("SKILLROUTE_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


def use(monkeypatch: pytest.MonkeyPatch, environment: dict[str, str]) -> None:
    for name, value in environment.items():
        monkeypatch.setenv(name, value)


def test_requests_to_an_api_of_aws_are_signed(gateway: Gateway, api: str, monkeypatch: pytest.MonkeyPatch) -> None:
    use(monkeypatch, CREDENTIALS)

    with Client(api) as client:
        health, answer = client.health(), client.search(REQUEST)

    assert health["version"] == "9.9.9"
    assert answer["tools"] == []
    assert [each.method for each in gateway.received] == ["GET", "POST"]
    assert "content-type" in gateway.received[1].headers["authorization"]


def test_a_token_goes_instead_of_a_signature(gateway: Gateway, api: str, monkeypatch: pytest.MonkeyPatch) -> None:
    use(monkeypatch, CREDENTIALS)
    gateway.wants_signatures = False

    with Client(api, "a.b.c") as client:
        client.health()

    [received] = gateway.received
    assert received.headers["authorization"] == "Bearer a.b.c"
    assert "x-amz-date" not in received.headers
    assert "x-amz-security-token" not in received.headers


@pytest.mark.parametrize("spelling", ["option", "variable"])
def test_requests_to_a_domain_of_ones_own_are_signed_when_asked(gateway: Gateway, home: Path, spelling: str) -> None:
    option = ("--sign-region", REGION) if spelling == "option" else ()
    variable = {"SKILLROUTE_SIGN_REGION": REGION} if spelling == "variable" else {}

    done = cli(home, "search", REQUEST["query"], "--url", gateway.url, *option, **variable, **CREDENTIALS)

    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("skills: there are none, so all tools were searched\n")


def test_credentials_are_sent_nowhere_unasked(gateway: Gateway, monkeypatch: pytest.MonkeyPatch) -> None:
    use(monkeypatch, CREDENTIALS)

    with Client(gateway.url) as client, pytest.raises(LocalError, match=r"^403: Forbidden: .* with --sign-region$"):
        client.health()

    assert {"authorization", "x-amz-security-token"} & set(gateway.received[0].headers) == set()


def test_the_one_that_runs_here_gets_no_signature(gateway: Gateway, home: Path) -> None:
    # GIVEN an environment that is about a deployment, and a Skillroute that runs here
    gateway.wants_signatures = False
    here = Home(home)
    with here.locked():
        run = Run(os.getpid(), gateway.url, "postgresql://a:b@127.0.0.1:1/c", "http://127.0.0.1:1", "now")
        here.announce(run)

        # WHEN that is called by its URL or by none
        for url in (None, f"{gateway.url}/"):
            with client_for(url, None, REGION) as client:
                client.health()

    # THEN no credentials were needed
    assert len(gateway.received) == 2


@pytest.mark.parametrize(
    ("environment", "reason"),
    [
        ({}, "there are no AWS credentials: set "),
        (
            {"AWS_PROFILE": "nobody"},
            "the AWS credentials cannot be had: The config profile (nobody) could not be found",
        ),
    ],
    ids=["none", "profile"],
)
def test_without_credentials_nothing_is_sent(
    gateway: Gateway, home: Path, environment: dict[str, str], reason: str
) -> None:
    done = cli(home, "status", "--url", gateway.url, "--sign-region", REGION, **environment)

    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"skillroute: requests must be signed, and {reason}")
    assert done.stderr.count("\n") == 1
    assert gateway.received == []


def test_a_refused_signature_says_what_to_look_at(gateway: Gateway, api: str, monkeypatch: pytest.MonkeyPatch) -> None:
    use(monkeypatch, CREDENTIALS | {"AWS_SECRET_ACCESS_KEY": "another"})

    with Client(api) as client, pytest.raises(LocalError, match=r"^403: Forbidden: .*execute-api:Invoke on this API$"):
        client.health()

    assert not is_signed(gateway.received[0])


class Refusing(Gateway):
    """Lets nobody in, with what it is given to say."""

    def __init__(self, body: dict[str, str]) -> None:
        super().__init__()
        self.body = body

    def answer(self, received: Received) -> tuple[int, Any]:
        self.received.append(received)
        return 401, self.body


@pytest.mark.parametrize(
    ("body", "token", "reason"),
    [
        (
            {"message": "Unauthorized"},
            "a.b.c",
            "Unauthorized: the token was refused: it may have expired, or be of another issuer or for another audience",
        ),
        ({"detail": "the token has expired", "code": "invalid_token"}, "a.b.c", "the token has expired"),
        ({"message": "Unauthorized"}, None, "Unauthorized: give a token with --token or SKILLROUTE_TOKEN"),
    ],
    ids=["by the gateway", "by a function", "without one"],
)
def test_a_refused_token_is_told_from_none(body: dict[str, str], token: str | None, reason: str) -> None:
    with Refusing(body) as gateway, Client(gateway.url, token) as client, pytest.raises(LocalError) as raised:
        client.health()

    assert str(raised.value) == f"401: {reason}"


def test_a_token_and_a_signature_exclude_each_other(home: Path) -> None:
    with pytest.raises(LocalError, match="not both"):
        client_for("https://tools.example", "a.b.c", REGION)


@pytest.mark.parametrize(
    ("url", "region"),
    [
        ("https://abc.execute-api.eu-central-1.amazonaws.com", "eu-central-1"),
        ("https://ABC.execute-api.us-gov-west-1.amazonaws.com/stage", "us-gov-west-1"),
        ("https://abc-vpce-01234567.execute-api.us-east-1.amazonaws.com", "us-east-1"),
        ("https://abc.execute-api.cn-north-1.amazonaws.com.cn", "cn-north-1"),
        ("https://abc.execute-api.eusc-de-east-1.amazonaws.eu", "eusc-de-east-1"),
        ("https://tools.example.com", None),
        ("http://localhost:3000", None),
        ("https://abc.execute-api.eu-central-1.amazonaws.com.example.com", None),
        ("https://example.com/abc.execute-api.eu-central-1.amazonaws.com", None),
        ("https://abc.execute-api.eu-central-1.amazonawsxcom", None),
    ],
)
def test_the_region_stands_in_the_name_of_an_api_of_aws(url: str, region: str | None) -> None:
    assert execute_api_region(url) == region
