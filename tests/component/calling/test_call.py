"""A call of a tool from the catalogue to its server: who may, where it goes, and what comes back when it goes wrong."""

from __future__ import annotations

import asyncio
import itertools
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from skillroute.calling.model import CallFailed, Endpoint, Failure, JsonObject, Operation, Progress
from skillroute.calling.tool_call import ToolCall
from skillroute.core.caller import LAPTOP, Caller, Scope
from skillroute.core.outbound.credentials import Credentials, ServerRef

from tests.builders import System, lent_system, of_org
from tests.doubles import EdgeIndexes, LogRecords
from tests.worlds.calling import DONE, KnownIdentities, ScriptedServers, behind, callable_tool

ANN = Caller(org_id="acme", scopes=frozenset({Scope.SEARCH}), name="ann")
BOB = Caller(org_id="acme", scopes=frozenset({Scope.SEARCH}), name="bob")


@pytest.fixture
def system(database_url: str, edge_indexes: EdgeIndexes) -> Iterator[System]:
    with lent_system(database_url, edge_indexes, calls="both", call_in_flight=2, call_timeout_s=5) as system:
        yield system


@pytest.fixture
def doubles(system: System) -> tuple[ScriptedServers, KnownIdentities]:
    return behind(system)


@pytest.fixture
def servers(doubles: tuple[ScriptedServers, KnownIdentities]) -> ScriptedServers:
    return doubles[0]


@pytest.fixture
def identities(doubles: tuple[ScriptedServers, KnownIdentities]) -> KnownIdentities:
    return doubles[1]


def call(system: System, tool_id: int, caller: Caller = LAPTOP, **more: Any) -> JsonObject:
    return asyncio.run(system.parts.calling.call_tool(ToolCall(tool_id, {"to": "ann"}, **more), caller))


def said(result: JsonObject) -> str:
    """Return what a call that failed says."""
    assert result["isError"] is True
    [content] = result["content"]
    text: str = content["text"]
    return text


def under_way(system: System) -> int:
    [[found]] = system.rows("SELECT count(*) FROM mcp.calls_in_flight")
    return int(found)


def test_the_answer_of_the_tool_is_passed_on_as_it_came(system: System, servers: ScriptedServers) -> None:
    assert call(system, callable_tool(system)) == DONE
    [asked] = servers.asked
    assert asked.at == Endpoint("https://tools.example.com/mcp", "streamable-http")
    assert (asked.name, asked.arguments) == ("send", {"to": "ann"})
    assert 0 < asked.limits.seconds <= 5
    assert under_way(system) == 0


def test_an_error_of_the_tool_is_its_answer(system: System, servers: ScriptedServers) -> None:
    failed = {"content": [{"type": "text", "text": "no such mailbox"}], "isError": True}
    servers.answers.append(failed)
    assert call(system, callable_tool(system)) == failed


def test_a_server_of_the_older_transport_is_called_by_it(system: System, servers: ScriptedServers) -> None:
    system.put_server("/old", remotes=[{"type": "sse", "url": "https://old.example.com/sse"}])
    [id_] = system.put("ping", server="old")
    call(system, id_)
    assert servers.asked[0].at == Endpoint("https://old.example.com/sse", "sse")


def test_an_imported_operation_is_called_by_its_method_and_path(system: System, servers: ScriptedServers) -> None:
    http = {"method": "GET", "url": "https://api.example.com/v1", "path": "/pets/{id}",
            "arguments": {"id": {"in": "path", "name": "id"}}}  # fmt: skip
    [id_] = system.put("get_pet", server="pets", metadata={"http": http})
    call(system, id_)
    assert servers.asked[0].at == Operation("GET", "https://api.example.com/v1", "/pets/{id}", http["arguments"])


def test_an_organisation_has_no_global_server_called_by_a_tool_that_it_wrote_itself(
    system: System, servers: ScriptedServers
) -> None:
    callable_tool(system)
    [own] = system.put("drop_everything", server="tools", caller=of_org("acme"))
    assert "no server 'tools' is registered" in said(call(system, own, of_org("acme")))
    assert servers.asked == []


@pytest.mark.parametrize("owner", ["globex", None])
def test_what_a_caller_does_not_see_it_does_not_call(
    system: System, servers: ScriptedServers, owner: str | None
) -> None:
    id_ = callable_tool(system, caller=of_org(owner) if owner else LAPTOP)
    answer = call(system, id_ if owner else id_ + 1000, ANN)
    assert said(answer) == f"no tool has the id {id_ if owner else id_ + 1000}: search_tools finds tools with their ids"
    assert servers.asked == []


def test_reading_calls_nothing_that_may_write(system: System, servers: ScriptedServers) -> None:
    id_ = callable_tool(system)
    assert "call_tool_write" in said(call(system, id_, form="read"))
    [reads] = system.put("look", server="tools", annotations={"readOnlyHint": True})
    assert call(system, reads, form="read") == DONE
    assert [asked.name for asked in servers.asked] == ["look"]


