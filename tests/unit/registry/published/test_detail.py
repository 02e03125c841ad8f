"""Documents of servers as `server.json`."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import jsonschema
from hypothesis import given
from hypothesis import strategies as st
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


def test_fields_that_a_server_json_does_not_have_are_left_out() -> None:
    remote = {"type": "sse", "url": "https://acme.test", "env": {"TOKEN": "s3cret"}}
    shown = detail(name="io.acme/docs", remotes=[remote], internal_note="for us")
    assert shown["remotes"] == [{"type": "sse", "url": "https://acme.test"}]
    assert "internal_note" not in shown


def test_values_of_secrets_are_left_out() -> None:
    header = {"name": "Authorization", "isSecret": True, "value": "Bearer s3cret", "default": "Bearer other"}
    shown = detail(name="io.acme/docs", remotes=[{"type": "sse", "url": "https://acme.test", "headers": [header]}])
    assert shown["remotes"][0]["headers"] == [{"name": "Authorization", "isSecret": True}]


def test_values_are_secret_where_one_of_two_spellings_says_so() -> None:
    for header in (
        {"name": "A", "isSecret": True, "is_secret": False, "value": "s3cret"},
        {"name": "A", "is_secret": True, "isSecret": False, "value": "s3cret"},
    ):
        remote = {"type": "sse", "url": "https://acme.test", "headers": [header]}
        assert "s3cret" not in json.dumps(detail(name="io.acme/docs", remotes=[remote]))


SCHEMAS = json.loads((Path(__file__).parents[3] / "data/mcp_registry_2025_12_01.json").read_text(encoding="utf-8"))
JUDGE = jsonschema.Draft202012Validator(
    {"$ref": "#/$defs/ServerResponse", "$defs": SCHEMAS["$defs"]}, format_checker=jsonschema.FormatChecker()
)
SCALARS = st.none() | st.booleans() | st.integers() | st.sampled_from(["stdio", "sse", "npm", "any", "", "latest"])
KEYS = st.sampled_from(["type", "name", "value", "isSecret", "is_secret", "valueHint", "choices", "default", "x"])
VALUES = st.recursive(
    SCALARS | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=5),
)
TYPES = st.sampled_from(["stdio", "sse", "streamable-http", "streamable"]) | VALUES
URLS = st.sampled_from(["https://x.test/mcp", "{base}/mcp"]) | VALUES
REMOTES = st.fixed_dictionaries(
    {"url": URLS}, optional={"type": TYPES, "transport_type": TYPES, "headers": VALUES, "variables": VALUES}
)
PACKAGES = st.fixed_dictionaries(
    {"identifier": st.just("x") | VALUES},
    optional={
        **dict.fromkeys(
            ("registryType", "registry_name", "version", "runtimeHint", "fileSha256", "registryBaseUrl"), VALUES
        ),
        **dict.fromkeys(("runtimeArguments", "package_arguments", "environmentVariables"), VALUES),
        "transport": REMOTES | VALUES,
    },
)
ICONS = st.fixed_dictionaries(
    {"src": URLS}, optional={"sizes": st.just(["any"]) | VALUES, "theme": VALUES, "mimeType": VALUES}
)
REPOSITORIES = st.fixed_dictionaries(
    {"url": st.just("https://x.test/y") | VALUES, "source": st.just("github") | VALUES},
    optional={"id": VALUES, "subfolder": VALUES},
)
FIELDS = st.fixed_dictionaries(
    {},
    optional={
        "packages": st.lists(PACKAGES, max_size=3) | VALUES,
        "remotes": st.lists(REMOTES, max_size=3) | VALUES,
        "icons": st.lists(ICONS, max_size=3) | VALUES,
        "repository": REPOSITORIES | VALUES,
        "websiteUrl": URLS,
        **dict.fromkeys(("_meta", "version", "title", "description"), VALUES),
    },
)


@given(FIELDS, st.text(min_size=1, max_size=150).filter(str.strip), st.text(max_size=300))
def test_any_registered_document_has_the_form_that_clients_read(
    document: dict[str, Any], name: str, description: str
) -> None:
    JUDGE.validate(published(ENTRY, name=name, description=description, document=document, created_at=AT))
