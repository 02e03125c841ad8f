"""Secrets, read from moto's Secrets Manager on the loopback interface."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count
from typing import Any

import pytest
from botocore.session import Session
from skillroute.core.errors.model import SecretUnavailable
from skillroute.core.secrets_manager import ManagedSecret

REGION = "eu-central-1"
KEY = "sk-planted-0123456789"

_numbers = count()


@dataclass
class Vault:
    """A secret that a test changes, and the clock of who reads it."""

    client: Any
    arn: str
    endpoint: str
    now_s: float = 1000.0

    def put(self, text: str) -> None:
        self.client.put_secret_value(SecretId=self.arn, SecretString=text)

    def secret(self, key: str | None = None) -> ManagedSecret:
        return ManagedSecret(self.arn, key=key, endpoint_url=self.endpoint, clock=lambda: self.now_s)


@pytest.fixture
def vault(aws: str) -> Iterator[Vault]:
    client = Session().create_client("secretsmanager", region_name=REGION, endpoint_url=aws)
    arn = client.create_secret(Name=f"db-{next(_numbers)}", SecretString="first")["ARN"]
    yield Vault(client, arn, aws)
    client.close()


def test_a_text_is_returned_whole_and_a_key_of_json_alone(vault: Vault) -> None:
    assert vault.secret().read() == "first"
    assert vault.secret("api_key").read() == "first"
    vault.put(f'{{"api_key": "{KEY}", "other": "x"}}')
    assert vault.secret("api_key").read() == KEY


def test_it_is_asked_for_once_until_what_it_said_is_refused(vault: Vault) -> None:
    secret = vault.secret()
    assert secret.read() == "first"
    vault.put("second")
    assert secret.read() == "first"
    # Not at once: each call costs, and a wrong password that stays wrong must not become a flood of them.
    assert secret.read(again=True) == "first"
    vault.now_s += 10
    assert secret.read(again=True) == "second"
    assert secret.read() == "second"


@pytest.mark.parametrize("text", ['{"other": "x"}', '{"api_key": ""}', '{"api_key": 7}'])
def test_a_secret_without_the_key_is_an_error_that_does_not_show_it(vault: Vault, text: str) -> None:
    vault.put(text)
    with pytest.raises(SecretUnavailable, match="no text under the key 'api_key'") as error:
        vault.secret("api_key").read()
    assert text not in str(error.value)


def test_a_secret_that_is_not_there_names_its_arn_and_the_code(vault: Vault) -> None:
    missing = ManagedSecret(vault.arn + "x", endpoint_url=vault.endpoint)
    with pytest.raises(SecretUnavailable, match=f"{vault.arn}x cannot be read: ResourceNotFoundException"):
        missing.read()


@pytest.mark.parametrize("endpoint_url", ["http://127.0.0.1:1", "nowhere"])
def test_a_secrets_manager_that_cannot_be_reached_is_unavailable(endpoint_url: str) -> None:
    arn = f"arn:aws:secretsmanager:{REGION}:123456789012:secret:db-AbCdEf"
    with pytest.raises(SecretUnavailable, match="cannot be read"):
        ManagedSecret(arn, endpoint_url=endpoint_url).read()


def test_a_failure_is_remembered_for_a_moment_and_then_tried_again(vault: Vault) -> None:
    secret = vault.secret("api_key")
    vault.put("{}")
    for _ in range(2):
        with pytest.raises(SecretUnavailable, match="no text under the key"):
            secret.read()
        vault.put(f'{{"api_key": "{KEY}"}}')
    vault.now_s += 2
    assert secret.read() == KEY


def test_no_secret_shows_when_it_is_printed(vault: Vault) -> None:
    vault.put(KEY)
    managed = vault.secret()
    managed.read()
    assert KEY not in repr(managed) + str(managed.__repr__)
