"""langgraph-bigtool: its own retrieval tool on LangGraph's store in memory, set up as its README does.

Each tool is stored as "name: description" under the encoder that it is given; its name is "server_name", as when the
tools of several servers are bound to one agent. Its default of 2 tools is raised to what everybody is asked for.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from answering import LIMIT, Json, Search, serve
from langgraph.store.memory import InMemoryStore
from langgraph_bigtool.tools import get_default_retrieval_tool
from local_model import DIMENSION, LocalModel


def load(given: Json) -> Mapping[str, Search]:
    return {name: _search(given["tools"], Path(folder)) for name, folder in given["encoders"].items()}


def _search(tools: list[Json], encoder: Path) -> Search:
    store = InMemoryStore(index={"embed": LocalModel(encoder), "dims": DIMENSION, "fields": ["description"]})
    for tool in tools:
        name = "_".join(filter(None, [tool.get("server"), tool["name"]]))
        store.put(("tools",), tool["id"], {"description": f"{name}: {tool.get('description') or ''}"})
    retrieve_tools, _ = get_default_retrieval_tool(("tools",), limit=LIMIT)
    return lambda query: retrieve_tools(query, store=store)


if __name__ == "__main__":
    serve(load, ["langgraph-bigtool", "langgraph", "numpy", "onnxruntime"])
