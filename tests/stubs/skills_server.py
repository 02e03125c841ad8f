"""An MCP server over stdio that serves Agent Skills, of revision 2026-07-28: `python skills_server.py BEHAVIOUR`.

Of the standard library alone. `good` serves as the extension says; the others break one of its rules each.
"""

from __future__ import annotations

import base64
import hashlib
import json
import sys
from typing import Any

LOGO = b"\x89PNG\x00"
FILES = {
    "skill://git-workflow/SKILL.md": b"---\nname: git-workflow\ndescription: Follow Git conventions\n---\n# Branches\n",
    "skill://acme/billing/refunds/SKILL.md": b"---\nname: refunds\ndescription: Pay back\nlicense: MIT\n---\nBody.\n",
    "skill://acme/billing/refunds/examples/an%20email.md": b"Dear customer\r\n",
    "skill://acme/billing/refunds/logo.png": LOGO,
    "skill://reports/daily/SKILL.md": b"---\nname: daily\ndescription: Assemble a report\n---\n",
}
FRONT: dict[str, dict[str, Any]] = {
    "skill://git-workflow/": {"name": "git-workflow", "description": "Follow Git conventions"},
    "skill://acme/billing/refunds/": {"name": "refunds", "description": "Pay back", "license": "MIT"},
    "skill://reports/daily/": {"name": "daily", "description": "Assemble a report"},
}


def entries(behaviour: str) -> list[Any]:
    """Return the entries of skills/list."""
    found: list[Any] = []
    for root, front in FRONT.items():
        files = [
            {"uri": uri, "digest": f"sha256:{hashlib.sha256(content).hexdigest()}", "size": len(content)}
            for uri, content in FILES.items()
            if uri.startswith(root)
        ]
        found.append({"uri": f"{root}SKILL.md", "frontmatter": dict(front), "resources": files})
    found[2]["resources"] = "dynamic"
    refunds = found[1]
    match behaviour:
        case "digest":
            refunds["resources"][1]["digest"] = "sha256:" + "0" * 64
        case "size":
            refunds["resources"][1]["size"] += 1
        case "frontmatter":
            refunds["frontmatter"]["description"] = "Harmless"
        case "name":
            refunds["frontmatter"]["name"] = "other"
        case "outside":
            refunds["resources"][1]["uri"] = "skill://git-workflow/SKILL.md"
        case "twice":
            refunds["resources"].append(refunds["resources"][1])
        case "without":
            del refunds["resources"]
        case "large":
            refunds["resources"][2]["size"] = 2 << 20
        case "traversal":
            refunds["resources"][1]["uri"] = "skill://acme/billing/refunds/..%2F..%2F%1B[2Jx"
        case "formless":
            found[1] = 7
        case "escape":
            refunds["uri"] = "skill://acme/billing/\x1b[2Jrefunds/SKILL.md"
    return found


def result(behaviour: str, method: str, params: dict[str, Any]) -> dict[str, Any] | None:
    """Return the result of a request; None where there is no such method."""
    cached = {"resultType": "complete", "ttlMs": 0, "cacheScope": "private"}
    extensions = {} if behaviour == "plain" else {"io.modelcontextprotocol/skills": {}}
    match method:
        case "server/discover":
            info = {"io.modelcontextprotocol/serverInfo": {"name": "skills", "version": "1"}}
            capabilities = {"resources": {}, "extensions": extensions}
            return {**cached, "_meta": info, "supportedVersions": ["2026-07-28"], "capabilities": capabilities}
        case "resources/list":
            listed = [{"name": uri.rpartition("/")[2], "uri": uri} for uri in FILES]
            return {**cached, "resources": [*listed, {"name": "readme", "uri": "file:///readme.md"}]}
        case "skills/list" if behaviour != "plain":
            place = int(params.get("cursor") or 0)
            last = place + 1 == len(FRONT)
            following = {} if last else {"nextCursor": "0" if behaviour == "circular" else str(place + 1)}
            return {**cached, "skills": entries(behaviour)[place : place + 1], **following}
        case "resources/read":
            content = FILES[params["uri"]]
            if behaviour == "long" and b"customer" in content:
                content = b"x" * 17_000_000
            kind = {"blob": base64.b64encode(content).decode()} if content == LOGO else {"text": content.decode()}
            return {**cached, "contents": [{"uri": params["uri"], **kind}]}
    return None


def main() -> None:
    for line in sys.stdin:
        message = json.loads(line)
        if "id" not in message:
            continue
        found = result(sys.argv[1], message["method"], message.get("params") or {})
        error = {"code": -32601, "message": f"no method {message['method']}"}
        answer = {"error": error} if found is None else {"result": found}
        sys.stdout.write(json.dumps({"jsonrpc": "2.0", "id": message["id"], **answer}) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
