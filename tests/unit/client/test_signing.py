"""Signatures are those of botocore, to the last character, and credentials are found where AWS's tools find them."""

from __future__ import annotations

import datetime as real
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import quote

import botocore.auth
import botocore.compat
import httpx
import pytest
from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials as BotoCredentials
from hypothesis import given
from hypothesis import strategies as st
from skillroute_client import ConfigurationError, Credentials, Skillroute, profile_credentials
from skillroute_client.calls import path_of
from skillroute_client.signing import Signer, default_credentials

AT = datetime(2026, 11, 23, 20, 41, 7, tzinfo=UTC)
HOST = "https://a1b2c3d4e5.execute-api.eu-central-1.amazonaws.com"
KEYS = ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_PROFILE")


@pytest.fixture
def no_credentials(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """An environment without AWS credentials; returns where a file of them may be written."""
    for name in KEYS:
        monkeypatch.delenv(name, raising=False)
    file = tmp_path / "credentials"
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(file))
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "config"))
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    return file


def sent(method: str, path: str, params: dict[str, str], body: Any, credentials: Credentials) -> httpx.Request:
    """Return what a client with a clock that stands still sends."""
    requests: list[httpx.Request] = []

    def answer(request: httpx.Request) -> httpx.Response:
        requests.append(request)
        return httpx.Response(200, json=None)

    client = Skillroute(
        HOST, token=None, credentials=credentials, http=httpx.Client(transport=httpx.MockTransport(answer))
    )
    client.connection._signer = Signer("eu-central-1", clock=lambda: AT)
    client.request(method, path, params=params, json=body)
    return requests[0]


def signed_by_botocore(request: httpx.Request, credentials: Credentials, monkeypatch: pytest.MonkeyPatch) -> str:
    names = {"host", "content-type"} & set(request.headers)
    draft = AWSRequest(
        request.method, str(request.url), {name: request.headers[name] for name in names}, request.content
    )
    monkeypatch.setattr(botocore.auth, "get_current_datetime", lambda *_, **__: AT.replace(tzinfo=None))
    boto = BotoCredentials(credentials.access_key_id, credentials.secret_access_key, credentials.session_token)
    SigV4Auth(boto, "execute-api", "eu-central-1").add_auth(draft)
    return str(draft.headers["Authorization"])


NAMES = st.text(min_size=1, max_size=8).filter(lambda name: name.isprintable() and name.strip() not in {"", ".", ".."})


@given(
    method=st.sampled_from(["GET", "POST", "PUT", "PATCH", "DELETE"]),
    part=NAMES,
    params=st.dictionaries(NAMES, st.text(max_size=8), max_size=4),
    body=st.none() | st.dictionaries(st.text(max_size=8), st.text(max_size=8), max_size=3),
    session=st.none() | st.just("a/session+token=="),
)
def test_a_signature_is_botocores(
    method: str, part: str, params: dict[str, str], body: dict[str, str] | None, session: str | None
) -> None:
    credentials = Credentials("AKIDEXAMPLE", "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY", session)
    request = sent(method, path_of("skills", part), params, body, credentials)
    with pytest.MonkeyPatch.context() as patch:
        assert request.headers["authorization"] == signed_by_botocore(request, credentials, patch)
    assert request.headers.get("x-amz-security-token") == session
    # AWS reads a plus as a plus when it signs, and as a space when it calls: there is none.
    assert b"+" not in request.url.raw_path


def test_each_attempt_is_signed_at_its_own_time() -> None:
    times = iter([AT, AT + real.timedelta(seconds=40)])
    signed: list[str] = []

    def answer(request: httpx.Request) -> httpx.Response:
        signed.append(request.headers["x-amz-date"])
        return httpx.Response(503) if len(signed) == 1 else httpx.Response(200, json={"status": "ok"})

    client = Skillroute(
        HOST,
        token=None,
        credentials=Credentials("AKIDEXAMPLE", "secret"),
        http=httpx.Client(transport=httpx.MockTransport(answer)),
        sleep=lambda _: None,
    )
    client.connection._signer = Signer("eu-central-1", clock=lambda: next(times))
    assert client.health().status == "ok"
    assert signed == ["20261123T204107Z", "20261123T204147Z"]


def test_secrets_are_in_no_text_of_credentials() -> None:
    assert "hidden" not in repr(Credentials("AKIDEXAMPLE", "hidden", "hidden too"))


def test_credentials_of_the_environment_are_read_for_each_request(
    no_credentials: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    find = default_credentials()
    for key in ("AKIDFIRST", "AKIDSECOND"):
        monkeypatch.setenv("AWS_ACCESS_KEY_ID", key)
        monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
        monkeypatch.setenv("AWS_SESSION_TOKEN", "token")
        assert find() == Credentials(key, "secret", "token")


def test_without_credentials_in_the_environment_a_profile_signs(
    no_credentials: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    no_credentials.write_text("[work]\naws_access_key_id = AKIDWORK\naws_secret_access_key = secret\n", "utf-8")
    monkeypatch.setenv("AWS_PROFILE", "work")
    assert default_credentials()() == Credentials("AKIDWORK", "secret")
    monkeypatch.delenv("AWS_PROFILE")
    assert profile_credentials("work")() == Credentials("AKIDWORK", "secret")
    with pytest.raises(ConfigurationError, match="elsewhere"):
        profile_credentials("elsewhere")()


def test_without_any_credentials_the_error_says_what_to_set(no_credentials: Path) -> None:
    with pytest.raises(ConfigurationError, match="set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY"):
        Skillroute(HOST, token=None).health()


def test_without_botocore_the_error_names_the_extra(no_credentials: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "botocore.session", None)
    with pytest.raises(ConfigurationError, match=r"skillroute-client\[aws\]"):
        Skillroute(HOST, token=None).health()


def test_ids_are_escaped_whatever_they_hold() -> None:
    assert path_of("skills", "a/b?c#d é") == f"/api/v1/skills/{quote('a/b?c#d é', safe='')}"
    for id_ in ("", ".", ".."):
        with pytest.raises(ValueError, match="an id must not be"):
            path_of("skills", id_)
