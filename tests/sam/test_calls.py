"""Function `call` in a container, and a real MCP server on this machine that it calls: over the network, both ways."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, closing
from typing import Any

from skillroute.catalogue.model import ItemFilter
from skillroute.core.caller import LAPTOP
from skillroute.core.settings import LocalSettings
from skillroute.wiring import Parts
from skillroute_local.docker_bridge import host_for_containers
from skillroute_local.handlers import lambda_client

from tests.events import ADMIN_ROLE
from tests.integration.calling.servers import Seen, sdk_server, serving
from tests.sam.world import World, invoke

Make = Callable[..., AbstractContextManager[World]]

TOOLS = [{"name": name, "description": f"The tool {name}."} for name in ("add", "fail")]


def registered(url: str, database_url: str) -> dict[str, int]:
    """Register the server and its tools, and return their ids."""
    with closing(Parts(LocalSettings(database_url=database_url, embedding_provider="hashing"))) as parts:
        remotes = [{"type": "streamable-http", "url": f"{url}/mcp"}]
        parts.registry.sync("server", [{"path": "/calc", "name": "calc", "remotes": remotes, "tools": TOOLS}], LAPTOP)
        page, _ = parts.mcp.read_items.page(ItemFilter(), LAPTOP, limit=10, offset=0)
        return {item.content.key.name: item.id for item in page}


def test_a_tool_is_called_over_the_network_and_hosts_that_are_not_listed_are_not(make_world: Make) -> None:
    host, _ = host_for_containers()
    server = sdk_server(Seen()).streamable_http_app(host=host)
    with serving(server, "on", host=host) as url:
        address = url.removeprefix("http://")
        listed = f"CallPrivateHosts=http://{address}"
        with (
            make_world("AuthMode=iam", f"AdminRoleArns={ADMIN_ROLE}", listed) as world,
            world.sam.serving("start-lambda") as endpoint,
            closing(lambda_client(endpoint)) as client,
        ):
            ids = registered(url, world.database_url)

            def call(name: str, arguments: dict[str, Any]) -> Any:
                caller = {"org_id": None, "name": "ann", "scopes": ["search"]}
                event = {"caller": caller, "tool_id": ids[name], "arguments": arguments}
                return invoke(client, "call", event)["result"]

            assert call("add", {"a": 2, "b": 3})["structuredContent"] == {"total": 5}
            assert call("fail", {})["isError"] is True
            with world.sql() as sql:
                [[kept]] = sql("SELECT count(*) FROM mcp.trace WHERE kind = 'call' AND door = 'function'")
                sql(
                    "UPDATE mcp.registry_entities "
                    f"SET document = replace(document::text, '{address}', '127.0.0.1:1')::json"
                )
            assert kept == 2
            refused = call("add", {"a": 2, "b": 3})
            assert refused["isError"] is True
            assert "127.0.0.1" in refused["content"][0]["text"]
