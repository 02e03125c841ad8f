"""Writing when something fails: what PostgreSQL refuses, too little time, and all that goes wrong after the commit."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import pytest
from skillroute.catalogue.sync import SyncTools
from skillroute.core.bulk import write as bulk
from skillroute.core.caller import LAPTOP
from skillroute.core.documents.embed import BATCH
from skillroute.core.errors.model import DatabaseUnavailable, EmbeddingUnavailable
from skillroute.core.postgres.connection import Connection
from skillroute.core.postgres.follow_up import FollowedDatabase
from skillroute.registry import servers as registered_servers
from skillroute.registry import write as write_entities
from skillroute.registry.refresh import refresh
from skillroute.registry.servers import RegisteredServers
from skillroute.registry.sync import SyncRegistry
from skillroute.registry.text import Place

from tests.builders import System, item
from tests.doubles import LogRecords, once
from tests.worlds.registry import DOCS, RESOLVE

SWITCH = "UPDATE mcp.index_state SET embedding_model = 'other', epoch = gen_random_uuid()"


class Report(Protocol):
    """What both kinds of report say."""

    @property
    def outcomes(self) -> Sequence[Any]: ...
    @property
    def embedding_unavailable(self) -> bool: ...


@dataclass
class Writer:
    """The writing use cases on the clock that the embedder moves, and how often they passed something on."""

    system: System
    commits: int = 0

    def committed(self) -> None:
        self.commits += 1

    def _writer(self) -> bulk.Writer:
        embedder = self.system.parts.document_embedder
        database = FollowedDatabase(self.system.database, self.committed)
        return bulk.Writer(database, embedder, timeout_s=10.0, clock=self.system.clock)

    def _registry(self) -> SyncRegistry:
        return SyncRegistry(self._writer())

    def tools(self, *names: str, **fields: Any) -> Report:
        """Put tools of the server c7."""
        sync = SyncTools(self._writer(), RegisteredServers())
        return sync([item(name, **{"server": "c7", **fields}) for name in names], LAPTOP)

    def servers(self, *servers: Any) -> Report:
        """Put servers."""
        return self._registry()("server", servers, LAPTOP)

    def server(self, *names: str) -> Report:
        """Put the server c7 with these tools."""
        return self.servers({"path": "/c7", "name": "Context7", "tools": [item(name) for name in names]})

    def agent(self) -> Report:
        """Put an agent."""
        return self._registry()("agent", [{"name": "Planner"}], LAPTOP)


Write = Callable[..., Report]
BY_TOOLS, BY_SERVER = Writer.tools, Writer.server
EITHER = pytest.mark.parametrize("write", [BY_TOOLS, BY_SERVER], ids=["tools", "server"])


@pytest.fixture
def writer(system: System) -> Writer:
    return Writer(system)


@pytest.fixture
def cursed(system: System) -> Iterator[None]:
    """Make PostgreSQL refuse tools and servers whose names begin so."""
    tables = ("tools", "registry_entities")
    for table in tables:
        system.sql(f"ALTER TABLE mcp.{table} ADD CONSTRAINT no_cursed CHECK (name NOT LIKE 'cursed%')")
    yield
    for table in tables:
        system.sql(f"ALTER TABLE mcp.{table} DROP CONSTRAINT no_cursed")


@dataclass
class Refreshed:
    """The entities that were derived anew, call by call."""

    calls: list[list[int]] = field(default_factory=list)

    def __call__(self, session: Any, entity_ids: Sequence[int]) -> None:
        self.calls.append(list(entity_ids))
        refresh(session, entity_ids)


@pytest.fixture
def refreshed(monkeypatch: pytest.MonkeyPatch) -> Refreshed:
    watched = Refreshed()
    monkeypatch.setattr(registered_servers, "refresh", watched)
    monkeypatch.setattr(write_entities, "refresh", watched)
    return watched


def statuses(report: Report) -> list[str]:
    return [outcome.status for outcome in report.outcomes]


# What PostgreSQL refuses


@pytest.mark.usefixtures("cursed")
def test_a_tool_that_is_refused_costs_its_server_one_derivation_and_the_call_few_transactions(
    system: System, writer: Writer, refreshed: Refreshed
) -> None:
    id_ = system.put_server().id
    refreshed.calls.clear()
    system.database.calls = 0
    names = [f"t{n:03}" for n in range(128)]
    names[77] = "cursed"
    report = writer.tools(*names)
    assert statuses(report) == ["failed" if name == "cursed" else "created" for name in names]
    assert "no_cursed" in report.outcomes[77].reason
    assert refreshed.calls == [[id_]]
    # The look, the model for each batch, the refusal, all once more and two for each halving, the write; then the
    # server's task, the model and its vector.
    assert system.database.calls == 1 + 128 // BATCH + 1 + (1 + 2 * 7) + 1 + 3
    assert len(system.entity_words(id_, Place.TOOL)) == 127
    assert (system.is_entity_embedded(id_), writer.commits) == (True, 1)


@pytest.mark.usefixtures("cursed")
@pytest.mark.parametrize(
    "names",
    [["cursed"], ["cursed", "b"], ["a", "cursed"], ["cursed1", "cursed2", "cursed3"], ["cursed1", "b", "cursed2"]],
    ids=" ".join,
)
def test_whichever_are_refused_all_others_are_written(system: System, writer: Writer, names: list[str]) -> None:
    expected = ["failed" if name.startswith("cursed") else "created" for name in names]
    kept = {name for name in names if not name.startswith("cursed")}
    assert statuses(writer.tools(*names)) == expected
    assert set(system.tools_of()) == kept
    assert statuses(writer.servers(*({"name": name, "path": f"/{name}"} for name in names))) == expected
    assert system.paths() == sorted(f"/{name}" for name in kept)
    assert writer.commits == 2 * bool(kept)


@pytest.mark.usefixtures("cursed")
def test_a_server_whose_tool_is_refused_fails_whole_and_spoils_no_other(system: System, writer: Writer) -> None:
    system.put_server("/a", tools=[DOCS])
    report = writer.servers(
        {"name": "A", "path": "/a", "tools": [{"name": "cursed"}]}, {"name": "B", "path": "/b", "tools": [RESOLVE]}
    )
    assert statuses(report) == ["failed", "created"]
    assert "no_cursed" in report.outcomes[0].reason
    assert (list(system.tools_of("a")), list(system.tools_of("b"))) == (["query-docs"], ["resolve"])


@pytest.mark.usefixtures("cursed")
@pytest.mark.parametrize("kind", ["tools", "servers"])
def test_when_the_database_goes_while_it_is_asked_what_it_refuses_nothing_is_written(
    system: System, writer: Writer, kind: str
) -> None:
    transactions: list[int] = []

    def gone() -> None:
        transactions.append(1)
        if len(transactions) == 5:
            raise DatabaseUnavailable("gone")

    system.database.before_transact = gone
    names = ["a", "b", "c", "d", "e", "cursed"]
    with pytest.raises(DatabaseUnavailable):
        writer.tools(*names) if kind == "tools" else writer.servers(*({"name": name} for name in names))
    assert (system.tools_of(), system.paths(), writer.commits) == ({}, [], 0)


# What need not be derived anew


def test_only_servers_that_changed_or_whose_tools_did_are_derived_anew(
    system: System, writer: Writer, refreshed: Refreshed
) -> None:
    def put(changed: str = "") -> list[int]:
        refreshed.calls.clear()
        servers = [{"name": name, "tools": [item("a"), item("b")]} for name in ("same", "tool", "own", "less")]
        if changed:
            servers[1]["tools"] = [item("a"), item("b", description="Draws.")]
            servers[2]["description"] = "New."
            servers[3]["tools"] = [item("a")]
        report = writer.servers(*servers)
        assert refreshed.calls
        return [outcome.id for outcome in report.outcomes]

    ids = put()
    assert refreshed.calls == [ids]
    put()
    assert refreshed.calls == [[]]
    put("changed")
    assert refreshed.calls == [ids[1:]]
    assert system.parts.verify().findings == []


def test_of_a_server_with_many_tools_only_the_words_that_differ_are_sent(
    system: System, writer: Writer, monkeypatch: pytest.MonkeyPatch
) -> None:
    id_ = system.put_server(tools=[item(f"t{n}") for n in range(50)]).id
    sent: dict[str, str] = {}
    run = Connection.run

    def noted(self: Connection, statement: str, **values: Any) -> Any:
        if "_words" in statement and "rows" in values:
            sent[statement] = values["rows"]
        return run(self, statement, **values)

    monkeypatch.setattr(Connection, "run", noted)
    writer.tools("t7", description="Draws a unicorn.")
    assert {name: rows.count('"words"') for name, rows in sent.items()} == {
        "delete_stale_words": 1,
        "insert_new_words": 1,
    }
    assert [words for words in system.entity_words(id_, Place.TOOL) if "unicorn" in words] == ["a draws t7 unicorn"]
    assert len(system.entity_words(id_, Place.TOOL)) == 50
    sent.clear()
    writer.tools("t7", description="Draws a unicorn.", tags=["new"])
    assert sent == {}


# Too little time, too many tools


@EITHER
def test_all_embedding_of_a_call_shares_one_time_limit(system: System, writer: Writer, write: Write) -> None:
    # GIVEN a model that takes four of the ten seconds each time, and two batches of tools beside their server
    id_ = system.put_server().id
    system.embedder.calls.clear()
    system.embedder.takes_s = 4.0
    report = write(writer, *(f"t{n}" for n in range(BATCH + 1)))
    # THEN the server has the two that are left, and waits
    assert [call.timeout_s for call in system.embedder.calls] == [10.0, 6.0, 2.0]
    assert report.embedding_unavailable
    assert all(embedded for _, _, embedded in system.tools_of().values())
    assert (system.is_entity_embedded(id_), writer.commits) == (False, 1)
    system.embedder.takes_s = 0.0
    assert system.parts.relay().embedded == 1
    assert system.is_entity_embedded(id_)


@EITHER
def test_what_was_embedded_before_the_time_was_up_is_kept(system: System, writer: Writer, write: Write) -> None:
    system.put_server()
    system.embedder.calls.clear()
    system.embedder.takes_s = 6.0
    report = write(writer, *(f"t{n}" for n in range(BATCH + 1)))
    assert [call.timeout_s for call in system.embedder.calls] == [10.0, 4.0]
    assert (set(statuses(report)) <= {"created", "updated"}, report.embedding_unavailable) == (True, True)
    assert sum(embedded for _, _, embedded in system.tools_of().values()) == BATCH


@EITHER
def test_a_model_is_not_asked_when_no_time_is_left(system: System, writer: Writer, write: Write) -> None:
    id_ = system.put_server().id
    system.embedder.calls.clear()
    system.embedder.takes_s = 10.0
    assert write(writer, "a").embedding_unavailable
    assert (len(system.embedder.calls), system.is_entity_embedded(id_)) == (1, False)


def test_a_server_beyond_the_tools_of_one_call_fails_and_smaller_ones_still_fit(
    system: System, writer: Writer, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert write_entities.MAX_TOOLS_OF_CALL == 2000
    monkeypatch.setattr(write_entities, "MAX_TOOLS_OF_CALL", 3)
    two = [DOCS, RESOLVE]
    report = writer.servers(
        {"name": "a", "tools": two}, {"name": "b", "tools": two}, {"name": "c", "tools": [DOCS]}, {"name": "d"}
    )
    assert statuses(report) == ["created", "failed", "created", "created"]
    failed = report.outcomes[1]
    assert (failed.field, failed.reason, failed.path) == (
        "tools",
        "has 2 tools, and those before it 2: at most 3 in one call",
        "/b",
    )
    assert system.paths() == ["/a", "/c", "/d"]


# After the commit


def _model_goes(system: System) -> None:
    system.embedder.away = True


def _model_fails_once(system: System) -> None:
    real = system.embedder.embed

    def embed(texts: Sequence[str], *, timeout_s: float) -> Any:
        system.embedder.embed = real  # type: ignore[method-assign]
        raise EmbeddingUnavailable("not now")

    system.embedder.embed = embed  # type: ignore[method-assign]


def _database_goes(system: System) -> None:
    system.database.down = True


def _model_is_switched(system: System) -> None:
    real = system.embedder.embed

    def embed(texts: Sequence[str], *, timeout_s: float) -> Any:
        system.sql(SWITCH)
        return real(texts, timeout_s=timeout_s)

    system.embedder.embed = embed  # type: ignore[method-assign]


@EITHER
@pytest.mark.parametrize("fail", [_model_goes, _database_goes, _model_is_switched])
def test_what_fails_after_the_commit_is_left_to_the_relay_and_told_as_degraded(
    system: System, writer: Writer, log: LogRecords, write: Write, fail: Callable[[System], None]
) -> None:
    id_ = system.put_server().id
    system.database.before_commit = once(lambda: fail(system))
    report = write(writer, "a")
    assert (statuses(report)[0] != "failed", report.embedding_unavailable, writer.commits) == (True, True, 1)
    assert (list(system.tools_of()), system.is_entity_embedded(id_)) == (["a"], False)
    [record] = log.having("entities stored without embedding")
    assert record.reason  # type: ignore[attr-defined]


@EITHER
def test_an_error_that_nobody_foresaw_keeps_no_news_back(system: System, writer: Writer, write: Write) -> None:
    system.put_server()

    def broken(texts: Sequence[str], *, timeout_s: float) -> Any:
        raise RuntimeError("a bug")

    def breaks() -> None:
        system.embedder.embed = broken  # type: ignore[method-assign]

    system.database.before_commit = once(breaks)
    with pytest.raises(RuntimeError, match="a bug"):
        write(writer, "a")
    assert (list(system.tools_of()), writer.commits) == (["a"], 1)


@EITHER
def test_a_tool_whose_vector_somebody_else_threw_away_is_told_to_wait(
    system: System, writer: Writer, write: Write
) -> None:
    # GIVEN a tool that would keep its vector, and somebody who changes its text after the look
    system.put_server(tools=[item("a")])
    tagged = item("a", tags=["new"])
    other = system

    def overtake() -> None:
        system.database.before_transact = lambda: None
        other.put_server(tools=[item("a", description="Draws.")])
        _model_fails_once(system)

    system.database.before_transact = overtake
    # WHEN it cannot be made again right away
    report = (
        writer.tools("a", tags=["new"])
        if write is BY_TOOLS
        else writer.servers({"path": "/c7", "name": "Context7", "tools": [tagged]})
    )
    # THEN
    assert (statuses(report), report.embedding_unavailable, writer.commits) == (["updated"], True, 1)
    assert not system.tools_of()["a"][2]


def test_whose_item_it_is_is_known_though_the_database_goes_right_after_the_commit(
    system: System, writer: Writer
) -> None:
    # GIVEN somebody who writes one of two items between the look and the write, none with a vector
    system.embedder.away = True

    def overtake() -> None:
        system.database.before_transact = lambda: None
        system.put("a", server="c7")
        system.database.before_commit = once(lambda: _database_goes(system))

    system.database.before_transact = overtake
    report = writer.tools("a", "b")
    assert statuses(report) == ["unchanged", "created"]
    assert {o.key.name: o.id for o in report.outcomes} == {name: id_ for name, (id_, _, _) in system.tools_of().items()}


def test_a_deletion_neither_asks_the_model_nor_waits_for_it(system: System) -> None:
    id_ = system.put_server(tools=[DOCS, RESOLVE]).id
    tool_id = system.tools_of()["resolve"][0]
    system.embedder.calls.clear()
    system.parts.catalogue.read.delete(tool_id, LAPTOP)
    # THEN the words are right at once, and the vector once the relay has made it
    assert system.embedder.calls == []
    assert (system.entity_text(id_), system.entity_words(id_, Place.TOOL)) == (
        "Context7\nquery-docs: Query the docs.",
        ["docs query the"],
    )
    assert not system.is_entity_embedded(id_)
    assert system.parts.relay().embedded == 1
    assert system.is_entity_embedded(id_)


# Only a vector


@pytest.mark.parametrize("write", [Writer.agent, Writer.server], ids=["agent", "server"])
def test_one_that_only_got_the_vector_it_lacked_reaches_the_index(system: System, writer: Writer, write: Write) -> None:
    system.embedder.away = True
    [outcome] = write(writer).outcomes
    assert (outcome.status, writer.commits) == ("created", 1)
    assert (statuses(write(writer)), writer.commits) == (["unchanged"], 1)
    system.embedder.away = False
    report = write(writer)
    assert (statuses(report), report.embedding_unavailable, writer.commits) == (["unchanged"], False, 2)
    assert system.is_entity_embedded(outcome.id)
    # AND with nothing left to do there is nothing to pass on
    assert (statuses(write(writer)), writer.commits) == (["unchanged"], 2)
