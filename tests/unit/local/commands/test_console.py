"""Where `skillroute console` reads the figures of hours and days."""

from __future__ import annotations

from pathlib import Path

import pytest
from skillroute_local.commands.console import _history
from skillroute_local.console.serving import Target
from skillroute_local.history.cloudwatch import CloudWatchHistory

EXECUTE_API = "https://abc123.execute-api.eu-central-1.amazonaws.com"


@pytest.fixture(autouse=True)
def home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("SKILLROUTE_HOME", str(tmp_path))


@pytest.mark.parametrize(
    "target",
    [Target(EXECUTE_API), Target(EXECUTE_API, token="a"), Target("https://api.example.com", None, "us-east-1")],
)
def test_those_of_a_deployment_on_aws_are_in_cloudwatch(target: Target) -> None:
    assert isinstance(_history(target, "prod"), CloudWatchHistory)


def test_of_a_skillroute_elsewhere_there_are_none() -> None:
    assert _history(Target("https://api.example.com", token="a"), "prod") is None
