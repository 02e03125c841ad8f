"""A company for tests: six servers with 200 tools, three roles, the rules of access, and who may call which tool."""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from mcp.server.lowlevel import Server
from mcp.types import CallToolResult, ListToolsResult, TextContent, Tool, ToolAnnotations

from tests.integration.calling.servers import serving

ROLES = {"A": "analyst", "E": "engineer", "S": "support"}

RULES: list[dict[str, Any]] = [
    {"name": "analysts read", "effect": "allow", "roles": ["analyst"], "hints": ["read_only"]},
    {"name": "no mail for analysts", "effect": "deny", "roles": ["analyst"], "servers": ["mail"]},
    {
        "name": "engineers build",
        "effect": "allow",
        "roles": ["engineer"],
        "servers": ["git", "filesystem", "everything"],
    },
    {"name": "support answers", "effect": "allow", "roles": ["support"], "servers": ["mail", "time"]},
    {"name": "support destroys nothing", "effect": "deny", "roles": ["support"], "hints": ["destructive"]},
]

# What a tool declares: r reads, w writes and destroys nothing, d destroys, - nothing. Then who finds and calls it.
# The first four servers are those of PyPI and npm: mcp-server-time and -git, @modelcontextprotocol/server-filesystem
# and -everything, as their releases of October 2026 have it.
_TABLE = """
time        r A.S  get_current_time convert_time
git         r AE.  git_status git_diff_unstaged git_diff_staged git_diff git_log git_show git_branch
git         w .E.  git_commit git_add git_create_branch git_checkout
git         d .E.  git_reset
filesystem  r AE.  read_file read_text_file read_media_file read_multiple_files list_directory
filesystem  r AE.  list_directory_with_sizes directory_tree search_files get_file_info list_allowed_directories
filesystem  w .E.  create_directory
filesystem  d .E.  write_file edit_file move_file
everything  r AE.  echo get-annotated-message get-env get-resource-links get-resource-reference
everything  r AE.  get-structured-content get-sum get-tiny-image trigger-long-running-operation
everything  w .E.  gzip-file-as-resource toggle-simulated-logging toggle-subscriber-updates simulate-research-query
mail        r ..S  read_thread_{0:10}
mail        w ..S  draft_reply_{0:10}
mail        d ...  purge_folder_{0:5}
mail        - ...  forward_rule_{0:5}
warehouse   r A..  report_sales_{0:100}
warehouse   w ...  load_batch_{0:20}
warehouse   - ...  drop_partition_{0:9}
"""

_ANNOTATIONS: dict[str, dict[str, bool]] = {
    "r": {"readOnlyHint": True},
    "w": {"readOnlyHint": False, "destructiveHint": False},
    "d": {"readOnlyHint": False, "destructiveHint": True},
    "-": {},
}


@dataclass(frozen=True, slots=True)
class Row:
    """A tool of the table: what it declares, and the letters of the roles that find and call it."""

    server: str
    name: str
    declared: str
    roles: str

    def tool(self) -> Tool:
        """Return it as its server lists it."""
        given = _ANNOTATIONS[self.declared]
        annotations = ToolAnnotations.model_validate(given) if given else None
        about = self.name.replace("_", " ").replace("-", " ")
        schema = {"type": "object", "properties": {}}
        return Tool(name=self.name, description=f"{about}.", input_schema=schema, annotations=annotations)


def table() -> list[Row]:
    """Return all rows; ``{0:3}`` at the end of a name stands for three tools."""
    rows = []
    for line in _TABLE.strip().splitlines():
        server, declared, roles, *names = line.split()
        for each in names:
            stem, _, count = each.removesuffix("}").partition("{0:")
            numbered = [f"{stem}{number:03d}" for number in range(int(count))] if count else [each]
            rows += [Row(server, name, declared, roles) for name in numbered]
    return rows


Answer = Callable[[str, dict[str, Any]], Awaitable[CallToolResult]]


async def answer_alike(name: str, arguments: dict[str, Any]) -> CallToolResult:
    """Answer as a tool that says its name."""
    return CallToolResult(content=[TextContent(type="text", text=f"done: {name}")])


def app_of(server: str, tools: list[Tool], answer: Answer, called: Counter[tuple[str, str]]) -> Any:
    """Return a server of the official SDK over streamable HTTP, which counts what is called."""

    async def list_tools(*_: Any) -> ListToolsResult:
        return ListToolsResult(tools=tools)

    async def call_tool(_: Any, params: Any) -> CallToolResult:
        called[server, params.name] += 1
        return await answer(params.name, params.arguments or {})

    return Server(server, on_list_tools=list_tools, on_call_tool=call_tool).streamable_http_app()


@contextmanager
def server_of_table(server: str, called: Counter[tuple[str, str]]) -> Iterator[str]:
    """Serve a server whose tools are those of the table, and lend its address."""
    tools = [row.tool() for row in table() if row.server == server]
    with serving(app_of(server, tools, answer_alike, called)) as url:
        yield f"{url}/mcp"
