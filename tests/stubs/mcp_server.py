"""An MCP server over stdio that behaves as its argument says: `python mcp_server.py good|hanging|dying|lying|...`.

Of the standard library alone, so that it starts at once and can break every rule. It speaks revision 2025-11-25.
"""

# ruff: noqa: PLR0911, PLR0912 (a table of answers)

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

TEXT = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}
PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
ECHO = {
    "name": "echo", "title": "Echo", "description": "Repeat a text exactly as it was given.", "inputSchema": TEXT,
    "annotations": {"readOnlyHint": True}, "x-of-the-server": {"kept": True},
}  # fmt: skip
PLAIN = {"type": "object"}
GOOD = [
    ECHO,
    {"name": "picture", "description": "Draw a picture of one dot.", "inputSchema": PLAIN},
    {"name": "weather", "description": "Tell the temperature of a city.", "inputSchema": PLAIN, "outputSchema": PLAIN},
    {"name": "fail", "description": "Fail, as a tool fails.", "inputSchema": PLAIN},
    {"name": "refuse", "description": "Answer with an error of the protocol.", "inputSchema": PLAIN},
    {"name": "count", "description": "Count to three and report progress.", "inputSchema": PLAIN},
    {"name": "wait", "description": "Wait until it is cancelled.", "inputSchema": PLAIN},
    {"name": "cancelled", "description": "Say how many calls were cancelled.", "inputSchema": PLAIN},
    {"name": "grow", "description": "Get another tool.", "inputSchema": PLAIN},
    {"name": "pid", "description": "Say the id of the process.", "inputSchema": PLAIN},
]
LYING = [
    ECHO,
    {"name": "wordy", "description": "Its schema is a string.", "inputSchema": "object"},
    {"name": "listy", "description": "Its schema is of a list.", "inputSchema": {"type": "array"}},
    {"description": "It has no name.", "inputSchema": PLAIN},
    "no object",
    ECHO,
    {"name": "odd", "description": "Its schema is no JSON schema.",
     "inputSchema": {"type": "object", "properties": {"n": {"type": "whole number"}}}},
    {"name": "numb", "description": "It answers a call with a number.", "inputSchema": PLAIN},
]  # fmt: skip

HOSTILE = [
    {"name": "big", "description": "Answer with as many bytes as it is asked for.", "inputSchema": PLAIN},
    {"name": "babble", "description": "Write lines that are no messages.", "inputSchema": PLAIN},
    {"name": "spawn", "description": "Start a program that does not end.", "inputSchema": PLAIN},
]


