"""`skillroute import` from where tools live, against a Skillroute that runs."""

from __future__ import annotations

import json
import signal
import sys
from pathlib import Path

from skillroute_client import Skillroute

from tests.e2e.processes import Running, Up, cli, environment, eventually

_CLI = "import sys; sys.argv[0] = 'skillroute'; from skillroute_local.cli import main; main()"
_STUB = Path(__file__).parents[1] / "stubs" / "mcp_server.py"

OPENAPI = """
openapi: 3.0.3
info: {title: Lighthouse}
paths:
  /lamps/{id}:
    put:
      operationId: lightLamp
      summary: Light a lamp of the lighthouse
      parameters: [{name: id, in: path, required: true, schema: {type: integer}}]
      requestBody: {content: {application/json: {schema: {$ref: '#/components/schemas/Lamp'}}}}
    get: {operationId: getLamp, parameters: [{name: id, in: body}]}
components: {schemas: {Lamp: {type: object, properties: {colour: {type: string, nullable: true}}}}}
"""


def answer(*names: str) -> str:
    tools = [{"name": name, "description": f"To {name} a boat.", "inputSchema": {"type": "object"}} for name in names]
    return json.dumps({"jsonrpc": "2.0", "id": 1, "result": {"tools": tools}}, indent=2)


def names(running: Up, server: str) -> list[str]:
    return sorted(item["name"] for item in running.items(server=server))


def active(running: Up, server: str) -> list[str]:
    return sorted(item["name"] for item in running.items(server=server, is_active="true"))


def test_a_tools_list_answer_is_imported_shown_and_pruned(running: Up, tmp_path: Path) -> None:
    file = tmp_path / "listed.json"
    file.write_text(answer("moor", "row"), encoding="utf-8")
    args = ("import", str(file), "--server", "harbour")

    shown = cli(running.home.path, *args, "--dry-run")
    assert (shown.returncode, names(running, "harbour")) == (0, [])
    assert shown.stdout.splitlines() == [
        "+ harbour/moor",
        "+ harbour/row",
        "2 created, 0 updated, 0 unchanged, 0 failed",
    ]
    assert "nothing was changed: this was a dry run" in shown.stderr

    assert cli(running.home.path, *args).stdout == "2 created, 0 updated, 0 unchanged, 0 failed\n"
    file.write_text(answer("moor", "sail"), encoding="utf-8")
    refused = cli(running.home.path, *args, "--prune")
    assert (refused.returncode, refused.stdout) == (4, "1 created, 0 updated, 1 unchanged, 0 failed\n")
    assert "listed.json: 1 of 3 tools of harbour are in it no longer, more than 10 %" in refused.stderr
    assert active(running, "harbour") == ["moor", "row", "sail"]
    shown = cli(running.home.path, *args, "--dry-run", "--prune=all")
    assert shown.stdout.splitlines() == ["- harbour/row", "0 created, 0 updated, 2 unchanged, 0 failed, 1 removed"]

    done = cli(running.home.path, *args, "--prune=all")
    assert done.stdout == "0 created, 0 updated, 2 unchanged, 0 failed, 1 removed\n"
    assert active(running, "harbour") == ["moor", "sail"]
    file.write_text(answer("moor", "row", "sail"), encoding="utf-8")
    back = cli(running.home.path, *args)
    assert back.stdout == "0 created, 1 updated, 2 unchanged, 0 failed, 1 switched on\n"
    assert active(running, "harbour") == ["moor", "row", "sail"]


def test_operations_of_an_openapi_document_are_found(running: Up, tmp_path: Path) -> None:
    file = tmp_path / "lighthouse.yaml"
    file.write_text(OPENAPI, encoding="utf-8")

    done = cli(running.home.path, "import", str(file))

    assert (done.returncode, done.stdout) == (4, "2 created, 0 updated, 0 unchanged, 0 failed\n")
    assert (
        "lighthouse.yaml#/paths/~1lamps~1{id}/get/parameters/0/in: left out: must be one of cookie, header, path, query"
        in done.stderr
    )
    [tool, *_] = running.search("light a lamp of the lighthouse", strategy="direct")["tools"]
    assert (tool["server"], tool["name"]) == ("lighthouse", "lightLamp")
    assert tool["input_schema"]["properties"]["body"] == {
        "type": "object",
        "description": "What is sent: colour",
        "properties": {"colour": {"type": ["string", "null"]}},
    }


def test_agent_skills_are_found_by_their_bodies(running: Up, tmp_path: Path) -> None:
    folder = tmp_path / "toolbox" / "knots"
    folder.mkdir(parents=True)
    text = "---\nname: knots\ndescription: Tie nautical knots such as the bowline.\n---\nTake a rope.\n"
    (folder / "SKILL.md").write_text(text, encoding="utf-8")

    done = cli(running.home.path, "import", str(tmp_path / "toolbox"))

    assert (done.returncode, done.stdout) == (0, "agent skills: 1 created, 0 updated, 0 unchanged, 0 failed\n")
    with Skillroute(running.url) as client:
        [skill] = [each for each in client.agent_skills.list() if each.path == "knots"]
        assert client.agent_skills.file(skill.id, skill.files[0].digest) == text.encode()
        # A word of its body that its description does not have.
        [found, *_] = client.search_agent_skills("take a rope").agent_skills
        client.agent_skills.delete(skill.id)  # other tests ask the same Skillroute
    assert (skill.path, found.path, found.matched.part) == ("knots", "knots", "body")


