"""Both lexical engines over the judged corpus: full text needs nothing else, and the shadow serves nothing."""

from __future__ import annotations

import itertools
import json
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx
import pytest
from skillroute.mail.search.shadow import COMPARED

from tests.conftest import fresh_database
from tests.e2e.processes import HASHING, SOAK, Bare, Processes
from tests.e2e.work import put_mail, search_mail, verified

if TYPE_CHECKING:
    from skillroute_local.postgres import EmbeddedPostgres

_REPOSITORY = Path(__file__).parents[2]
_POSTGRES = {"SKILLROUTE_SEARCH_ENGINE": "fts5"}
_SHADOW = {"SKILLROUTE_SEARCH_ENGINE": "shadow", "SKILLROUTE_SEARCH_SHADOW_TIMEOUT_S": "5"}
_GONE = {
    "SKILLROUTE_QDRANT_URL": "http://127.0.0.1:9",
    "SKILLROUTE_EMBEDDING_PROVIDER": "openai",
    "SKILLROUTE_EMBEDDING_MODEL": "gone",
    "SKILLROUTE_EMBEDDING_DIMENSION": "384",
    "SKILLROUTE_OPENAI_BASE_URL": "http://127.0.0.1:9/v1",
}
"""Settings of a server that has neither index nor model: nobody listens on that port."""


def _lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


QUERIES: tuple[str, ...] = tuple(each["query"] for each in _lines(_REPOSITORY / "benchmarks/message_queries.jsonl"))
SHARE = 1 if SOAK else 6
"""Every so manieth judged query is asked page by page."""

REQUESTS: tuple[dict[str, Any], ...] = (
    {"mode": "lexical", "limit": 20},
    {"mode": "hybrid", "limit": 40},
    {"mode": "semantic", "ranking": "recency", "limit": 30},
    {"mode": "hybrid_rerank", "importance": ["high", "urgent"], "limit": 10},
)


def load_corpus(http: httpx.Client) -> None:
    """Write the judged corpus."""
    examples = _REPOSITORY / "examples"
    put_mail(http, "project", *_lines(examples / "projects.jsonl"))
    put_mail(http, "product", *_lines(examples / "products.jsonl"))
    put_mail(http, "agent", *_lines(examples / "mail_agents.jsonl"))
    put_mail(http, "message", *_lines(examples / "messages.jsonl"))


def raw(server: Bare, **request: Any) -> bytes:
    """Return the very bytes of an answer."""
    response = server.http.post("/api/v1/search/messages", json=request)
    assert response.status_code == 200, response.text
    return response.content


def assert_same_pages(one: Bare, other: Bare, queries: tuple[str, ...]) -> None:
    """Follow the cursors of both to the end; every page is the same, to the byte."""
    for query, request in zip(queries, itertools.cycle(REQUESTS), strict=False):
        cursor: str | None = None
        for _ in range(1000):
            asked = {"text": query, **request} | ({"cursor": cursor} if cursor else {})
            answer = raw(one, **asked)
            assert answer == raw(other, **asked), asked
            cursor = json.loads(answer).get("next_cursor")
            if cursor is None:
                break
        assert cursor is None


def without_timing(answer: bytes) -> dict[str, Any]:
    said: dict[str, Any] = json.loads(answer)
    del said["explain"]["timing"]
    return said


@dataclass(frozen=True)
class Servers:
    """Servers over one database with the judged corpus, which only ask it.

    Attributes
    ----------
    postgres, shadow : Bare
        With an index and a model, by their setting.
    postgres_bereft, shadow_bereft : Bare
        With neither.
    without_index : Bare
        No setting, and no index.
    index_folder : Path
        Where `postgres` keeps the index that it does not ask.
    """

    postgres: Bare
    shadow: Bare
    postgres_bereft: Bare
    shadow_bereft: Bare
    without_index: Bare
    index_folder: Path


