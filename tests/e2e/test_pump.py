"""The event pump beside `skillroute up`, and what the command line says of the queues."""

from __future__ import annotations

import json
from pathlib import Path

import psutil
from skillroute_local.queue_server import find_queues, sqs_client

from tests.e2e.processes import HASHING, Processes, Up, cli, eventually, has_ended
from tests.e2e.work import is_idle, pump_of, queues

_TOOL = {"server": "garden", "name": "water_plants", "description": "Opens the valves of the irrigation."}


def test_the_examples_are_classified_in_the_background(running: Up) -> None:
    eventually(lambda: is_idle(running), "nothing waits")

    done = cli(running.home.path, "dlq", "list")

    assert (done.returncode, done.stdout, done.stderr) == (0, "nothing was given up\n", "")


def test_a_killed_pump_comes_back_and_takes_up_what_waits(home: Path, processes: Processes) -> None:
    server = processes.up(home, "--no-examples", **HASHING).ready()
    first = eventually(lambda: pump_of(server), "the pump runs")

    psutil.Process(first).kill()
    server.put(_TOOL)

    second = eventually(lambda: pump_of(server) not in {None, first} and pump_of(server), "another one runs")
    eventually(lambda: is_idle(server), "nothing waits")
    assert server.interrupt() == 0
    assert has_ended(second)
    assert "Traceback" not in server.output


def test_the_pump_of_a_killed_one_ends(home: Path, processes: Processes) -> None:
    server = processes.up(home, "--no-examples", **HASHING).ready()
    pump = eventually(lambda: pump_of(server), "the pump runs")

    server.kill()

    eventually(lambda: has_ended(pump), "the pump ends")


def test_what_waited_when_it_was_killed_is_done_by_the_next_one(home: Path, processes: Processes) -> None:
    # GIVEN tools that nobody classified, whose messages are gone with the queues
    killed = processes.up(home, "--no-examples", "--no-pump", **HASHING).ready()
    killed.put(_TOOL)
    assert queues(killed)["classify"]["waiting"] == 1
    assert pump_of(killed) is None
    killed.kill()

    server = processes.up(home, "--no-examples", **HASHING).ready()

    eventually(lambda: is_idle(server), "nothing waits")


def test_dead_letters_are_listed_redriven_and_dropped(home: Path, processes: Processes) -> None:
    # GIVEN a tool whose work was given up, and a message that nobody can read
    server = processes.up(home, "--no-examples", "--no-pump", **HASHING).ready()
    [result] = server.put(_TOOL)["results"]
    run = server.home.running()
    assert run is not None
    url = find_queues(run.sqs_url)["skillroute-classify-dlq"]
    client = sqs_client(run.sqs_url)
    for body in (json.dumps({"tool_id": result["id"]}), "[bold]what is this?"):
        client.send_message(QueueUrl=url, MessageBody=body)
    client.close()

    listed = cli(home, "dlq", "list")
    assert (listed.returncode, listed.stderr) == (0, "")
    header, *rows, hint = listed.stdout.splitlines()
    assert header.split() == ["queue", "id", "tool", "attempts", "since", "reason"]
    assert sorted("garden/water_plants" in row for row in rows) == [False, True]
    assert sorted("it cannot be read: body: is not JSON" in row for row in rows) == [False, True]
    assert "`skillroute dlq redrive` tries again" in hint
    assert queues(server)["classify"]["dead_letters"] == 2

    redriven = cli(home, "dlq", "redrive", "classify", str(result["id"]))
    assert (redriven.returncode, redriven.stdout) == (0, "classify: 1 tried again\n")
    assert queues(server)["classify"]["ready"] > 0
    unknown = cli(home, "dlq", "redrive", "classify", "12345")
    assert (unknown.returncode, unknown.stderr) == (1, "nothing was given up for 12345\n")

    dropped = cli(home, "dlq", "drop")
    assert dropped.returncode == 0
    assert dropped.stdout.endswith("1 deleted\n")
    assert json.loads(cli(home, "dlq", "list", "--json").stdout) == []


def test_the_commands_explain_themselves(home: Path) -> None:
    overall = cli(home, "dlq", "--help")

    assert overall.returncode == 0
    for name in ("list", "redrive", "drop"):
        assert f" {name} " in overall.stdout


def test_with_nothing_running_one_line_says_what_to_do(home: Path) -> None:
    done = cli(home, "dlq", "list")

    assert (done.returncode, done.stdout) == (3, "")
    assert done.stderr.startswith(f"skillroute: nothing runs in {home}: start it with `skillroute up`")
    assert not home.exists()
