"""What the document promises, on Docker's MCP catalogue with the real model. Skipped where the data are not at hand."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from skillroute.core.caller import LAPTOP
from skillroute.core.settings import SearchSettings
from skillroute.registry.search.model import Fusion, RegistrySearchRequest
from skillroute.wiring import Parts

DATA = Path(os.environ.get("SKILLROUTE_CATALOGUES") or Path(__file__).parents[5] / "shared" / "data")
CATALOGUE = DATA / "docker-mcp-catalog"

pytestmark = pytest.mark.skipif(not CATALOGUE.exists(), reason=f"{CATALOGUE} is not there")

Find = Callable[[str, Fusion], list[str]]


def lines(name: str) -> list[dict[str, object]]:
    return [json.loads(line) for line in (CATALOGUE / name).read_text("utf-8").splitlines()]


@pytest.fixture
def find(database_url: str) -> Iterator[Find]:
    parts = Parts(SearchSettings(database_url=database_url))
    servers = {server["path"]: server | {"tools": []} for server in lines("servers.jsonl")}
    for tool in lines("tools.jsonl"):
        tools = servers[f"/{tool['server']}"]["tools"]
        assert isinstance(tools, list)
        tools.append({name: tool[name] for name in ("name", "description")})
    every = list(servers.values())
    for start in range(0, len(every), 100):
        report = parts.registry.sync("server", every[start : start + 100], LAPTOP)
        assert report.count("created") == len(every[start : start + 100])

    def search(query: str, fusion: Fusion) -> list[str]:
        answer = parts.registry_search(RegistrySearchRequest(query=query, fusion=fusion), LAPTOP)
        assert answer.search_mode == "hybrid"
        return [server.path for server in answer.servers]

    yield search
    parts.close()


def test_a_server_is_found_by_its_name_and_by_what_it_is_for(find: Find) -> None:
    fusions: tuple[Fusion, ...] = ("boost", "rrf", "coverage")
    for fusion in fusions:
        assert find("context7 docs", fusion)[0] == "/context7"
        assert "/context7" in find("I need to look up library documentation", fusion)
        assert find("context7", fusion)[0] == "/context7"
