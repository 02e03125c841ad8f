"""Documents of servers as `server.json`."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from skillroute.registry.published.detail import OFFICIAL, published
from skillroute.registry.published.entries import Entry

AT = datetime(2026, 11, 1, tzinfo=UTC)
ENTRY = Entry(1, "io.acme/docs", "Docs", "1.0.0", is_enabled=True, is_latest=True, updated_at=AT)


def detail(description: str = "Docs.", **document: Any) -> dict[str, Any]:
    shown = published(ENTRY, name="Docs", description=description, document=document, created_at=AT)
    return dict(shown["server"])


def test_a_long_description_is_cut_and_an_empty_one_is_the_name() -> None:
    assert len(detail("word " * 100)["description"]) <= 100
    assert detail("word " * 100)["description"].endswith("…")
    assert detail("")["description"] == "Docs"


def test_what_registries_know_of_an_entry_stands_where_clients_look() -> None:
    shown = published(ENTRY, name="Docs", description="", document={}, created_at=AT)
    assert shown["_meta"][OFFICIAL] == {
        "status": "active",
        "publishedAt": "2026-11-01T00:00:00Z",
        "updatedAt": "2026-11-01T00:00:00Z",
        "isLatest": True,
    }


def test_packages_and_remotes_pass_also_from_within_a_registry_s_list() -> None:
    package = {"registryType": "npm", "identifier": "@acme/docs", "transport": {"type": "stdio"}}
    remote = {"type": "sse", "url": "https://acme.test/sse"}
    document = {"name": "io.acme/docs", "packages": [package], "remotes": [remote]}
    for shown in (detail(**document), detail(server=document)):
        assert (shown["packages"], shown["remotes"]) == ([package], [remote])


def test_packages_and_remotes_of_the_older_form_are_renamed() -> None:
    shown = detail(
        name="io.acme/docs",
        packages=[{"registry_name": "npm", "name": "@acme/docs", "version": "1.0.0", "environment_variables": [
            {"name": "KEY", "is_required": True, "is_secret": True}]}],
        remotes=[{"transport_type": "streamable", "url": "https://acme.test/mcp"}],
    )  # fmt: skip
    assert shown["packages"] == [
        {"registryType": "npm", "identifier": "@acme/docs", "version": "1.0.0", "transport": {"type": "stdio"},
         "environmentVariables": [{"name": "KEY", "isRequired": True, "isSecret": True}]}
    ]  # fmt: skip
    assert shown["remotes"] == [{"type": "streamable-http", "url": "https://acme.test/mcp"}]


def test_parts_that_have_not_the_form_are_left_out_and_the_others_stay() -> None:
    good = {"type": "sse", "url": "https://acme.test/sse"}
    shown = detail(
        name="io.acme/docs",
        remotes=[{"type": "ws", "url": "wss://x"}, 7, good],
        packages="npm",
        repository={"url": "x"},
        icons=[{"src": "http://insecure.test/icon.png"}],
        websiteUrl="javascript:alert(1)",
    )
    assert shown["remotes"] == [good]
    assert not {"packages", "repository", "icons", "websiteUrl"} & shown.keys()


def test_values_of_secrets_are_left_out() -> None:
    header = {"name": "Authorization", "isSecret": True, "value": "Bearer s3cret", "default": "Bearer other"}
    shown = detail(name="io.acme/docs", remotes=[{"type": "sse", "url": "https://acme.test", "headers": [header]}])
    assert shown["remotes"][0]["headers"] == [{"name": "Authorization", "isSecret": True}]