def send(message: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


class Server:
    def __init__(self, behaviour: str) -> None:
        self.behaviour = behaviour
        self.cancelled = 0
        self.grown = 0

    def serve(self) -> None:
        for line in sys.stdin:
            message = json.loads(line)
            if message["method"] == "notifications/cancelled":
                self.cancelled += 1
            if "id" not in message or self.behaviour == "hanging":
                continue
            if answer := self.answer(message["id"], message["method"], message.get("params") or {}):
                send({"id": message["id"], **answer})

    def answer(self, request: Any, method: str, params: dict[str, Any]) -> dict[str, Any] | None:
        match method:
            case "server/discover" if self.behaviour == "strict":
                sys.exit("no method server/discover")
            case "initialize":
                if self.behaviour == "dying":
                    sys.exit("the token is missing")
                return {"result": {
                    "protocolVersion": "2025-11-25", "serverInfo": {"name": "stub", "title": "Stub", "version": "1.2"},
                    "capabilities": {"tools": {"listChanged": True}, "prompts": {}, "resources": {}},
                    "instructions": "For tests.",
                }}  # fmt: skip
            case "tools/list":
                return self.tools(params.get("cursor"))
            case "prompts/list":
                arguments = [{"name": "language", "required": True}]
                return {"result": {"prompts": [
                    {"name": "review", "description": "Review a piece of code.", "arguments": arguments},
                ]}}  # fmt: skip
            case "resources/list":
                return {"result": {"resources": [
                    {"name": "readme", "uri": "file:///readme.md", "mimeType": "text/markdown"},
                ]}}  # fmt: skip
            case "prompts/get":
                message = {"role": "user", "content": text(f"Review this {params['arguments']['language']}.")}
                return {"result": {"messages": [message]}}
            case "resources/read":
                return {"result": {"contents": [{"uri": params["uri"], "mimeType": "text/markdown", "text": "# Hi"}]}}
            case "tools/call":
                return self.call(request, params)
            case _:
                return {"error": {"code": -32601, "message": f"no method {method}"}}

    def tools(self, cursor: str | None) -> dict[str, Any] | None:
        match self.behaviour:
            case "silent-list":
                return None
            case "no-list":
                return {"error": {"code": -32603, "message": "the list is lost"}}
            case "endless":
                number = int(cursor or 0)
                return {"result": {"tools": [ECHO | {"name": f"echo_{number}"}], "nextCursor": str(number + 1)}}
            case "circular":
                return {"result": {"tools": [ECHO | {"name": f"echo_{cursor}"}], "nextCursor": "round"}}
            case "huge":
                start = int(cursor or 0)
                page = [ECHO | {"name": f"echo_{number}"} for number in range(start, start + 1_000)]
                return {"result": {"tools": page, **({"nextCursor": str(start + 1_000)} if start < 9_000 else {})}}
            case "long-page":
                return {"result": {"tools": [ECHO | {"name": f"echo_{number}"} for number in range(10_000)]}}
            case "crowded":
                return {"result": {"tools": [ECHO | {"name": f"echo_{number}"} for number in range(100_000)]}}
            case "hostile":
                return {"result": {"tools": HOSTILE}}
            case "lying":
                return {"result": {"tools": LYING}}
        return {"result": {"tools": GOOD + [ECHO | {"name": f"echo_{number}"} for number in range(self.grown)]}}

    def call(self, request: Any, params: dict[str, Any]) -> dict[str, Any] | None:
        arguments = params.get("arguments") or {}
        match params["name"]:
            case "picture":
                return content({"type": "image", "data": PIXEL, "mimeType": "image/png", "_meta": {"dots": 1}})
            case "weather":
                return content(text('{"celsius": 21.5}'), structuredContent={"celsius": 21.5}, _meta={"from": "stub"})
            case "fail":
                return content(text("the disk is full"), isError=True)
            case "refuse":
                return {"error": {"code": -32042, "message": "not today", "data": {"until": "tomorrow"}}}
            case "say":
                return {"error": arguments}
            case "count":
                token = params["_meta"]["progressToken"]
                for step in (1, 2, 3):
                    progress = {"progressToken": token, "progress": step, "total": 3, "message": f"step {step}"}
                    send({"method": "notifications/progress", "params": progress})
                return content(text("three"))
            case "wait":
                return None
            case "cancelled":
                return content(text(str(self.cancelled)))
            case "grow":
                self.grown += 1
                send({"method": "notifications/tools/list_changed"})
                return content(text("grown"))
            case "pid":
                return content(text(str(os.getpid())))
            case "big":
                self.write_big(request, **arguments)
                return None
            case "half" | "formless":  # half of a surrogate pair, as JSON writes it; a result that is none
                whole = '{"content":[{"type":"text","text":"a\\ud83d"}]}'
                result = whole if params["name"] == "half" else "7"
                sys.stdout.write(f'{{"jsonrpc":"2.0","id":{json.dumps(request)},"result":{result}}}\n')
                sys.stdout.flush()
                return None
            case "babble":
                sys.stdout.write("no message\n" * arguments["lines"])
                sys.stderr.write("\x1b[2Jan error\n" * arguments.get("errors", 0))
                sys.stderr.flush()
            case "spawn":  # a child that outlives its parent, and does not end when it is asked to
                code = "import signal, time; signal.signal(15, signal.SIG_IGN); print(flush=True); time.sleep(600)"
                child = subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
                assert child.stdout is not None
                child.stdout.readline()
                return content(text(str(child.pid)))
            case "environment":
                return content(text(json.dumps(dict(os.environ))))
            case "inventory":
                return {"result": {"content": [], "tools": [ECHO, {"bad": 1}]}}
            case "numb":
                return {"result": {"content": 7}}
            case "exit":
                sys.exit("leaving")
        return content(text(arguments.get("text", "")))

    def write_big(self, request: Any, bytes: int, *, last: bool = False, hidden: bool = False) -> None:  # noqa: A002
        """Write an answer of so many bytes, with its id at the beginning, at the end, or at neither."""
        result = '"result":{"content":[{"type":"text","text":"' + "x" * bytes + '"}]}'
        id_ = f'"id":{json.dumps(request)}'
        if hidden:
            result = f'"a":"{"x" * 9_000}",{id_},{result}'
        parts = ['"jsonrpc":"2.0"', *([result] if hidden else [result, id_] if last else [id_, result])]
        sys.stdout.write("{" + ",".join(parts) + "}\n")
        sys.stdout.flush()


def text(value: str) -> dict[str, Any]:
    return {"type": "text", "text": value}


def content(*blocks: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"result": {"content": list(blocks), **more}}


if __name__ == "__main__":
    behaviour, *files = sys.argv[1:]
    for file in files:  # counts its starts
        with Path(file).open("a") as starts:
            starts.write(f"{os.getpid()}\n")
    Server(behaviour).serve()
