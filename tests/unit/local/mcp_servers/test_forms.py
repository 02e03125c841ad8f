"""The files in which clients keep their MCP servers: each row of docs/import.md, read as its client does."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from skillroute_local.errors import Misused
from skillroute_local.importing.content import content_of
from skillroute_local.importing.running import is_client_file, is_config
from skillroute_local.mcp_servers.config import read_servers
from skillroute_local.mcp_servers.entry import server_of
from skillroute_local.mcp_servers.forms import EntryError, is_off, written
from skillroute_local.mcp_servers.model import HttpServer, ServersFile, StdioServer, ToolFilter
from skillroute_local.mcp_servers.variables import Variables

ENVIRONMENT = {"KEY": "k-1", "HOME": "/home/me"}
GIT: dict[str, Any] = {"command": "uvx", "args": ["mcp-server-git"], "env": {"TOKEN": "t"}}


def write(folder: Path, name: str, content: object) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    return path


def read(path: Path, workspace: Path | None = None) -> ServersFile:
    return read_servers(path, environment=ENVIRONMENT, workspace=workspace)


PLACES = [
    ("Claude Code", ".mcp.json", {"mcpServers": {"git": GIT}}),
    ("Claude Code", ".claude.json", {"mcpServers": {"git": GIT}, "projects": {}}),
    ("Claude Desktop", "claude_desktop_config.json", {"mcpServers": {"git": GIT}}),
    ("Cursor", ".cursor/mcp.json", {"mcpServers": {"git": GIT}}),
    ("VS Code", ".vscode/mcp.json", {"servers": {"git": {"type": "stdio", **GIT}}}),
    ("VS Code", "User/settings.json", {"mcp": {"servers": {"git": GIT}}}),
    ("VS Code", "all.code-workspace", {"settings": {"mcp": {"servers": {"git": GIT}}}}),
    ("Windsurf", "mcp_config.json", {"mcpServers": {"git": GIT}}),
    ("Cline", "cline_mcp_settings.json", {"mcpServers": {"git": {**GIT, "autoApprove": [], "timeout": 60}}}),
    ("Roo Code", "mcp_settings.json", {"mcpServers": {"git": {**GIT, "alwaysAllow": ["git_log"]}}}),
    ("Gemini CLI", ".gemini/settings.json", {"mcpServers": {"git": GIT}}),
    ("Qwen Code", ".qwen/settings.json", {"mcpServers": {"git": GIT}}),
    ("Copilot CLI", "mcp-config.json", {"mcpServers": {"git": {"type": "local", "tools": ["*"], **GIT}}}),
    ("Amp", ".amp/settings.json", {"amp.mcpServers": {"git": GIT}}),
    ("Zed", "zed/settings.json", {"context_servers": {"git": {"source": "custom", **GIT}}}),
    (
        "Zed, formerly",
        "zed/settings.json",
        {"context_servers": {"git": {"command": {"path": "uvx", "args": ["mcp-server-git"], "env": {"TOKEN": "t"}}}}},
    ),
    (
        "opencode",
        "opencode.json",
        {"mcp": {"git": {"type": "local", "command": ["uvx", "mcp-server-git"], "environment": {"TOKEN": "t"}}}},
    ),
    (
        "opencode, second version",
        "opencode.jsonc",
        {"mcp": {"servers": {"git": {"command": ["uvx", "mcp-server-git"], "environment": {"TOKEN": "t"}}}}},
    ),
    ("Crush", "crush.json", {"mcp": {"git": {"type": "stdio", **GIT}}}),
    (
        "Codex",
        ".codex/config.toml",
        '[mcp_servers.git]\ncommand = "uvx"\nargs = ["mcp-server-git"]\n[mcp_servers.git.env]\nTOKEN = "t"\n',
    ),
    (
        "Goose",
        "goose/config.yaml",
        "extensions:\n  developer: {type: builtin, enabled: true}\n"
        "  git: {type: stdio, enabled: true, cmd: uvx, args: [mcp-server-git], envs: {TOKEN: t}}\n",
    ),
    (
        "Continue",
        ".continue/config.yaml",
        "mcpServers:\n  - name: git\n    command: uvx\n    args: [mcp-server-git]\n    env: {TOKEN: t}\n",
    ),
    ("LibreChat", "librechat.yaml", "mcpServers:\n  git: {command: uvx, args: [mcp-server-git], env: {TOKEN: t}}\n"),
]


@pytest.mark.parametrize(("client", "name", "content"), PLACES, ids=[f"{row[0]} {row[1]}" for row in PLACES])
def test_a_program_is_found_where_its_client_keeps_it(tmp_path: Path, client: str, name: str, content: object) -> None:
    path = write(tmp_path, name, content)
    [server] = read(path).servers
    assert isinstance(server, StdioServer)
    assert (server.name, server.command, server.args, dict(server.env)) == (
        "git", "uvx", ("mcp-server-git",), {"TOKEN": "t"},
    )  # fmt: skip
    assert is_client_file(path)
    assert is_config(content_of(path))


REMOTE = [
    ("Claude", ".mcp.json", {"mcpServers": {"a": {"type": "http", "url": "U", "headers": {"K": "${KEY}"}}}}, "http"),
    ("Cursor", ".cursor/mcp.json", {"mcpServers": {"a": {"url": "U", "headers": {"K": "${env:KEY}"}}}}, "auto"),
    ("Windsurf", "mcp_config.json", {"mcpServers": {"a": {"serverUrl": "U", "headers": {"K": "${env:KEY}"}}}}, "auto"),
    ("Roo", "mcp.json", {"mcpServers": {"a": {"type": "streamable_http", "url": "U", "headers": {"K": "k-1"}}}},
     "http"),
    ("Gemini", ".gemini/settings.json", {"mcpServers": {"a": {"httpUrl": "U", "headers": {"K": "$KEY"}}}}, "http"),
    ("Gemini", ".gemini/settings.json", {"mcpServers": {"a": {"url": "U", "headers": {"K": "${KEY}"}}}}, "auto"),
    ("Zed", "zed/settings.json", {"context_servers": {"a": {"url": "U", "headers": {"K": "k-1"}}}}, "auto"),
    ("opencode", "opencode.json", {"mcp": {"a": {"type": "remote", "url": "U", "headers": {"K": "{env:KEY}"}}}},
     "auto"),
    ("Codex", ".codex/config.toml", '[mcp_servers.a]\nurl = "U"\nenv_http_headers = {K = "KEY"}\n', "auto"),
    ("Codex", ".codex/config.toml", '[mcp_servers.a]\nurl = "U"\nhttp_headers = {K = "k-1"}\n', "auto"),
    (
        "Goose",
        "goose/config.yaml",
        "extensions:\n  a: {type: streamable_http, uri: U, headers: {K: k-1}}\n",
        "http",
    ),
    (
        "Continue",
        ".continue/config.yaml",
        "mcpServers:\n  - {name: a, type: sse, url: U, requestOptions: {headers: {K: k-1}}}\n",
        "sse",
    ),
]  # fmt: skip


@pytest.mark.parametrize(
    ("client", "name", "content", "transport"), REMOTE, ids=[f"{row[0]} {row[1]}" for row in REMOTE]
)
def test_an_address_is_found_with_its_headers(
    tmp_path: Path, client: str, name: str, content: object, transport: str
) -> None:
    text = content if isinstance(content, str) else json.dumps(content)
    [server] = read(write(tmp_path, name, text.replace('"U"', '"http://a/mcp"').replace(" U", " http://a/mcp"))).servers
    assert isinstance(server, HttpServer)
    assert (server.url, dict(server.headers), server.transport) == ("http://a/mcp", {"K": "k-1"}, transport)


def test_a_token_that_codex_takes_from_a_variable_is_sent_and_a_missing_one_is_told(tmp_path: Path) -> None:
    written = '[mcp_servers.a]\nurl = "http://a/mcp"\nbearer_token_env_var = "{}"\n'
    [server] = read(write(tmp_path, "config.toml", written.format("KEY"))).servers
    assert isinstance(server, HttpServer)
    assert dict(server.headers) == {"Authorization": "Bearer k-1"}
    [problem] = read(write(tmp_path, "config.toml", written.format("NONE"))).problems
    assert problem.endswith("mcp_servers.a.bearer_token_env_var: the environment variable NONE is not set")


def test_variables_that_codex_and_goose_pass_on_come_from_the_environment(tmp_path: Path) -> None:
    codex = write(tmp_path, "config.toml", '[mcp_servers.a]\ncommand = "a"\nenv_vars = ["KEY", "NONE", "$KEY"]\n')
    goose = write(tmp_path, "config.yaml", "extensions:\n  a: {type: stdio, cmd: a, env_keys: [KEY]}\n")
    for path in (codex, goose):
        [server] = read(path).servers
        assert isinstance(server, StdioServer)
        assert dict(server.env) == {"KEY": "k-1"}


def test_in_arguments_an_entrys_own_variables_count_and_those_of_nobody_stay_as_they_are(tmp_path: Path) -> None:
    (tmp_path / "vars").write_text("FILED=f\n")
    entry = {
        "command": "npx",
        "args": ["${ZONE}", "Bearer ${AUTH_TOKEN}", "${env:KEY}", "${FILED}", "${HOME:-/}", "${NONE:-d}", "${NONE}"],
        "env": {"ZONE": "Europe/Rome", "AUTH_TOKEN": "${KEY}"},
        "envFile": str(tmp_path / "vars"),
    }
    [server] = read(write(tmp_path, "mcp.json", {"mcpServers": {"a": entry}})).servers
    assert isinstance(server, StdioServer)
    assert server.args == ("Europe/Rome", "Bearer k-1", "k-1", "f", "/home/me", "d", "${NONE}")


@pytest.mark.parametrize(
    ("name", "content"),
    [
        (".codex/config.toml", '[mcp_servers.a]\ncommand = "a"\nargs = ["${KEY}", "$KEY"]\n'),
        ("zed/settings.json", {"context_servers": {"a": {"command": "a", "args": ["${KEY}", "$KEY"]}}}),
    ],
)
def test_a_client_that_knows_no_variables_leaves_them_as_they_are(tmp_path: Path, name: str, content: object) -> None:
    [server] = read(write(tmp_path, name, content)).servers
    assert isinstance(server, StdioServer)
    assert server.args == ("${KEY}", "$KEY")


def test_the_variables_of_gemini_stay_as_they_are_where_they_are_not_set(tmp_path: Path) -> None:
    entry = {"command": "a", "args": ["$KEY", "${KEY}", "$NONE", "a$"], "env": {"A": "$NONE", "B": "$KEY/x"}}
    [server] = read(write(tmp_path, ".gemini/settings.json", {"mcpServers": {"a": entry}})).servers
    assert isinstance(server, StdioServer)
    assert (server.args, dict(server.env)) == (("k-1", "k-1", "$NONE", "a$"), {"A": "$NONE", "B": "k-1/x"})


def test_the_variables_of_opencode_are_its_own_and_may_be_files(tmp_path: Path) -> None:
    (tmp_path / "key").write_text("k-2\n")
    entry = {"type": "remote", "url": "http://a", "headers": {"A": "{file:key}", "B": "{env:NONE}", "C": "${KEY}"}}
    [server] = read(write(tmp_path, "opencode.json", {"mcp": {"a": entry}})).servers
    assert isinstance(server, HttpServer)
    assert dict(server.headers) == {"A": "k-2", "B": "", "C": "${KEY}"}
    entry["headers"] = {"A": "{file:none}"}
    [problem] = read(write(tmp_path, "opencode.json", {"mcp": {"a": entry}})).problems
    assert "mcp.a.headers.A: the file" in problem
    assert problem.endswith("cannot be read")


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"includeTools": ["a", "b(*)"], "excludeTools": ["b"]}, ToolFilter(("a", "b"), ("b",))),
        ({"enabled_tools": ["a"], "disabled_tools": ["c"]}, ToolFilter(("a",), ("c",))),
        ({"disabledTools": ["a_*"]}, ToolFilter((), ("a_*",))),
        ({"tools": ["*"]}, ToolFilter()),
        ({"tools": ["a"]}, ToolFilter(("a",))),
    ],
    ids=["Gemini", "Codex", "Windsurf, Roo, Kiro", "Copilot, all", "Copilot"],
)
def test_tools_that_an_entry_leaves_out_are_not_taken(
    tmp_path: Path, fields: dict[str, Any], expected: ToolFilter
) -> None:
    [server] = read(write(tmp_path, "mcp.json", {"mcpServers": {"a": {**GIT, **fields}}})).servers
    assert server.tools == expected
    assert ToolFilter((), ("a_*",)).takes("b")
    assert not ToolFilter((), ("a_*",)).takes("a_b")
    assert not ToolFilter(("a",), ()).takes("b")


def test_servers_that_a_file_switches_off_elsewhere_are_left_out(tmp_path: Path) -> None:
    servers = {"a": GIT, "b": GIT, "c": GIT}
    excluded = read(write(tmp_path, ".gemini/settings.json", {"mcp": {"excluded": ["a"]}, "mcpServers": servers}))
    assert (excluded.disabled, [server.name for server in excluded.servers]) == (("a",), ["b", "c"])
    allowed = read(write(tmp_path, ".gemini/settings.json", {"mcp": {"allowed": ["b"]}, "mcpServers": servers}))
    assert (allowed.disabled, [server.name for server in allowed.servers]) == (("a", "c"), ["b"])


def test_of_the_projects_in_one_file_that_of_the_working_directory_is_read(tmp_path: Path) -> None:
    mine = {"mcpServers": {"mine": GIT, "off": GIT}, "disabledMcpServers": ["off", "away"]}
    projects = {str(tmp_path.resolve()): mine, "/elsewhere": {"mcpServers": {"b": GIT}}}
    document = {"mcpServers": {"all": GIT, "away": GIT, "off": GIT}, "projects": projects}
    found = read(write(tmp_path, ".claude.json", document), tmp_path)
    assert ([server.name for server in found.servers], found.disabled) == (["mine", "all"], ("off", "away"))


def test_a_project_has_its_own_server_before_a_persons_of_that_name(tmp_path: Path) -> None:
    project = {"mcpServers": {"git": {"command": "mine"}}}
    document = {"mcpServers": {"git": GIT}, "projects": {str(tmp_path.resolve()): project}}
    found = read(write(tmp_path, ".claude.json", document), tmp_path)
    assert [server.command for server in found.servers if isinstance(server, StdioServer)] == ["mine"]
    assert "mcpServers.git is left out" in found.problems[0]


def test_of_two_servers_with_one_name_in_a_list_the_second_is_told(tmp_path: Path) -> None:
    listed = [{"name": "git", **GIT}, {"name": "git", "command": "other"}]
    found = read(write(tmp_path, ".continue/config.yaml", {"mcpServers": listed}))
    assert [server.command for server in found.servers if isinstance(server, StdioServer)] == ["uvx"]
    assert [problem.partition(": ")[2] for problem in found.problems] == [
        "mcpServers: a second server git is left out: rename one of them"
    ]


def test_secrets_of_continue_come_from_the_environment(tmp_path: Path) -> None:
    entry = {"name": "a", "command": "a", "args": ["${{ secrets.KEY }}", "${{x}}"], "env": {"A": "${{secrets.KEY}}"}}
    [server] = read(write(tmp_path, ".continue/config.yaml", {"mcpServers": [entry]})).servers
    assert isinstance(server, StdioServer)
    assert (server.args, dict(server.env)) == (("k-1", "${{x}}"), {"A": "k-1"})


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("${input:k}", "the input 'k' cannot be asked for here: set the environment variable INPUT_K"),
        ("${{ secrets.NONE }}", "the secret NONE is not known here: set the environment variable NONE"),
    ],
)
@pytest.mark.parametrize("field", ["args", "env"])
def test_what_only_its_client_could_put_in_is_an_error_in_arguments_too(
    tmp_path: Path, field: str, text: str, told: str
) -> None:
    entry = {"command": "a", "args": ["b", text]} if field == "args" else {"command": "a", "env": {"A": text}}
    [problem] = read(write(tmp_path, "mcp.json", {"mcpServers": {"a": entry}})).problems
    assert problem.partition("mcpServers.a")[2] == f"{'.args[1]' if field == 'args' else '.env.A'}: {told}"


@pytest.mark.parametrize("field", ["env_vars", "env_keys"])
@pytest.mark.parametrize("wrong", [5, "HOME", {"HOME": "1"}, True])
def test_variables_to_pass_on_that_are_no_list_spoil_no_other_server(tmp_path: Path, field: str, wrong: object) -> None:
    found = read(write(tmp_path, "mcp.json", {"mcpServers": {"a": {"command": "a", field: wrong}, "git": GIT}}))
    assert [server.name for server in found.servers] == ["git"]
    assert found.problems[0].endswith(f"mcpServers.a.{field} must be a list of names of variables")


_SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | st.sampled_from(["a", "", "KEY", "http://a", "*"])
_FIELDS = (
    *("command", "args", "env", "url", "type", "headers", "config", "cmd", "uri", "httpUrl", "requestOptions"),
    *("env_http_headers", "bearer_token_env_var", "env_vars", "env_keys", "environment", "path", "name", "tools"),
    *("includeTools", "excludeTools", "disabled", "enabled", "envFile", "cwd", "inheritEnv", "settings"),
)
_VALUES = st.recursive(
    _SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(_FIELDS), inner, max_size=3),
    max_leaves=6,
)
_PLACES = st.sampled_from(
    [
        *("mcpServers", "servers", "mcp", "settings", "projects", "/here", "extensions", "mcp_servers"),
        *("context_servers", "excluded", "allowed", "disabledMcpServers", "inputs"),
    ]
)
_DOCUMENTS = st.recursive(
    _VALUES, lambda inner: st.dictionaries(_PLACES, inner, max_size=4) | st.lists(inner, max_size=2), max_leaves=8
)


@given(_VALUES)
def test_an_entry_whose_fields_are_of_whatever_kinds_is_read_or_told(value: object) -> None:
    variables = Variables(environment=ENVIRONMENT, inputs={}, workspace=Path("/here"))
    for field in _FIELDS:
        for entry in ({"command": "a"}, {"url": "http://a"}, {}):
            try:
                assert server_of("a", {**entry, field: value}, "f: a", variables).name == "a"
            except EntryError as error:
                assert str(error)


@given(st.dictionaries(_PLACES, _DOCUMENTS, max_size=4), st.sampled_from(["mcp.json", "opencode.json", ".claude.json"]))
def test_a_document_of_whatever_kinds_is_read(document: dict[str, Any], name: str) -> None:
    for place in written(Path(name), document, Path("/here")):
        assert place.within
        for entry in place.entries.values() if isinstance(place.entries, dict) else ():
            is_off(entry)


def test_of_two_places_of_a_file_the_first_with_a_name_counts_and_the_other_is_told(tmp_path: Path) -> None:
    found = read(write(tmp_path, "settings.json", {"mcpServers": {"git": GIT}, "context_servers": {"git": GIT}}))
    assert [server.where.partition(": ")[2] for server in found.servers] == ["mcpServers.git"]
    assert "context_servers.git is left out" in found.problems[0]


def test_a_server_that_an_extension_starts_is_told_with_the_remedy(tmp_path: Path) -> None:
    document = {"context_servers": {"mcp-server-github": {"settings": {"token": "t"}}}}
    [problem] = read(write(tmp_path, "settings.json", document)).problems
    assert problem.endswith('is started by an extension of its client: name its "command" here to have it')


@pytest.mark.parametrize(("name", "kind"), [("config.toml", "TOML"), ("config.yaml", "YAML"), ("mcp.json", "JSON")])
def test_a_file_that_cannot_be_read_says_as_what(tmp_path: Path, name: str, kind: str) -> None:
    with pytest.raises(Misused, match=f"is not {kind}"):
        read(write(tmp_path, name, "{[" if kind != "YAML" else "a: [1"))