def _of_a_local_server(system: System) -> list[int]:
    system.put_server("/local", packages=[{"identifier": "x"}])
    return system.put("t", server="local")


@pytest.mark.parametrize(
    ("prepare", "reason"),
    [
        (lambda system: system.put("alone", server="nowhere"), "no server 'nowhere' is registered"),
        (lambda system: system.put("alone"), "it names no server"),
        (
            _of_a_local_server,
            "PUT /api/v1/servers writes them. Servers that are started on a person's own machine are called by "
            "`skillroute connect`",
        ),
        (lambda system: system.put("p", type="prompt", server="tools"), "is a prompt"),
        (
            lambda system: system.put("o", metadata={"http": {"method": "GET", "path": "/"}}),
            "names no address of the interface",
        ),
        (
            lambda system: system.put("o", metadata={"http": {"method": "GET", "path": "/", "url": "https://{r}.test"}}),
            "has variables",
        ),
    ],
    ids=["not registered", "no server", "no address", "a prompt", "operation without address", "variables"],
)  # fmt: skip
def test_what_cannot_be_called_says_why_and_what_would_help(
    system: System, servers: ScriptedServers, prepare: Callable[[System], list[int]], reason: str
) -> None:
    [id_] = prepare(system)
    assert reason in said(call(system, id_))
    assert servers.asked == []
    assert under_way(system) == 0


def test_a_tool_that_is_switched_off_is_not_called(system: System, servers: ScriptedServers) -> None:
    id_ = callable_tool(system)
    system.rows("UPDATE mcp.tools SET is_switched_off = true, is_active = false WHERE id = :id", id=id_)
    assert "switched off" in said(call(system, id_))
    assert servers.asked == []


def test_an_organisation_has_no_more_calls_under_way_than_it_may_and_others_have_theirs(
    system: System, servers: ScriptedServers
) -> None:
    id_ = callable_tool(system)

    async def scenario() -> tuple[JsonObject, JsonObject, list[JsonObject]]:
        release = asyncio.Event()

        async def wait(_: Progress | None) -> JsonObject:
            await release.wait()
            return DONE

        servers.answers += [wait, wait]
        call_tool = system.parts.calling.call_tool
        running = [asyncio.create_task(call_tool(ToolCall(id_, {}), ANN)) for _ in range(2)]
        while len(servers.asked) < 2:
            await asyncio.sleep(0)
        third = await call_tool(ToolCall(id_, {}), BOB)
        other = await call_tool(ToolCall(id_, {}), of_org("globex"))
        release.set()
        return third, other, await asyncio.gather(*running)

    third, other, finished = asyncio.run(scenario())
    assert "2 calls of your organisation are under way" in said(third)
    assert [other, *finished] == [DONE] * 3
    assert under_way(system) == 0


def test_a_call_that_its_process_never_ended_makes_room_when_its_time_is_over(
    system: System, servers: ScriptedServers
) -> None:
    id_ = callable_tool(system)
    for _ in range(2):
        assert system.parts.calling.in_flight.begin(ANN, None, 60.0)
    assert "under way" in said(call(system, id_, ANN))
    system.rows("UPDATE mcp.calls_in_flight SET ends_at = now() - interval '1 s'")
    assert call(system, id_, ANN) == DONE


def test_a_server_that_hangs_is_given_up_in_time(system: System, servers: ScriptedServers) -> None:
    async def hang(_: Progress | None) -> JsonObject:
        await asyncio.Event().wait()
        return DONE

    servers.answers.append(hang)
    assert "did not answer in time" in said(call(system, callable_tool(system), seconds=0.1))
    assert servers.given_up == 1
    assert under_way(system) == 0


def test_a_call_is_cancelled_by_its_key(system: System, servers: ScriptedServers) -> None:
    id_ = callable_tool(system)

    async def cancel_itself(_: Progress | None) -> JsonObject:
        assert await asyncio.to_thread(system.parts.calling.calls.cancel, "of-ann") is None
        await asyncio.Event().wait()
        return DONE

    servers.answers.append(cancel_itself)
    assert said(call(system, id_, ANN, key="of-ann")) == "the call was cancelled"
    assert servers.given_up == 1
    assert system.parts.calling.in_flight.cancel("of-ann") == 0


def test_refused_credentials_are_renewed_once(
    system: System, servers: ScriptedServers, identities: KnownIdentities
) -> None:
    id_ = callable_tool(system)
    identities.tokens["ann"] = ["old", "new"]
    servers.answers.append(CallFailed(Failure.UNAUTHORIZED, "tools refuses the credentials", challenge="Bearer"))
    assert call(system, id_, ANN, token="of-the-door") == DONE
    assert [asked.headers["Authorization"] for asked in servers.asked] == ["Bearer old", "Bearer new"]
    assert identities.passed_on == ["of-the-door"]


