"""GIVEN a company with six servers and three roles, WHEN agents search and call, THEN each cell of a table holds.

The four servers that were not written here are started by the SDK as the table has them; with
SKILLROUTE_REGISTRY_SERVERS, the folders into which `make test-company` installed them, by their own programs.
"""

from __future__ import annotations

import asyncio
import os
import re
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

import pytest
from fastapi.testclient import TestClient
from mcp import Client
from skillroute.core.embedding.hashing import HashingEmbedder

from tests.api.bad_tokens import KEYS, OURS
from tests.api.mcp_calls import call, result
from tests.api.one_app import app_over
from tests.api.tokens import JWT, claims
from tests.builders import System, lent_system
from tests.conftest import fresh_database
from tests.e2e.company import ROLES, RULES, Row, server_of_table, table
from tests.e2e.company_programs import programs, server_of_program

REGISTRY_SERVERS = os.environ.get("SKILLROUTE_REGISTRY_SERVERS")
TABLE = table()


@dataclass
class Company:
    """The company's Skillroute, and what its servers were called."""

    system: System
    client: TestClient
    called: Counter[tuple[str, str]]
    ids: dict[tuple[str, str], int]
    texts: dict[tuple[str, str], str]

    def as_role(self, letter: str) -> dict[str, str]:
        """Return the header of a caller with a role."""
        token = claims("search", "acme", sub=ROLES[letter], roles=[ROLES[letter]])
        return {"authorization": f"Bearer {OURS.sign(token)}"}


ADMIN = {"authorization": f"Bearer {OURS.sign(claims('admin', 'acme', sub='kim'))}"}


async def tools_of(url: str) -> list[dict[str, Any]]:
    """Return what a server lists, as an item of the catalogue."""
    async with Client(url) as client:
        found = (await client.list_tools()).tools
    given = [tool.model_dump(by_alias=True, mode="json", exclude_none=True) for tool in found]
    return [
        {
            "name": each["name"],
            "description": each.get("description") or each["name"],
            "input_schema": each["inputSchema"],
            "annotations": each.get("annotations", {}),
        }
        for each in given
    ]


@pytest.fixture(
    scope="module",
    params=[
        "sdk",
        pytest.param("registries", marks=pytest.mark.skipif(not REGISTRY_SERVERS, reason="make test-company has them")),
    ],
)
def company(request, postgres_server, migrated_template, edge_indexes, tmp_path_factory) -> Iterator[Company]:  # type: ignore[no-untyped-def]
    called: Counter[tuple[str, str]] = Counter()
    own = programs(REGISTRY_SERVERS, tmp_path_factory.mktemp("work")) if request.param == "registries" else {}
    with ExitStack() as stack:
        at = {
            server: stack.enter_context(
                server_of_program(server, own[server], called) if server in own else server_of_table(server, called)
            )
            for server in dict.fromkeys(row.server for row in TABLE)
        }
        url = stack.enter_context(fresh_database(postgres_server, migrated_template))
        hosts = ",".join(address.removesuffix("/mcp") for address in at.values())
        system = stack.enter_context(
            lent_system(
                url,
                edge_indexes,
                embedder=HashingEmbedder(),
                calls="one",
                call_private_hosts=hosts,
                **JWT,
                jwt_keys=KEYS,
            )
        )
        client = TestClient(app_over(system), raise_server_exceptions=False)
        yield Company(system, client, called, *filled(client, at))


def filled(client: TestClient, at: dict[str, str]) -> tuple[dict[tuple[str, str], int], dict[tuple[str, str], str]]:
    """Register the servers, their tools and the company's rules over HTTP; return ids and descriptions of the tools."""
    servers = [
        {"path": f"/{name}", "name": name, "remotes": [{"type": "streamable-http", "url": url}]}
        for name, url in at.items()
    ]
    assert client.put("/api/v1/servers", json={"servers": servers}, headers=ADMIN).status_code == 200
    for name, url in at.items():
        items = [{"server": name, **tool} for tool in asyncio.run(tools_of(url))]
        written = client.put("/api/v1/tools", json={"items": items}, headers=ADMIN)
        assert written.status_code == 200, written.text
    for rule in RULES:
        assert client.post("/api/v1/access/rules", json=rule, headers=ADMIN).status_code == 201
    listed = client.get("/api/v1/tools", params={"limit": 1000}, headers=ADMIN).json()
    ids = {(each["server"], each["name"]): each["id"] for each in listed}
    return ids, {(each["server"], each["name"]): each["description"] for each in listed}


def of_role(letter: str) -> set[tuple[str, str]]:
    return {(row.server, row.name) for row in TABLE if letter in row.roles}


def pairs(tools: list[dict[str, Any]]) -> set[tuple[str, str]]:
    return {(each["server"], each["name"]) for each in tools}


def test_the_table_has_200_tools_which_are_those_of_the_servers(company: Company) -> None:
    assert len(TABLE) == len(company.ids) == 200
    assert company.ids.keys() == {(row.server, row.name) for row in TABLE}


@pytest.mark.parametrize("letter", ROLES)
def test_a_role_lists_and_counts_what_the_table_gives_it(company: Company, letter: str) -> None:
    headers, expected = company.as_role(letter), of_role(letter)
    listed = company.client.get("/api/v1/tools", params={"limit": 1000}, headers=headers).json()
    assert pairs(listed) == expected
    servers = company.client.get("/api/v1/servers", headers=headers).json()
    counted = {each["name"]: each["tool_count"] for each in servers}
    assert counted == Counter(server for server, _ in expected)
    described = {tool["name"]: tool["description"] for tool in result(company.client, "tools/list", **headers)["tools"]}
    assert f"The catalogue holds {len(expected)} tools" in described["search_tools"]


@pytest.mark.parametrize("letter", ROLES)
def test_a_role_finds_what_the_table_gives_it_at_each_door(company: Company, letter: str) -> None:
    headers, wrong = company.as_role(letter), []
    for row in TABLE:
        about = f"{row.name}: {company.texts[row.server, row.name]}"[:500]
        body = {"query": about, "server": [row.server], "limit": 50, "mode": "hybrid", "strategy": "direct"}
        answer = company.client.post("/api/v1/search", json=body, headers=headers)
        assert answer.status_code == 200, answer.text
        told = call(company.client, "search_tools", {"query": about, "server": [row.server], "limit": 50}, **headers)
        for door, tools in (("http", answer.json()["tools"]), ("mcp", told["structuredContent"]["tools"])):
            assert pairs(tools) <= of_role(letter)
            if ((row.server, row.name) in pairs(tools)) is not (letter in row.roles):
                wrong.append((door, row))
    assert wrong == []


@pytest.mark.parametrize("letter", ROLES)
def test_a_role_calls_what_the_table_gives_it(company: Company, letter: str) -> None:
    headers, wrong = company.as_role(letter), []
    company.called.clear()
    for row in TABLE:
        if not may_be_sent(row):
            continue
        id_ = company.ids[row.server, row.name]
        before = sum(company.called.values())
        answer = call(company.client, "call_tool", {"id": id_}, **headers)
        has_come = sum(company.called.values()) - before == company.called[row.server, row.name] == 1
        text = answer["content"][0].get("text", "") if answer["content"] else ""
        is_refused = bool(re.match(rf"no tool has the id {id_}\b", text))
        if has_come is not (letter in row.roles) or is_refused is has_come:
            wrong.append((row, text))
    assert wrong == []


def may_be_sent(row: Row) -> bool:
    """Leave out what takes ten seconds of a server's own time."""
    return row.name not in {"trigger-long-running-operation", "simulate-research-query"} or not REGISTRY_SERVERS
