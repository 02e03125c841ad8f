"""Reading an `mcp.json` in the forms that people have, and what is wrong with one."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from skillroute_local.errors import LocalError
from skillroute_local.mcp_servers.config import read_servers, unique
from skillroute_local.mcp_servers.model import HttpServer, McpServer, ServersFile, StdioServer

ENVIRONMENT = {"TOKEN": "s3cret", "EMPTY": "", "INPUT_API_KEY": "k-1"}


def read(directory: Path, document: object) -> ServersFile:
    path = directory / "mcp.json"
    path.write_text(document if isinstance(document, str) else json.dumps(document))
    return read_servers(path, environment=ENVIRONMENT, workspace=directory)


def one(directory: Path, entry: object) -> McpServer:
    found = read(directory, {"mcpServers": {"it": entry}})
    assert found.problems == ()
    [server] = found.servers
    return server


def problem(directory: Path, entry: object) -> str:
    found = read(directory, {"mcpServers": {"it": entry, "fine": {"command": "fine"}}})
    assert [server.name for server in found.servers] == ["fine"]
    [wrong] = found.problems
    prefix = f"{directory / 'mcp.json'}: mcpServers.it"
    assert wrong.startswith(prefix)
    return wrong.removeprefix(prefix)


def test_the_form_of_claude_is_read(tmp_path: Path) -> None:
    server = one(tmp_path, {"command": "uvx", "args": ["mcp-server-git", "--depth", 3], "env": {"A": "${TOKEN}"}})
    assert isinstance(server, StdioServer)
    assert (server.command, server.args, dict(server.env)) == (
        "uvx",
        ("mcp-server-git", "--depth", "3"),
        {"A": "s3cret"},
    )


def test_the_form_of_cursor_is_read(tmp_path: Path) -> None:
    server = one(tmp_path, {"url": "https://example.com/mcp", "headers": {"Authorization": "Bearer ${env:TOKEN}"}})
    assert isinstance(server, HttpServer)
    assert (server.url, dict(server.headers)) == ("https://example.com/mcp", {"Authorization": "Bearer s3cret"})


def test_the_form_of_vs_code_is_read_with_its_comments_and_inputs(tmp_path: Path) -> None:
    text = """
    {
      // the servers of this project
      "inputs": [{"type": "promptString", "id": "region", "default": "eu"}, {"type": "promptString", "id": "api-key"}],
      "servers": {
        "local": {"type": "stdio", "command": "${workspaceFolder}/run", "args": ["https://no-comment", "/* nor */",],},
        "remote": {"type": "http", "url": "https://${input:region}.a.org/mcp", "headers": {"k": "${input:api-key}"}},
        "old": {"type": "sse", "url": "http://localhost:1/sse"} /* of last year */
      }
    }
    """
    found = read(tmp_path, text)
    assert found.problems == ()
    local, remote, old = found.servers
    assert isinstance(local, StdioServer)
    assert (local.command, local.args) == (f"{tmp_path.resolve()}/run", ("https://no-comment", "/* nor */"))
    assert isinstance(remote, HttpServer)
    assert (remote.url, dict(remote.headers)) == ("https://eu.a.org/mcp", {"k": "k-1"})
    assert isinstance(old, HttpServer)
    assert old.transport == "sse"


def test_the_settings_of_vs_code_are_read(tmp_path: Path) -> None:
    assert [server.name for server in read(tmp_path, {"mcp": {"servers": {"a": {"command": "a"}}}}).servers] == ["a"]


def test_what_is_switched_off_is_not_read_further(tmp_path: Path) -> None:
    document = {"mcpServers": {"a": {"disabled": True}, "b": {"enabled": False, "command": 3}, "c": {"command": "c"}}}
    found = read(tmp_path, document)
    assert ([server.name for server in found.servers], found.disabled, found.problems) == (["c"], ("a", "b"), ())


def test_defaults_stand_in_for_variables_that_are_not_set_or_empty(tmp_path: Path) -> None:
    server = one(tmp_path, {"command": "a", "args": ["${NONE:-d}", "${EMPTY:-d}", "${EMPTY}", "${TOKEN:-d}", "${a b}"]})
    assert isinstance(server, StdioServer)
    assert server.args == ("d", "d", "", "s3cret", "${a b}")


def test_secrets_are_not_shown(tmp_path: Path) -> None:
    for entry in ({"command": "a", "args": ["--key", "${TOKEN}"], "env": {"A": "${TOKEN}"}},
                  {"url": "https://u:${TOKEN}@example.com", "headers": {"A": "${TOKEN}"}}):  # fmt: skip
        assert "s3cret" not in repr(one(tmp_path, entry))


def test_a_file_of_variables_is_read_under_those_of_env(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("A=1\nB='two words'\n# no\n")
    server = one(tmp_path, {"command": "a", "envFile": "${workspaceFolder}/.env", "env": {"A": "2"}})
    assert isinstance(server, StdioServer)
    assert dict(server.env) == {"A": "2", "B": "two words"}


@pytest.mark.parametrize(
    ("entry", "expected"),
    [
        ("uvx", ' must be an object with "command" or "url"'),
        ({}, ' has neither "command" nor "url"'),
        ({"command": " "}, ".command is missing: name the program that is the server"),
        ({"command": {"path": ["uvx"]}}, ".command must be a string"),
        ({"command": "a", "args": "b"}, ".args must be a list of strings"),
        ({"command": "a", "args": ["b", None]}, ".args[1] must be a string"),
        ({"command": "a", "env": ["B=1"]}, ".env must be an object of strings"),
        ({"command": "a", "env": {"B": "${NONE}"}}, ".env.B: the environment variable NONE is not set"),
        ({"command": "a\0"}, ".command must not contain a NUL character"),
        ({"command": "a", "envFile": "/none"}, ".envFile: there is no file /none"),
        ({"url": "example.com"}, ".url must begin with http:// or https://"),
        ({"type": "http"}, ".url is missing"),
        ({"type": "ws", "url": "ws://a"}, ".type must be one of stdio, http, streamable-http, "
         "streamableHttp, streamable_http, sse"),
        ({"url": "http://a", "headers": {"k": "${input:my key}"}}, ".headers.k: the input 'my key' cannot be asked for "
         "here: set the environment variable INPUT_MY_KEY"),
    ],
)  # fmt: skip
def test_a_server_that_is_wrong_is_named_with_its_field_and_spoils_no_other(
    tmp_path: Path, entry: object, expected: str
) -> None:
    assert problem(tmp_path, entry) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", "is not JSON: Expecting value: line 1 column 1"),
        ('{"mcpServers": {"a": }}', "is not JSON: Expecting value: line 1 column 22"),
        ("[" * 100_000, "is not JSON"),
        ("[]", 'must be an object with "mcpServers" or "servers"'),
        ("{}", "names no servers"),
        ('{"mcpServers": []}', "mcpServers must be an object"),
        ("\xff\xfe", "cannot be read (it is not UTF-8)"),
    ],
)
def test_a_file_that_is_wrong_is_named(tmp_path: Path, text: str, expected: str) -> None:
    path = tmp_path / "mcp.json"
    path.write_bytes(text.encode("latin-1"))
    with pytest.raises(LocalError) as raised:
        read_servers(path)
    assert str(raised.value).startswith(str(path))
    assert expected in str(raised.value)


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(LocalError, match=r"none.json cannot be read \(No such file or directory\): name the mcp.json"):
        read_servers(tmp_path / "none.json")


def test_of_two_servers_of_one_name_the_first_is_taken() -> None:
    first, second, other = StdioServer("a", "1: a", "x"), StdioServer("a", "2: a", "y"), StdioServer("b", "2: b", "z")
    servers, problems = unique([first, second, other])
    assert servers == [first, other]
    assert problems == ["2: a has a name that is taken by 1: a: rename one of them"]


@pytest.mark.parametrize("value", ["Bearer s-1\n", "s-1\r\nX: 1", "schlüssel-s-1", " s-1", "s-1\x7f"])
def test_a_header_that_http_does_not_allow_is_named_without_its_value(tmp_path: Path, value: str) -> None:
    wrong = problem(tmp_path, {"url": "http://a", "headers": {"X-Key": value}})
    assert wrong.startswith(".headers.X-Key has a character that HTTP does not allow")
    assert "s-1" not in wrong


def test_a_header_may_be_a_secret_of_the_keyring(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kept = {("skillroute", "notes"): "s-1"}
    keyring = SimpleNamespace(get_password=lambda service, name: kept.get((service, name)))
    monkeypatch.setitem(sys.modules, "keyring", keyring)
    server = one(tmp_path, {"url": "http://a", "headers": {"A": "Bearer keyring:notes", "B": "keyring:notes"}})
    assert isinstance(server, HttpServer)
    assert dict(server.headers) == {"A": "Bearer s-1", "B": "s-1"}
    wrong = problem(tmp_path, {"url": "http://a", "headers": {"A": "keyring:other"}})
    assert wrong == ".headers.A: keyring:other is not there: keyring set skillroute other"


def test_an_environment_file_or_folder_that_cannot_be_read_spoils_its_entry_alone(tmp_path: Path) -> None:
    (tmp_path / "latin").write_bytes(b"A=\xe9")
    assert problem(tmp_path, {"command": "a", "envFile": str(tmp_path / "latin")}).endswith("(it is not UTF-8)")
    assert "cannot be read (File name too long)" in problem(tmp_path, {"command": "a", "envFile": "x" * 5_000})
    for field in ("envFile", "cwd"):
        wrong = problem(tmp_path, {"command": "a", field: "~nobody-has-this-name/a"})
        assert wrong == f".{field}: no user has the folder ~nobody-has-this-name is"


@pytest.mark.parametrize("unclosed", ["/* ", '"\\"'])
def test_a_file_of_what_is_never_closed_is_read_once(tmp_path: Path, unclosed: str) -> None:
    # Looked for anew at each place, the ends of these would take minutes.
    with pytest.raises(LocalError, match="is not JSON"):
        read(tmp_path, '{"mcpServers": ' + unclosed * 500_000)


def test_an_entry_may_ask_for_the_whole_environment(tmp_path: Path) -> None:
    for asked, inherits in ({}, False), ({"inheritEnv": False}, False), ({"inheritEnv": True}, True):
        server = one(tmp_path, {"command": "run", **asked})
        assert isinstance(server, StdioServer)
        assert server.inherits is inherits
    assert problem(tmp_path, {"command": "run", "inheritEnv": "yes"}) == ".inheritEnv must be true or false"


def test_nothing_of_this_machine_is_put_into_a_file_that_came_from_elsewhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TOKEN", "hush")
    (tmp_path / ".env").write_text("TOKEN=hush", "utf-8")
    web = {"url": "https://example.com/mcp"}
    servers = {
        "plain": web,
        "variable": web | {"headers": {"x": "${TOKEN}"}},
        "keyring": web | {"headers": {"x": "keyring:skillroute"}},
        "home": {"url": "https://example.com/${userHome}"},
        "program": {"command": "run", "args": ["${TOKEN}"], "envFile": str(tmp_path / ".env")},
    }
    path = tmp_path / "mcp.json"
    path.write_text(json.dumps({"mcpServers": servers}), "utf-8")

    found = read_servers(path, is_foreign=True)

    plain, program = found.servers
    assert isinstance(plain, HttpServer)
    assert plain.config is None  # no stored login is for it
    assert isinstance(program, StdioServer)
    assert (program.args, program.env) == (("${TOKEN}",), {"envFile": ""})
    assert [problem.partition("mcpServers.")[2].partition(".")[0] for problem in found.problems] == [
        "variable",
        "keyring",
        "home",
    ]
    assert "hush" not in repr(found)
