"""A client of the last 1.x of the official SDK, run by the interpreter of an environment that has it.

    python tests/e2e/mcp_1_client.py http://127.0.0.1:3000/mcp

It connects, lists, calls every tool that `ARGUMENTS` of tests/e2e/test_mcp.py names, reads a skill and gets a prompt,
and writes what it got as JSON. The SDK checks structured content by the schemas that were listed.
"""

from __future__ import annotations

import asyncio
import json
import sys
from typing import Any

from mcp import ClientSession  # type: ignore[attr-defined]
from mcp.client.streamable_http import streamablehttp_client  # type: ignore[attr-defined]


async def session(url: str, calls: dict[str, Any]) -> dict[str, Any]:
    """Return what a session got."""
    async with streamablehttp_client(url) as (read, write, _), ClientSession(read, write) as client:
        greeted = await client.initialize()
        listed = await client.list_tools()
        called = {name: await client.call_tool(name, arguments) for name, arguments in calls.items()}
        await client.send_ping()
        [skill, *_] = (await client.list_resources()).resources
        [prompt, *_] = (await client.list_prompts()).prompts
        arguments = {each.name: "x" for each in prompt.arguments or ()}
        return {
            "revision": greeted.protocolVersion,
            "tools": [tool.name for tool in listed.tools],
            "answers": {name: answer.structuredContent for name, answer in called.items() if not answer.isError},
            "skill": (await client.read_resource(skill.uri)).contents[0].text,
            "prompt": (await client.get_prompt(prompt.name, arguments)).messages[0].content.text,
        }


if __name__ == "__main__":
    print(json.dumps(asyncio.run(session(sys.argv[1], json.loads(sys.argv[2])))))  # noqa: T201
