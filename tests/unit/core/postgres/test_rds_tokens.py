"""Tokens of RDS: what boto3 would make, renewed before they end, and for nobody without credentials."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from botocore.session import Session
from skillroute.core.errors.model import SecretUnavailable
from skillroute.core.postgres.rds_tokens import RdsToken

from tests.integration.local.gateway import take_credentials_away

HOST, PORT, USER = "db.example", 5433, "my app_reader_iam"
NOW = datetime(2026, 11, 21, 9, 40, tzinfo=UTC)


class Clock:
    """Seconds of a process, and the time of day that tokens are signed with."""

    def __init__(self) -> None:
        self.now_s = 0.0

    def __call__(self) -> float:
        return self.now_s


@pytest.fixture
def nobody(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    take_credentials_away(monkeypatch)
    return monkeypatch


@pytest.fixture
def role(nobody: pytest.MonkeyPatch) -> None:
    """What Lambda gives a function: the credentials of its role, and its region."""
    given = {
        "ACCESS_KEY_ID": "ASIA",
        "SECRET_ACCESS_KEY": "s/k",
        "SESSION_TOKEN": "t+k=",
        "DEFAULT_REGION": "eu-west-1",
    }
    for name, value in given.items():
        nobody.setenv(f"AWS_{name}", value)


def seconds_pass(monkeypatch: pytest.MonkeyPatch, clock: Clock) -> None:
    """Let the time that botocore signs with follow the clock."""
    monkeypatch.setattr("botocore.auth.get_current_datetime", lambda: NOW + timedelta(seconds=clock.now_s))


def token(clock: Clock, **given: Any) -> RdsToken:
    return RdsToken(HOST, PORT, USER, clock=clock, **given)


@pytest.mark.usefixtures("role")
@pytest.mark.parametrize(("given", "region"), [({}, "eu-west-1"), ({"region": "us-east-1"}, "us-east-1")])
def test_a_token_is_the_one_that_boto3_makes(
    monkeypatch: pytest.MonkeyPatch, given: dict[str, str], region: str
) -> None:
    seconds_pass(monkeypatch, Clock())
    client = Session().create_client("rds", region_name=region)
    expected = client.generate_db_auth_token(HOST, PORT, USER)
    client.close()
    assert token(Clock(), **given).read() == expected
    assert "X-Amz-Expires=900" in expected


@pytest.mark.usefixtures("role")
def test_a_token_is_renewed_before_it_ends_and_when_it_was_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock()
    seconds_pass(monkeypatch, clock)
    secret = token(clock)
    first = secret.read()
    clock.now_s = 599
    assert secret.read() == first
    clock.now_s = 600
    second = secret.read()
    clock.now_s = 601
    assert secret.read() == second
    assert len({first, second, secret.read(again=True)}) == 3


def test_without_credentials_or_a_region_nothing_is_signed(nobody: pytest.MonkeyPatch) -> None:
    with pytest.raises(SecretUnavailable, match="set AWS_DEFAULT_REGION"):
        token(Clock()).read()
    with pytest.raises(SecretUnavailable, match="there are no AWS credentials"):
        token(Clock(), region="us-east-1").read()


def test_a_token_is_not_shown() -> None:
    assert repr(token(Clock())) == "RdsToken('my app_reader_iam' at 'db.example')"
