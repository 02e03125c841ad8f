"""Reading mail over MCP: what HTTP shows to the same caller, as far as there is room, and nothing else."""

from __future__ import annotations

from typing import Any

import pytest
from skillroute.core.caller import LAPTOP, Caller
from skillroute.core.errors.model import NotFound
from skillroute.mail.answers import MessageOut
from skillroute.mcp.rpc import to_text
from skillroute.mcp.tool import Asked, ToolError
from skillroute.mcp.tools.read_message import read_message

from tests.builders import System, of_org
from tests.worlds.mail import reader

ACME_OPERATOR = Caller(org_id="acme", scopes=LAPTOP.scopes)
READERS = (
    *(LAPTOP, reader("bluelake"), reader("greenhill"), reader("stranger"), reader(None), of_org("acme")),
    *(reader("bluelake", "acme"), ACME_OPERATOR),
)


@pytest.fixture
def office(system: System) -> System:
    system.mail_id("project", key="atlas", name="Atlas")
    return system


@pytest.fixture
def ids(office: System) -> list[int]:
    """Messages of one thread, in two projects and another organisation."""
    office.mail_id("project", key="vault", name="Vault")
    office.mail_id("project", ACME_OPERATOR, key="home", name="Home")
    long = {"body": "password=hunter2 " + "and more " * 2000, "cc": ["RedStone"], "thread_id": "T1"}
    return [
        office.put_message("m1", **long),
        office.put_message("m2", thread_id="T1", created_ts=1_767_604_330_000_000),
        office.put_message("m3", project="vault", thread_id="T1"),
        office.put_message("m4", ACME_OPERATOR, project="home", thread_id="T1"),
    ]


def read(office: System, caller: Caller, id_: int, **more: Any) -> dict[str, Any]:
    tool = read_message(lambda: office.parts.mail.read, office.parts.mcp.count_tokens)
    return tool.call({"id": id_, **more}, Asked(caller))


def over_http(office: System, caller: Caller, id_: int) -> dict[str, Any] | None:
    try:
        found = office.parts.mail.read.get("message", id_, caller)
    except NotFound:
        return None
    return MessageOut.of(found).model_dump(mode="json", by_alias=True)


@pytest.mark.parametrize("thread", [False, True])
def test_no_caller_reads_more_than_http_shows(office: System, ids: list[int], thread: bool) -> None:
    seen, hidden = 0, set()
    for caller in READERS:
        for id_ in (*ids, 10**9):
            shown = over_http(office, caller, id_)
            if shown is None:
                with pytest.raises(NotFound) as error:
                    read(office, caller, id_, thread=thread)
                hidden.add(str(error.value).replace(str(id_), "N"))
                continue
            for message in read(office, caller, id_, thread=thread, budget_tokens=20_000)["messages"]:
                same = over_http(office, caller, message["id"])
                assert same is not None
                assert message["project"] == shown["project"], "another project's thread is another"
                assert message == {name: same[name] for name in message}
                assert {"body", "from", "to", "subject"} <= set(message)
                seen += 1
    assert seen > 5
    assert len(hidden) == 1, "what is hidden looks like what is not there"


def test_a_thread_comes_oldest_first(office: System, ids: list[int]) -> None:
    found = read(office, LAPTOP, ids[1], thread=True, budget_tokens=20_000)
    assert [message["id"] for message in found["messages"]] == ids[:2]
    assert [message["id"] for message in read(office, LAPTOP, ids[1])["messages"]] == ids[1:2]


@pytest.mark.parametrize("budget", [100, 300, 1000, 3000])
@pytest.mark.parametrize("thread", [False, True])
def test_the_budget_is_kept_and_used_and_what_is_cut_is_marked(
    office: System,
    ids: list[int],
    budget: int,
    thread: bool,
) -> None:
    found = read(office, LAPTOP, ids[0], budget_tokens=budget, thread=thread)
    used = office.parts.mcp.count_tokens(to_text(found))
    assert used <= budget
    [message] = [each for each in found["messages"] if each["id"] == ids[0]]
    assert message["cut"] is True
    assert used > 0.9 * budget or budget < 1000


def test_the_message_that_was_asked_for_has_room_before_others_are_whole(office: System) -> None:
    asked = office.put_message("asked", body="word " * 3000, thread_id="T")
    others = {
        office.put_message(f"other-{number}", body="other " * 200, thread_id="T", created_ts=1_767_604_330_000_000)
        for number in range(3)
    }
    found = read(office, LAPTOP, asked, thread=True, budget_tokens=2000)["messages"]
    length = {message["id"]: len(message["body"]) for message in found}
    assert {length[id_] for id_ in others} == {400}
    assert length[asked] > 5 * 400


@pytest.mark.parametrize("budget", [200, 300, 400, 500, 700])
def test_others_of_a_thread_have_bodies_where_the_message_that_was_asked_for_is_whole(
    office: System, budget: int
) -> None:
    asked = office.put_message("asked", body="Take the other road. " * 16, thread_id="T")
    for number in range(5):
        office.put_message(f"other-{number}", body="Seen. " * 38, thread_id="T", created_ts=1_767_604_330_000_000)
    found = {each["id"]: each for each in read(office, LAPTOP, asked, thread=True, budget_tokens=budget)["messages"]}
    mine = found.pop(asked)
    assert len(mine["body"]) > 80
    assert "cut" not in mine or not any(other.get("body") for other in found.values())


def test_what_has_no_room_is_an_error_that_names_the_remedy(office: System) -> None:
    id_ = office.put_message("long", **{"from": "x!" * 120})
    with pytest.raises(ToolError, match="raise budget_tokens"):
        read(office, LAPTOP, id_, budget_tokens=100)
