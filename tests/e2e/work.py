"""What waits behind a server: its pump, its queues, and its outbox, as the tests look at them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpx
import psutil
from skillroute_local.home import Run
from skillroute_local.queue_server import QUEUES, find_queues, sqs_client

from tests.e2e.processes import Server, Up, answered, cli, eventually
from tests.integration.rows import Sql, connected

AT_ONCE = {"SKILLROUTE_AGGREGATE_DELAY_S": "0"}
"""Settings of a server whose skills follow their tools without a rest of two seconds."""

CLASSIFY, AGGREGATE = "skillroute-classify", "skillroute-aggregate"


def pump_of(server: Up) -> int | None:
    """Return the process id of a server's pump."""
    try:
        children = psutil.Process(server.pid).children()
        return next((each.pid for each in children if "skillroute_local.pump" in each.cmdline()), None)
    except psutil.NoSuchProcess:  # one of them ended in between
        return None


@contextmanager
def suspended_pump(server: Up) -> Iterator[None]:
    """Let a server's pump stand still for the length of a block; one that stands still does not end with its parent."""
    pump = psutil.Process(eventually(lambda: pump_of(server), "the pump runs"))
    pump.suspend()
    try:
        yield
    finally:
        pump.resume()


def status(server: Up) -> dict[str, Any]:
    """Return what `skillroute status` says."""
    done = cli(server.home.path, "status", "--json")
    assert done.returncode == 0, done.stderr
    said: dict[str, Any] = json.loads(done.stdout)
    return said


def queues(server: Up) -> dict[str, dict[str, Any]]:
    """Return what `skillroute status` says of each queue."""
    return {each["queue"]: each for each in status(server)["queues"]}


def is_idle(server: Up) -> bool:
    """Tell whether `skillroute status` knows of nothing that waits."""
    return all(each["waiting"] == each["ready"] == each["under_way"] == 0 for each in queues(server).values())


@contextmanager
def rows_of(server: Up) -> Iterator[Sql]:
    """Lend a connection to a server's database."""
    with connected(_run(server).database_url) as sql:
        yield sql


def settle(server: Up, *, within_s: float = 60.0) -> None:
    """Wait until no work is left in the outbox but what was given up. Cheaper to ask than `skillroute status`."""
    with rows_of(server) as sql:
        eventually(
            lambda: sql("SELECT count(*) FROM mcp.outbox WHERE dead_at IS NULL") == [[0]],
            "nothing waits",
            within_s=within_s,
        )


def given_up(server: Up) -> list[str]:
    """Return the keys of the work that was given up. Cheaper to ask than `skillroute dlq list`."""
    with rows_of(server) as sql:
        return [key for [key] in sql("SELECT key FROM mcp.outbox WHERE dead_at IS NOT NULL ORDER BY key")]


def make_impatient(server: Up, visibility_s: int) -> None:
    """Let messages whose receiver failed, or was killed, come again after so long, and not after three minutes."""
    with _sqs(server) as (client, urls):
        for name in QUEUES:
            client.set_queue_attributes(QueueUrl=urls[name], Attributes={"VisibilityTimeout": str(visibility_s)})
        # Whoever waits for messages already goes by what was set before; he is given one that means nothing.
        _carry(client, {urls[CLASSIFY]: [{"tool_id": 2**62}], urls[AGGREGATE]: [{"skill_id": "no_such_skill"}]})


def send_to_classify(server: Up, *tool_ids: int) -> None:
    """Send tools to the classify queue, as the outbox does, and wait until they were received and deleted."""
    with _sqs(server) as (client, urls):
        _carry(client, {urls[CLASSIFY]: [{"tool_id": tool_id} for tool_id in tool_ids]})


def _carry(client: Any, messages: dict[str, list[dict[str, Any]]]) -> None:
    """Send messages to queues, and wait until all are received and deleted."""
    for url, bodies in messages.items():
        for body in bodies:
            client.send_message(QueueUrl=url, MessageBody=json.dumps(body))
    names = ["ApproximateNumberOfMessages", "ApproximateNumberOfMessagesNotVisible"]

    def is_empty(url: str) -> bool:
        depths = client.get_queue_attributes(QueueUrl=url, AttributeNames=names)["Attributes"]
        return set(depths.values()) == {"0"}

    for url in messages:
        eventually(lambda url=url: is_empty(url), "the queue is empty")


def verified(server: Server) -> dict[str, Any]:
    """Return what `GET /api/v1/verify` reports, which must be that all is as it should be."""
    report: dict[str, Any] = answered(server.http.get("/api/v1/verify"))
    assert report["ok"], report["findings"]
    return report


def skills_of(server: Server, tool_id: int) -> list[dict[str, Any]]:
    """Return a tool's skills, the surest first."""
    found: list[dict[str, Any]] = answered(server.http.get(f"/api/v1/tools/{tool_id}/skills"))
    return found


def create_skill(server: Server, skill_id: str, **fields: Any) -> dict[str, Any]:
    """Create a skill; it must be new."""
    name = skill_id.replace("_", " ").title()
    skill = {"id": skill_id, "name": name, "description": f"Everything about {name.lower()}.", **fields}
    created: dict[str, Any] = answered(server.http.post("/api/v1/skills", json=skill), 201)
    return created


def _run(server: Up) -> Run:
    run = server.home.running()
    assert run is not None
    return run


@contextmanager
def _sqs(server: Up) -> Iterator[tuple[Any, dict[str, str]]]:
    endpoint = _run(server).sqs_url
    client = sqs_client(endpoint)
    try:
        yield client, find_queues(endpoint)
    finally:
        client.close()


def put_servers(server: Server, *servers: dict[str, Any]) -> list[dict[str, Any]]:
    """Write MCP servers, a hundred at a time, none of which may fail, and return what became of each."""
    results: list[dict[str, Any]] = []
    for start in range(0, len(servers), 100):
        body = {"servers": servers[start : start + 100]}
        results += answered(server.http.put("/api/v1/servers", json=body))["results"]
    assert [result for result in results if result["status"] == "failed"] == []
    return results


def search_registry(server: Server, query: str, **request: Any) -> dict[str, Any]:
    """Search the registry; what the server answers must be 200."""
    found: dict[str, Any] = answered(server.http.post("/api/v1/search/registry", json={"query": query, **request}))
    return found


def paths(answer: dict[str, Any]) -> list[str]:
    """Return the paths of the MCP servers in a registry search's answer, in its order."""
    return [each["path"] for each in answer["servers"]]


def put_mail(http: httpx.Client, kind: str, *things: dict[str, Any]) -> list[dict[str, Any]]:
    """Write projects, products, agents or messages, a hundred at a time; none may fail. Return what became of each."""
    results: list[dict[str, Any]] = []
    for start in range(0, len(things), 100):
        body = {f"{kind}s": things[start : start + 100]}
        results += answered(http.put(f"/api/v1/mail/{kind}s", json=body))["results"]
    assert [result for result in results if result["status"] == "failed"] == []
    return results


def search_mail(http: httpx.Client, text: str = "", **request: Any) -> dict[str, Any]:
    """Search agent mail; what the server answers must be 200."""
    found: dict[str, Any] = answered(http.post("/api/v1/search/messages", json={"text": text, **request}))
    return found


def every_page(http: httpx.Client, text: str = "", **request: Any) -> list[dict[str, Any]]:
    """Follow the cursors of a mail search to the end and return its pages."""
    pages = [search_mail(http, text, **request)]
    while "next_cursor" in pages[-1]:
        pages.append(search_mail(http, text, **request, cursor=pages[-1]["next_cursor"]))
    return pages
