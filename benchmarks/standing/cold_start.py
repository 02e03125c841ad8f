"""Cold starts of the functions, in the container that Lambda runs them in, with the layers that `make build` built.

Each run is a container of its own with the function's memory, and the share of a processor that Lambda gives to that
much (1,769 MB is one). *init* is from the start of the interpreter until the function's module is imported, Lambda's
runtime client included; *first* is the first answer after that; *total* both; *second* the next answer. Medians of
milliseconds. *secret* reads the database's URL from (moto's) Secrets Manager first, as a deployment does; the others
are given it. What is not in it: the time that Lambda takes to find a machine and to load the layers onto it, which
nobody can measure without AWS; files come from the page cache here. Nor is TLS with the database, some 40 ms of
certificates and a round trip.

The environment is a new one of a deployment that is not new: before the runs that count, one of the same kind has
answered, so *classify* finds the vectors of the skills' texts where it left them.

    make build && python -m benchmarks.standing.cold_start --json results/cold_start.json

SKILLROUTE_SAM_IMAGE names another image than AWS's. Without Docker, an image or a build, it says so and measures
nothing.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import statistics
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pg8000.native
from botocore.session import Session
from moto.server import ThreadedMotoServer
from skillroute.core.postgres.address import Address
from skillroute_local.commands.sam_env import UNSET
from skillroute_local.docker_bridge import DESKTOP_HOST, host_for_containers
from skillroute_local.errors import LocalError
from skillroute_local.gateway import http_event, signed_by
from skillroute_local.queue_server import QueueServer, ensure_queues, queue_environment

from benchmarks.corpora.corpus import Corpus, Filler
from benchmarks.harness import ROOT, arguments, console, fresh_database, print_table, progress, save
from benchmarks.standing.cold_containers import (
    BUILD,
    Containers,
    Function,
    built,
    compiled_runtime,
    image,
    without_bytecode,
)
from benchmarks.standing.filled import fill_points

_ROLE = "arn:aws:iam::123456789012:role/agent-gateway"  # the one that signed the events
_SHOWN_IMPORTS = 8

# What the first event finds: two tools that nobody has classified, the skill of the events not made yet.
_AFRESH = (
    "DELETE FROM mcp.outbox",
    "DELETE FROM mcp.tool_classifications WHERE tool_id IN (1, 2)",
    "DELETE FROM mcp.tool_skill_assignments WHERE tool_id IN (1, 2)",
    "DELETE FROM mcp.skill_categories WHERE id = 'calendar_management'",
    "DELETE FROM mcp.tools WHERE server = 'calendar' AND name IN ('create_event', 'find_free_time')",
)

_INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "cold-start", "version": "1"},
    },
}

Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Case:
    """A first event for a function, and what the total should not exceed, in milliseconds."""

    function: str
    event: str
    target_ms: int | None = None


_CASES = (
    Case("search", "search", 1200),
    # What a client sends first, what it sends next, and a search that comes before either.
    Case("mcp", "mcp_initialize", 1200),
    Case("mcp", "mcp_tools_list", 1200),
    Case("mcp", "mcp_call", 1200),
    Case("skills", "skills_list", 800),
    Case("skills", "tool_skills_get"),
    Case("catalog", "catalog_list"),
    Case("catalog", "catalog_put"),
    Case("classify", "sqs_classify", 600),
    Case("aggregate", "sqs_aggregate", 600),
    Case("learn", "sqs_learn"),
    Case("call", "call_tool", 600),
    Case("relay", "schedule_relay", 600),
)


def measured(case: Case, function: Function, runs: Sequence[Mapping[str, float]]) -> Row:
    """Return a row of medians."""
    init, total, second = (statistics.median(run[name] for run in runs) for name in ("init", "first", "second_ms"))
    first = statistics.median(run["first"] - run["init"] for run in runs)
    return {
        "function": case.function,
        "event": case.event,
        "memory_mb": function.memory_mb,
        "init_ms": round(init, 1),
        "first_ms": round(first, 1),
        "total_ms": round(total, 1),
        "worst_ms": round(max(run["first"] for run in runs), 1),
        "target_ms": case.target_ms or "",
        "second_ms": round(second, 1),
    }


def imports(report: str) -> Counter[str]:
    """Return the microseconds that importing took, by top-level package, of what ``-X importtime`` wrote."""
    taken: Counter[str] = Counter()
    for self_us, name in re.findall(r"import time:\s+(\d+) \|\s+\d+ \|\s+(\S+)", report):
        taken[name.partition(".")[0]] += int(self_us)
    return taken


def import_row(case: Case, report: str) -> Row:
    """Return the packages that take longest to import, in milliseconds as the report slows them down."""
    taken = imports(report)
    top = [f"{name} {us / 1000:.0f}" for name, us in taken.most_common(_SHOWN_IMPORTS)]
    total_ms = round(taken.total() / 1000, 1)
    return {"function": case.function, "event": case.event, "imports_ms": total_ms, "of that": ", ".join(top)}


@contextmanager
def surroundings(tools: int) -> Iterator[tuple[dict[str, str], dict[str, str], Any]]:
    """Lend what functions are told of a database with tools, by URL and by secret, and what runs SQL there."""
    host, on_linux = host_for_containers()
    with fresh_database() as url, QueueServer() as queues:
        filler = Filler(url, Corpus(7, None))
        filler.fill(tools)
        filler.close()
        fill_points(url)
        at = Address.parse(url)
        connection = pg8000.native.Connection(
            at.user, host=at.host, port=at.port, password=at.password, database=at.database, ssl_context=False
        )
        variables = {
            "SKILLROUTE_AUTH": "iam",
            "SKILLROUTE_IAM_ADMINS": _ROLE,
            "SKILLROUTE_DATABASE_URL": f"{url}?sslmode=disable",
            "AWS_REGION": "eu-central-1",
            "AWS_DEFAULT_REGION": "eu-central-1",
            **queue_environment(queues.url, ensure_queues(queues.url)),
            **UNSET,
        }
        if not on_linux:
            variables = {name: value.replace("127.0.0.1", host) for name, value in variables.items()}
        with secret_of(variables["SKILLROUTE_DATABASE_URL"]) as secret:
            try:
                yield variables, variables | {"SKILLROUTE_DATABASE_URL": ""} | secret, connection.run
            finally:
                connection.close()


@contextmanager
def secret_of(url: str) -> Iterator[dict[str, str]]:
    """Lend the settings of a function that finds a database's URL in Secrets Manager."""
    server = ThreadedMotoServer("127.0.0.1", 0, verbose=False)
    server.start()
    address, port = server.get_host_and_port()
    endpoint = f"http://{address}:{port}"
    client = Session().create_client(
        "secretsmanager",
        region_name="eu-central-1",
        endpoint_url=endpoint,
        aws_access_key_id="x",
        aws_secret_access_key="x",
    )
    arn = client.create_secret(Name="database", SecretString=json.dumps({"url": url}))["ARN"]
    client.close()
    yield {
        "SKILLROUTE_DATABASE_SECRET_ARN": arn,
        "AWS_ENDPOINT_URL_SECRETS_MANAGER": endpoint,
        "AWS_ACCESS_KEY_ID": "x",
        "AWS_SECRET_ACCESS_KEY": "x",
    }
    server.stop()