def test_mcp_servers_are_imported_and_registered(running: Up, tmp_path: Path) -> None:
    servers = {
        "stub": {"command": sys.executable, "args": [str(_STUB), "good"]},
        "dying": {"command": sys.executable, "args": [str(_STUB), "dying"]},
    }
    config = tmp_path / "mcp.json"
    config.write_text(json.dumps({"mcpServers": servers}), encoding="utf-8")

    shown = cli(running.home.path, "import", str(config), "--register", "--dry-run")
    done = cli(running.home.path, "import", str(config), "--register")

    assert (shown.returncode, done.returncode) == (4, 4)
    assert "+ /stub\n" in shown.stdout
    assert "+ stub/review (prompt)\n" in shown.stdout
    for each in (shown, done):
        assert each.stdout.endswith(
            "12 created, 0 updated, 0 unchanged, 1 failed\nservers: 1 created, 0 updated, 0 unchanged, 0 failed\n"
        )
    assert "mcp.json: dying: its program ended before it answered the handshake" in done.stderr
    assert len(running.items(server="stub")) == 12
    [found] = running.http.get("/api/v1/servers", params={"path": "/stub"}).json()
    assert (found["name"], found["description"], found["tool_count"]) == ("Stub", "For tests.", 10)


def test_a_dry_run_of_servers_and_agents_shows_their_tools_too(running: Up, tmp_path: Path) -> None:
    servers, card = tmp_path / "servers.jsonl", tmp_path / "card.json"
    tools = [{"name": "calm"}]
    servers.write_text(json.dumps({"path": "/tide", "name": "Tide", "tools": tools}) + "\n", encoding="utf-8")
    card.write_text(json.dumps({"name": "Pilot", "url": "https://pilot.example"}), encoding="utf-8")
    args = ("import", "--servers", str(servers), "--agents", str(card), "--dry-run")

    first = cli(running.home.path, *args)
    cli(running.home.path, *args[:-1])
    servers.write_text(json.dumps({"path": "/tide", "name": "Tides", "tools": [{"name": "rise"}]}), encoding="utf-8")
    second = cli(running.home.path, *args)

    assert first.stdout.splitlines()[:3] == ["+ /tide", "+ tide/calm", "+ /pilot"]
    assert second.stdout.splitlines() == [
        "~ /tide  name, server_json",
        "+ tide/rise",
        "- tide/calm",
        "servers: 0 created, 1 updated, 0 unchanged, 0 failed; "
        "their tools: 1 created, 0 updated, 0 unchanged, 1 removed",
        "agents: 0 created, 0 updated, 1 unchanged, 0 failed",
    ]


def test_a_source_that_is_watched_is_imported_again_when_it_changes(running: Up, tmp_path: Path) -> None:
    file = tmp_path / "listed.json"
    file.write_text(answer("anchor"), encoding="utf-8")
    args = ("import", str(file), "--server", "quayside", "--watch", "--prune=all")
    watching = Running(_CLI, args, environment(running.home.path), tmp_path / "output.txt")
    try:
        eventually(lambda: names(running, "quayside") == ["anchor"], "it is imported")
        eventually(lambda: "watching; Ctrl-C ends it" in watching.output, "it watches")
        file.write_text("{broken", encoding="utf-8")
        eventually(lambda: "listed.json:1:2: is not JSON" in watching.output, "what is wrong is shown")
        file.write_text(answer("cast off"), encoding="utf-8")
        eventually(lambda: active(running, "quayside") == ["cast off"], "the change is imported")

        assert watching.interrupt(signal.SIGINT) == 0
    finally:
        watching.kill()


def test_options_that_contradict_are_one_line(running: Up, tmp_path: Path) -> None:
    file = tmp_path / "a.json"
    file.write_text("[]", encoding="utf-8")

    for args, said in (
        ((str(file), "--format", "xml"), "--format: 'xml' is not one of backup, jsonl, "),
        ((str(file), "--prune=most"), "Invalid value for '--prune': 'most' is not one of 'some', 'all'"),
        (("--prune", str(tmp_path / "none")), f"no such file: {tmp_path / 'none'}"),
        ((str(file), "--dry-run", "--watch"), "--dry-run shows one import, and --watch repeats it"),
        (("--mcp", "true"), "--mcp needs --server: "),
        ((str(tmp_path / "none"),), f"no such file: {tmp_path / 'none'}"),
        (("--servers", str(tmp_path)), f"no such file: {tmp_path}"),
    ):
        done = cli(running.home.path, "import", *args)
        assert (done.returncode, done.stdout) == (2, "")
        assert f"skillroute: {said}" in done.stderr