def test_an_organisation_whose_identity_provider_hangs_delays_no_other(
    database_url: str, edge_indexes: EdgeIndexes
) -> None:
    all_hang, goes_on, asking = threading.Event(), threading.Event(), itertools.count(1)

    class Hanging(KnownIdentities):
        def credentials(self, server: ServerRef, caller: Caller, token: str | None) -> Credentials:
            if caller.org_id == "acme":
                if next(asking) == 40:
                    all_hang.set()
                goes_on.wait(60)
            return super().credentials(server, caller, token)

    with (
        lent_system(database_url, edge_indexes, calls="one", call_in_flight=40, call_timeout_s=10) as system,
        ThreadPoolExecutor(40) as agents,
    ):
        behind(system)
        vars(system.parts.calling).update(identities=Hanging())
        make, asked = system.parts.calling.here, ToolCall(callable_tool(system), {})
        try:
            hanging = [agents.submit(make, asked, ANN) for _ in range(40)]
            assert all_hang.wait(60)
            answer, ended = make(asked, of_org("globex")), [each for each in hanging if each.done()]
        finally:
            goes_on.set()
        assert (answer, ended) == (DONE, [])
        assert all(each.result() == DONE for each in hanging)


def test_for_want_of_scopes_a_login_with_more_is_asked_for(
    system: System, servers: ScriptedServers, identities: KnownIdentities
) -> None:
    id_ = callable_tool(system)
    identities.tokens["ann"] = ["may-read"]
    challenge = 'Bearer error="insufficient_scope", scope="write"'
    servers.answers.append(CallFailed(Failure.FORBIDDEN, "tools forbids this", challenge=challenge))
    assert "log in with `skillroute login 1`" in said(call(system, id_, ANN))
    assert identities.refused_by == [challenge]


@pytest.mark.parametrize("challenge", [None, "Bearer", 'Bearer error="invalid_token", scope="insufficient_scope"'])
def test_what_a_server_forbids_otherwise_is_said_and_not_asked_again(
    system: System, servers: ScriptedServers, identities: KnownIdentities, challenge: str | None
) -> None:
    id_ = callable_tool(system)
    identities.tokens["ann"] = ["good", "another"]
    servers.answers.append(CallFailed(Failure.FORBIDDEN, "tools forbids this", challenge=challenge))
    assert said(call(system, id_, ANN)) == "tools forbids this"
    assert (len(servers.asked), identities.refused_by) == (1, [])


def test_who_is_not_logged_in_is_shown_where(
    system: System, servers: ScriptedServers, identities: KnownIdentities
) -> None:
    id_ = callable_tool(system)
    identities.tokens["ann"] = []
    text = said(call(system, id_, ANN))
    assert "not logged in" in text
    assert "log in with `skillroute login 1`" in text
    assert servers.asked == []


def test_who_is_not_logged_in_is_given_a_link_where_it_is_known_how_they_come_here(
    system: System, servers: ScriptedServers, identities: KnownIdentities
) -> None:
    id_ = callable_tool(system)
    identities.tokens["ann"] = []
    link = "https://us.test/log-in/"
    assert link in said(call(system, id_, ANN, base_url="https://us.test"))
    assert "link" not in said(call(system, id_, ANN))


def test_callers_share_no_session(system: System, servers: ScriptedServers) -> None:
    id_ = callable_tool(system)
    for caller in (ANN, BOB, of_org("globex")):
        call(system, id_, caller)
    assert len({asked.session_key for asked in servers.asked}) == 3


def test_without_postgresql_a_call_says_so_and_nothing_is_called(system: System, servers: ScriptedServers) -> None:
    id_ = callable_tool(system)
    system.database.down = True
    assert "try again in a few seconds" in said(call(system, id_))
    assert servers.asked == []


def test_every_call_is_logged_and_counted_without_arguments_and_tokens(
    system: System,
    servers: ScriptedServers,
    identities: KnownIdentities,
    log: LogRecords,
    counted: Callable[[str], float],
) -> None:
    id_ = callable_tool(system)
    identities.tokens["ann"] = ["token-of-ann"]
    servers.answers.append(CallFailed(Failure.UNREACHABLE, "tools.example.com cannot be reached"))
    assert said(call(system, id_, ANN, token="token-of-the-door")) == "tools.example.com cannot be reached"
    assert (counted("Calls"), counted("CallsWithoutAnswer")) == (1, 1)
    text = repr([vars(record) for record in log.records])
    assert "unreachable" in text
    assert not any(secret in text for secret in ("token-of-ann", "token-of-the-door", "'to'"))