def events(folder: Path) -> Path:
    """Lay the events of the cases into a folder: those that are kept, and some that are not."""
    target = shutil.copytree(ROOT / "events", folder / "events")
    made = {
        "tool_skills_get": ("GET /api/v1/tools/1/skills", None),
        "mcp_initialize": ("POST /mcp", _INITIALIZE),
        "mcp_tools_list": ("POST /mcp", {"jsonrpc": "2.0", "id": 2, "method": "tools/list"}),
    }
    for name, (route, body) in made.items():
        event = http_event(route, body, signed_by(_ROLE))
        (target / f"{name}.json").write_text(json.dumps(event), encoding="utf-8")
    return target


def measure(args: argparse.Namespace, folder: Path) -> dict[str, list[Row]]:
    """Measure every case, as it is built and with more and less bytecode."""
    cases = [case for case in _CASES if case.function in args.functions]
    functions = built(dict.fromkeys(case.function for case in cases), folder)
    runtime = compiled_runtime(folder)
    results: dict[str, list[Row]] = {
        "starts": [],
        "compiled_runtime": [],
        "secret": [],
        "without_bytecode": [],
        "imports": [],
    }
    on_host_network = host_for_containers()[0] != DESKTOP_HOST
    with surroundings(args.tools) as (environment, with_secret, sql), progress() as bar:
        asked = events(folder)
        given = Containers(image(), environment, asked, on_host_network=on_host_network)
        on_secret = Containers(image(), with_secret, asked, on_host_network=on_host_network)

        def run(
            function: Function, event: str, *options: str, containers: Containers = given
        ) -> tuple[dict[str, float], str]:
            for statement in _AFRESH:
                sql(statement)
            return containers.run(function, event, *options)

        for case in bar.track(cases, description="cold starts"):
            function = functions[case.function]
            run(function, case.event)  # into the page cache
            variants = {"starts": function, "without_bytecode": without_bytecode(function, folder)}
            variants |= {} if runtime is None else {"compiled_runtime": replace(function, runtime=runtime)}
            for variant, started in variants.items():
                times = [run(started, case.event)[0] for _ in range(args.runs)]
                results[variant].append(measured(case, started, times))
            most = variants.get("compiled_runtime", function)
            times = [run(most, case.event, containers=on_secret)[0] for _ in range(args.runs)]
            results["secret"].append(measured(case, most, times))
            results["imports"].append(import_row(case, run(function, case.event, "--imports")[1]))
    return results


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--runs", type=int, default=9, help="of each first event (default: 9)")
    names = list(dict.fromkeys(case.function for case in _CASES))
    parser.add_argument("--functions", choices=names, nargs="+", default=names, help="only these (default: all)")
    parser.add_argument("--tools", type=int, default=1000, help="in the database (default: 1000)")
    args = parser.parse_args()
    try:
        host_for_containers()
        image()
    except LocalError as error:
        console.print(f"cold starts were not measured: {error}", markup=False)
        return
    if not (BUILD / "template.yaml").exists():
        console.print("cold starts were not measured: nothing is built, run `make build`")
        return
    # Beside the build: layers are laid together by links, which do not cross file systems.
    with tempfile.TemporaryDirectory(prefix="cold-", dir=BUILD.parent) as folder:
        results = measure(args, Path(folder))
        # Before the folder is cleaned up, which may fail.
        save(args, "cold_start", results)
    print_table("Cold starts, milliseconds", results["starts"])
    if results["compiled_runtime"]:
        print_table("The same with bytecode of the image's own packages", results["compiled_runtime"])
    print_table("With the database's URL in a secret", results["secret"])
    print_table("Without bytecode in the layers", results["without_bytecode"])
    print_table("Imports, milliseconds while they are watched", results["imports"])


if __name__ == "__main__":
    main()
