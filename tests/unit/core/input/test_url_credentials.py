"""Credentials in addresses are masked; what stands for them is not."""

from __future__ import annotations

import pytest
from skillroute.core.input.url_credentials import MASK, credential_warnings, masked_json, masked_url
from skillroute.registry.schemas import read_agent, read_server, registry_warnings


@pytest.mark.parametrize(
    ("url", "masked"),
    [
        ("https://me:hunter2@example.com/mcp", f"https://{MASK}@example.com/mcp"),
        ("postgresql://me:pass%40word@db:5432/x", f"postgresql://{MASK}@db:5432/x"),
        ("https://ghp_0123456789abcdef0123@github.com/a/b", f"https://{MASK}@github.com/a/b"),
        ("https://a.example/mcp?token=abc", f"https://a.example/mcp?token={MASK}"),
        ("https://a.example/mcp?page=2&api_key=abc&x=1", f"https://a.example/mcp?page=2&api_key={MASK}&x=1"),
        ("https://a.example/?exampleApiKey=abc", f"https://a.example/?exampleApiKey={MASK}"),
        ("https://a.example/?X-Amz-Signature=abc", f"https://a.example/?X-Amz-Signature={MASK}"),
        ("https://a.example/#access_token=abc", f"https://a.example/#access_token={MASK}"),
        ("see https://me:pw@example.com for more", f"see https://{MASK}@example.com for more"),
        ("--url=https://me:pw@x.y/mcp", f"--url=https://{MASK}@x.y/mcp"),
        ("Bearer https://me:pa'ss@x.y", f"Bearer https://{MASK}@x.y"),
        (" https://a.example/?token=abc", f" https://a.example/?token={MASK}"),
        ("a://me:p@x https://a.example/?u=b://me:p@x", f"a://{MASK}@x https://a.example/?u=b://{MASK}@x"),
        ("(https://a.example/?token=abc), more", f"(https://a.example/?token={MASK}), more"),
        ('{"url": "https://a.example/?token=abc", "b": 1}', f'{{"url": "https://a.example/?token={MASK}", "b": 1}}'),
        *(
            (f"https://a.example/?{name}=abc&a=1", f"https://a.example/?{name}={MASK}&a=1")
            for name in (
                *(
                    "auth",
                    "secretKey",
                    "appKey",
                    "pass",
                    "code",
                    "api%5Fkey",
                    "api%4Bey",
                    "apikey",
                    "APIKey",
                    "API_KEY",
                ),
                *("accessToken", "id_token", "client-secret", "sig", "x.password", "db_pass", "auth_code"),
            )
        ),
    ],
)
def test_credentials_are_masked(url: str, masked: str) -> None:
    assert masked_url(url) == masked


@pytest.mark.parametrize(
    "url",
    [
        "https://example.com/mcp",
        "ssh://git@github.com/a/b",
        "https://a.example/?token={TOKEN}&key=${KEY}",
        "https://{user}:{password}@a.example/",
        "https://a.example/?api_key=YOUR_API_KEY",
        "https://a.example/?tokens=5&monkey=2&page_token_count=3",
        "https://a.example/?page_token=5&pageToken=5&next_token=5&continuation=5&continuationToken=5",
        "https://a.example/?id_key=5&sortKey=5&country_code=DE&token_type=a&bypass=1&compass=1",
        "see https://a.example/?token={TOKEN}, or (https://a.example/?token=...)",
        "me:pw@example.com, https://a.example and b@example.com",
    ],
)
def test_what_is_no_credential_stays(url: str) -> None:
    assert masked_url(url) == url


def test_a_server_and_an_agent_are_stored_without_them_and_warned_of() -> None:
    server = {"name": "a", "remotes": [{"type": "sse", "url": "https://a.example/sse?token=abc"}]}
    agent = {"name": "b", "supportedInterfaces": [{"url": "https://me:pw@b.example/a2a"}]}

    assert read_server(server).content.document["remotes"][0]["url"] == f"https://a.example/sse?token={MASK}"
    assert read_agent(agent).content.document["supportedInterfaces"][0]["url"] == f"https://{MASK}@b.example/a2a"
    assert [warning.field for warning in registry_warnings("server", server)] == ["remotes.0.url"]
    assert [warning.field for warning in credential_warnings({"server": server})] == ["server.remotes.0.url"]
    # What is read back is the same again.
    assert masked_json(masked_json(server)) == masked_json(server)


def test_a_skill_of_an_agent_without_a_name_has_its_id() -> None:
    given = read_agent({"name": "Host", "skills": [{"id": "plan"}, {"id": "x", "name": "Cook"}]})

    assert [skill.name for skill in given.content.skills] == ["plan", "Cook"]
