"""FastMCP: a server with all tools behind its BM25 search transform, asked through the tool `search_tools`.

Tools keep their descriptions and schemas; a tool is called "server_name", which is what FastMCP makes of it when it
mounts several servers, so that the server's words count. What it answers is turned back into ids by the names.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping

from answering import LIMIT, Json, Search, serve
from fastmcp import FastMCP
from fastmcp.server.transforms.search import BM25SearchTransform
from fastmcp.tools import Tool


def load(given: Json) -> Mapping[str, Search]:
    logging.disable(logging.WARNING)  # a line for each name that MCP would write otherwise
    server: FastMCP[None] = FastMCP("all tools")
    id_of: dict[str, str] = {}
    for tool in given["tools"]:
        name = "_".join(filter(None, [tool.get("server"), tool["name"]]))
        if name in id_of:
            raise ValueError(f"{tool['id']} and {id_of[name]} are both called {name}: FastMCP would drop one of them")
        id_of[name] = tool["id"]
        schema = tool.get("input_schema") or {"type": "object", "properties": {}}
        server.add_tool(Tool(name=name, description=tool.get("description"), parameters=schema))
    server.add_transform(BM25SearchTransform(max_results=LIMIT))
    loop = asyncio.new_event_loop()

    def search(query: str) -> list[str]:
        answer = loop.run_until_complete(server.call_tool("search_tools", {"query": query}))
        return [id_of[found["name"]] for found in answer.structured_content["result"]]

    return {"fastmcp": search}


if __name__ == "__main__":
    serve(load, ["fastmcp"])