@pytest.fixture(scope="module")
def servers(
    postgres_server: EmbeddedPostgres, migrated_template: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Servers]:
    directory = tmp_path_factory.mktemp("engines")
    started, folder = Processes(directory), directory / "index"
    with fresh_database(postgres_server, migrated_template) as url:

        def start(**settings: str) -> Bare:
            return started.bare(directory / "home", url, **settings)

        try:
            servers = Servers(
                postgres=start(**HASHING, **_POSTGRES, SKILLROUTE_INDEX_DIR=str(folder)),
                shadow=start(**HASHING, **_SHADOW, SKILLROUTE_LOG_LEVEL="INFO"),
                postgres_bereft=start(**_GONE, **_POSTGRES),
                shadow_bereft=start(**_GONE, **_SHADOW),
                without_index=start(**HASHING, SKILLROUTE_QDRANT_URL=_GONE["SKILLROUTE_QDRANT_URL"]),
                index_folder=folder,
            )
            load_corpus(servers.postgres.ready().http)
            for each in (servers.shadow, servers.postgres_bereft, servers.shadow_bereft, servers.without_index):
                each.ready()
            yield servers
        finally:
            started.close()


class TestFullText:
    def test_answers_the_same_without_index_and_model(self, servers: Servers) -> None:
        # GIVEN a server that has all, and one over the same database that has neither index nor model
        whole, bereft = servers.postgres, servers.postgres_bereft

        # THEN each judged query is answered alike, how it came about as well
        before = {}
        for query, request in zip(QUERIES, itertools.cycle(REQUESTS), strict=False):
            asked = {"text": query, "explain": True, **request}
            before[query] = without_timing(raw(whole, **asked))
            assert before[query] == without_timing(raw(bereft, **asked))
            assert (before[query]["mode"], before[query]["engine"]) == ("lexical", "fts5")
            assert before[query]["explain"]["downgrade_reason"] == "kill_switch"
        assert any(each["results"] for each in before.values())
        assert_same_pages(whole, bereft, QUERIES[::SHARE])

        # AND so it is once the index was made, and is deleted
        verified(whole)
        assert any(servers.index_folder.iterdir())
        shutil.rmtree(servers.index_folder)
        for query, request in list(zip(QUERIES, itertools.cycle(REQUESTS), strict=False))[:: 1 if SOAK else 2]:
            assert without_timing(raw(whole, text=query, explain=True, **request)) == before[query]

    def test_takes_over_where_there_is_no_index(self, servers: Servers) -> None:
        for query in QUERIES[::SHARE]:
            wanted, found = (
                search_mail(each.http, query, explain=True, mode="lexical")
                for each in (servers.postgres, servers.without_index)
            )
            assert found["results"] == wanted["results"]
            assert (found["mode"], found["engine"]) == ("lexical", "fts5")
            # An index server that nobody could fill yet is one that is being filled (docs/adr/0034).
            assert found["explain"]["downgrade_reason"] == "index_not_ready"


class TestTheShadow:
    def test_is_compared_with_in_explain_and_log_and_serves_nothing(self, servers: Servers) -> None:
        shadowed = servers.shadow
        compared = []
        for query, request in zip(QUERIES, itertools.cycle(REQUESTS), strict=False):
            asked = {"text": query, "explain": True, **request}
            answer, plain = (without_timing(raw(each, **asked)) for each in (shadowed, servers.postgres))
            compared.append(answer["explain"].pop("shadow"))
            assert answer == plain
        logged = [json.loads(line) for line in shadowed.output.splitlines() if "search.shadow.comparison" in line]
        assert [{name: each[name] for name in said} for each, said in zip(logged, compared, strict=True)] == compared
        assert {each["message"] for each in logged} == {"search.shadow.comparison"}
        assert all(0.0 <= each["overlap_jaccard"] <= 1.0 and -1.0 <= each["mrr_delta"] <= 0.0 for each in compared)
        # The two engines cut the same terms: they find the same, and differ in its order.
        assert any(each["ndcg_at_10"] < 1.0 for each in compared)
        for query in QUERIES[::SHARE]:
            answer = search_mail(shadowed.http, query, limit=COMPARED, explain=True)
            if len(answer["results"]) < COMPARED:
                assert answer["explain"]["shadow"]["overlap_jaccard"] == 1.0

        assert_same_pages(servers.postgres, shadowed, QUERIES[::SHARE])

    def test_that_cannot_be_asked_changes_nothing(self, servers: Servers) -> None:
        assert_same_pages(servers.postgres, servers.shadow_bereft, QUERIES[:: 2 * SHARE])
        assert "shadow" not in search_mail(servers.shadow_bereft.http, QUERIES[0], explain=True)["explain"]
