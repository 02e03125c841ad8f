"""A change of model (decision 37, docs/adr/0035): every search is answered with vectors throughout, or says why not."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from skillroute.core.caller import LAPTOP
from skillroute.core.embedding.hashing import HashingEmbedder
from skillroute.core.embedding.packaged import packaged_models
from skillroute.core.embedding.port import Embedder
from skillroute.core.settings import LocalSettings
from skillroute.mail.search.model import MessageSearchRequest
from skillroute.registry.search.model import RegistrySearchRequest
from skillroute.search.model import SearchRequest
from skillroute.wiring import Parts

from tests.doubles import TableEmbedder

OLD, NEW = HashingEmbedder(64), HashingEmbedder(128)
Process = Callable[[Embedder], Parts]


@pytest.fixture
def process(database_url: str) -> Iterator[Process]:
    """Make the parts of a process that is configured for a model."""
    made: list[Parts] = []

    def make(embedder: Embedder) -> Parts:
        made.append(Parts(LocalSettings(database_url=database_url), embedder=embedder))  # type: ignore[arg-type]
        return made[-1]

    yield make
    for parts in made:
        parts.close()


@pytest.fixture
def filled(process: Process) -> Parts:
    """A process on the old model that has written something of everything."""
    return fill(process(OLD))


def fill(parts: Parts) -> Parts:
    parts.catalogue.sync(
        [{"name": f"send_{n}", "description": "Sends a letter to somebody."} for n in range(3)], LAPTOP
    )
    parts.registry.sync("server", [{"path": "/post", "name": "Post", "description": "Letters of all sorts."}], LAPTOP)
    parts.mail.sync("project", [{"key": "atlas", "name": "Atlas"}], LAPTOP)
    message = {"key": "m1", "project": "atlas", "from": "ann", "to": ["bob"], "subject": "letter", "body": "Send it."}
    report = parts.mail.sync("message", [message], LAPTOP)
    assert report.count("created") == 1, report
    return parts


def modes(parts: Parts) -> set[tuple[str, bool]]:
    """Search everything; return with what each search ranked, and whether it says that something is missing."""
    tools = parts.tool_search.search(SearchRequest(query="send a letter"), LAPTOP)
    entities = parts.registry_search(RegistrySearchRequest(query="letters"), LAPTOP)
    mail = parts.messages.search(MessageSearchRequest(text="letter send", mode="semantic"), LAPTOP)
    assert tools.tools
    assert entities.servers
    assert mail.results
    return {
        (tools.metadata.search_mode, bool(tools.metadata.degraded)),
        (entities.search_mode, bool(entities.metadata.degraded)),
        # An answer of messages says by its mode that the model is missing (message-search, section 5).
        ("hybrid", False) if mail.mode == "semantic" else ("lexical-only", True),
    }


SERVED = {("hybrid", False)}


def test_every_search_is_answered_with_vectors_before_while_and_after_a_reindex(
    filled: Parts, process: Process
) -> None:
    # GIVEN processes of both configurations, as there are while a deployment goes over
    new = process(NEW)
    assert modes(filled) == modes(new) == SERVED
    # WHEN a reindex is under way
    looks: list[set[tuple[str, bool]]] = []
    process(NEW).reindex(lambda _: looks.append(modes(filled) | modes(new)))
    # THEN
    assert len(looks) >= 3
    assert looks == [SERVED] * len(looks)
    # AND so they are when it is through, by those that go over and by those that have not yet
    for _ in range(2):
        assert modes(new) == modes(filled) == SERVED
        new.replica.wait_for_rebuild()  # type: ignore[attr-defined]
    with new.replica.current() as of_new, filled.replica.current() as of_old:
        assert (of_new.model, of_old.model) == (NEW.model, OLD.model)


def test_a_process_that_cannot_embed_with_the_stored_model_searches_by_words_and_says_so(
    process: Process,
) -> None:
    filled, other = fill(process(TableEmbedder(name="from elsewhere"))), process(OLD)
    assert modes(other) == {("lexical-only", True)}
    # WHEN its vectors are there THEN it goes over to them, and those of the former model are still used as well
    other.reindex()
    assert modes(filled) == SERVED
    modes(other)  # begins to build; until that is done it goes on by words
    other.replica.wait_for_rebuild()  # type: ignore[attr-defined]
    assert modes(other) == SERVED
    assert modes(filled) == SERVED


def test_what_is_written_by_either_is_found_by_both(filled: Parts, process: Process) -> None:
    new = process(NEW)
    new.reindex()
    for parts, name in ((filled, "by_the_old"), (new, "by_the_new")):
        parts.catalogue.sync([{"name": name, "description": f"Counts sheep, {name}."}], LAPTOP)
    for parts in (filled, new):
        parts.embed_missing()
    for parts in (filled, new):
        answer = parts.tool_search.search(SearchRequest(query="counts sheep"), LAPTOP)
        assert {"by_the_old", "by_the_new"} <= {tool.name for tool in answer.tools}
        assert (answer.metadata.search_mode, answer.metadata.degraded) == ("hybrid", [])


def test_a_deployment_goes_over_from_one_packaged_model_to_another_by_its_name(database_url: str) -> None:
    """With the models themselves: any process can embed queries for the vectors of either."""

    def configured(model: str | None) -> Parts:
        return Parts(LocalSettings(database_url=database_url, embedding_model=model))  # type: ignore[arg-type]

    names = packaged_models()
    assert len(names) > 1
    before, after = configured(None), configured(names[-1])
    try:
        fill(before)
        assert modes(before) == modes(after) == SERVED
        after.reindex(lambda _: None)
        for parts in (before, after):
            assert modes(parts) == SERVED
            parts.replica.wait_for_rebuild()  # type: ignore[attr-defined]
            assert modes(parts) == SERVED
        with before.replica.current() as of_before, after.replica.current() as of_after:
            assert of_before.model.name.startswith(names[0])
            assert of_after.model.name.startswith(names[-1])
    finally:
        before.close()
        after.close()
