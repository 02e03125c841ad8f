"""What only the server engine does: set-up on first use, and failures of transport and server."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from typing import Any, cast

import httpx
import pytest
from pydantic import ValidationError
from qdrant_client import QdrantClient
from skillroute.catalogue.collection import TOOL_DOCUMENTS
from skillroute.core.documents.index.qdrant import QdrantIndex
from skillroute.core.documents.index.shared import SharedReplica
from skillroute.core.documents.model import IndexFilter
from skillroute.core.embedding.model import EmbeddingModel
from skillroute.core.errors.model import IndexTimeout, IndexUnavailable
from skillroute.core.settings import IndexSettings
from skillroute.wiring import make_replica

TOOLS = TOOL_DOCUMENTS


class Server:
    """Answers as a Qdrant server does, from what a test sets; notes what it was asked."""

    def __init__(self) -> None:
        self.exists = True
        self.dimension = 3
        self.modifier = "none"
        self.indexed = ["type", "server"]
        self.create_status = 200
        self.on_count: Callable[[httpx.Request], httpx.Response] = lambda request: answer({"count": 7})
        self.asked: list[tuple[str, str, object]] = []

    def __call__(self, request: httpx.Request) -> httpx.Response:
        body = json.loads(request.content) if request.content else None
        path = re.sub(r"^/collections/[^/]+", "", request.url.path)
        self.asked.append((request.method, path, body))
        match request.method, path:
            case "GET", "/exists":
                return answer({"exists": self.exists})
            case "GET", "":
                return answer(self._info())
            case "PUT", "":
                return answer(True, self.create_status)
            case "PUT", "/index":
                return answer({"operation_id": 1, "status": "completed"})
            case "POST", "/points/count":
                return self.on_count(request)
        return answer({"points": []}) if path == "/points/query" else httpx.Response(404)

    def queries(self) -> list[dict[str, Any]]:
        """Return the bodies of the searches that were asked for."""
        return [body for _, path, body in self.asked if path == "/points/query" and isinstance(body, dict)]

    def _info(self) -> dict[str, object]:
        params = {
            "vectors": {"dense": {"size": self.dimension, "distance": "Cosine"}},
            "sparse_vectors": {"bm25": {"modifier": self.modifier}},
        }
        return {
            "status": "green",
            "optimizer_status": "ok",
            "segments_count": 1,
            "payload_schema": {name: {"data_type": "keyword", "points": 0} for name in self.indexed},
            "config": {
                "params": params,
                "hnsw_config": {"m": 16, "ef_construct": 100, "full_scan_threshold": 10000},
                "optimizer_config": {
                    "deleted_threshold": 0.2,
                    "vacuum_min_vector_number": 1000,
                    "default_segment_number": 0,
                    "flush_interval_sec": 5,
                },
            },
        }


def answer(result: object, status: int = 200) -> httpx.Response:
    return httpx.Response(status, json={"result": result, "status": "ok", "time": 0.0})


@pytest.fixture
def server() -> Server:
    return Server()


@pytest.fixture
def client(server: Server) -> Iterator[QdrantClient]:
    client = QdrantClient(url="http://qdrant.test", check_compatibility=False, transport=httpx.MockTransport(server))
    yield client
    client.close()


@pytest.fixture
def index(client: QdrantClient) -> QdrantIndex:
    return QdrantIndex(client, 3, prefix="test_")


def test_a_missing_collection_is_made_with_both_vectors(server: Server, index: QdrantIndex) -> None:
    server.exists = False
    assert index.count(TOOLS) == 7
    created = [body for method, path, body in server.asked if (method, path) == ("PUT", "")]
    assert created == [
        {
            "vectors": {"dense": {"size": 3, "distance": "Cosine"}},
            "sparse_vectors": {"bm25": {}},
            # registry-search-design, Performance Considerations: m=16, efConstruction=128
            "hnsw_config": {"m": 16, "ef_construct": 128},
        }
    ]


def test_a_collection_that_is_there_keeps_the_graph_it_was_made_with(server: Server, index: QdrantIndex) -> None:
    index.count(TOOLS)
    assert {method for method, path, _ in server.asked if path == ""} == {"GET"}


@pytest.mark.parametrize(("limit", "ef"), [(3, 100), (99, 100), (100, 101), (2000, 2001)])
def test_a_dense_search_keeps_as_many_candidates_as_are_set_and_no_fewer_than_it_returns(
    server: Server, client: QdrantClient, limit: int, ef: int
) -> None:
    """registry-search-design, HNSW Tuning: efSearch."""
    index = QdrantIndex(client, 3, prefix="test_", ef_search=100)
    index.search(TOOLS, [1.0, 0.0, 0.0], where=IndexFilter(), limit=limit)
    # One more is asked for than is returned: it tells whether the last one ties with others.
    assert [(query["params"], query["limit"]) for query in server.queries()] == [({"hnsw_ef": ef}, limit + 1)]


def test_a_search_for_words_has_no_graph(server: Server, client: QdrantClient) -> None:
    QdrantIndex(client, 3, prefix="test_", ef_search=100).search_text(TOOLS, "mail", where=IndexFilter(), limit=5)
    assert [(query["using"], query.get("params")) for query in server.queries()] == [("bm25", None)]


def test_without_a_number_of_candidates_the_server_chooses(server: Server, index: QdrantIndex) -> None:
    index.search(TOOLS, [1.0, 0.0, 0.0], where=IndexFilter(), limit=5)
    assert [query.get("params") for query in server.queries()] == [None]


@pytest.mark.parametrize(("values", "ef"), [({}, 100), ({"vector_search_ef_search": 400}, 400)])
def test_the_setting_says_how_many_candidates_searches_keep(
    server: Server, monkeypatch: pytest.MonkeyPatch, values: dict[str, Any], ef: int
) -> None:
    # GIVEN the composition root, with a client of the test's own
    settings = IndexSettings(qdrant_url="http://qdrant.test", **values)
    made = QdrantClient(url="http://qdrant.test", check_compatibility=False, transport=httpx.MockTransport(server))
    monkeypatch.setattr("qdrant_client.QdrantClient", lambda **_: made)
    replica = make_replica(settings, *[cast("Any", None)] * 4)
    assert isinstance(replica, SharedReplica)
    # WHEN
    index = replica._open_index(EmbeddingModel("test", 3), 1, True)
    assert isinstance(index, QdrantIndex)
    index.search(TOOLS, [1.0, 0.0, 0.0], where=IndexFilter(), limit=5)
    index.close()
    # THEN
    assert [query["params"] for query in server.queries()] == [{"hnsw_ef": ef}]


@pytest.mark.parametrize(("value", "is_taken"), [(0, False), (1, True), (10_000, True), (10_001, False)])
def test_the_setting_has_a_range(value: int, is_taken: bool) -> None:
    with nullcontext() if is_taken else pytest.raises(ValidationError, match="vector_search_ef_search"):
        IndexSettings(vector_search_ef_search=value)


def test_missing_payload_indexes_are_made_once(server: Server, index: QdrantIndex) -> None:
    index.count(TOOLS)
    index.count(TOOLS)
    made = [body for method, path, body in server.asked if (method, path) == ("PUT", "/index")]
    assert made == [
        {"field_name": name, "field_schema": "keyword"}
        for name in ("org_id", "skill_keys", "name_key", "rule_servers", "rule_names", "hints")
    ]
    assert [path for _, path, _ in server.asked].count("/exists") == 1


def test_another_process_may_make_the_collection_first(server: Server, index: QdrantIndex) -> None:
    server.exists, server.create_status = False, 409
    assert index.count(TOOLS) == 7


def test_a_collection_that_cannot_be_made_is_an_index_failure(server: Server, index: QdrantIndex) -> None:
    server.exists, server.create_status = False, 403
    with pytest.raises(IndexUnavailable):
        index.count(TOOLS)


def test_a_collection_of_another_dimension_is_refused(server: Server, index: QdrantIndex) -> None:
    server.dimension = 4
    with pytest.raises(IndexUnavailable, match="3 dimensions"):
        index.count(TOOLS)


def test_a_collection_that_counts_words_is_refused(server: Server, index: QdrantIndex) -> None:
    """Decision 30: its scores would tell how many records of others have a word."""
    server.modifier = "idf"
    with pytest.raises(IndexUnavailable, match=r"modifier idf.*drop"):
        index.search_text(TOOLS, "mail", where=IndexFilter(), limit=5)
    assert server.queries() == []


def test_a_collection_that_was_dropped_is_made_again(server: Server, index: QdrantIndex) -> None:
    index.count(TOOLS)
    server.on_count = lambda request: httpx.Response(404)
    with pytest.raises(IndexUnavailable):
        index.count(TOOLS)
    server.exists, server.on_count = False, lambda request: answer({"count": 0})
    assert index.count(TOOLS) == 0
    assert ("PUT", "") in [(method, path) for method, path, _ in server.asked]


@pytest.mark.parametrize("error", [httpx.ReadTimeout, httpx.ConnectTimeout, httpx.PoolTimeout])
def test_a_timeout_of_the_transport_is_an_index_timeout(
    server: Server, index: QdrantIndex, error: type[httpx.TimeoutException]
) -> None:
    def fail(request: httpx.Request) -> httpx.Response:
        raise error("too slow")

    server.on_count = fail
    with pytest.raises(IndexTimeout):
        index.count(TOOLS)


@pytest.mark.parametrize("status", [408, 504])
def test_a_timeout_that_the_server_reports_is_an_index_timeout(server: Server, index: QdrantIndex, status: int) -> None:
    server.on_count = lambda request: httpx.Response(status)
    with pytest.raises(IndexTimeout):
        index.count(TOOLS)


def test_every_other_failure_is_an_unavailable_index(server: Server, index: QdrantIndex) -> None:
    def refuse(request: httpx.Request) -> httpx.Response:
        raise httpx.ConnectError("refused")

    failures: list[Callable[[httpx.Request], httpx.Response]] = [
        refuse,
        lambda request: httpx.Response(500),
        lambda request: httpx.Response(401),
        lambda request: httpx.Response(429, headers={"Retry-After": "3"}),
        lambda request: httpx.Response(200, text="<html>a proxy's greeting</html>"),
        lambda request: httpx.Response(200, json={"result": {"unexpected": True}}),
        lambda request: httpx.Response(200, json={}),
    ]
    for failure in failures:
        server.on_count = failure
        with pytest.raises(IndexUnavailable) as caught:
            index.count(TOOLS)
        assert not isinstance(caught.value, IndexTimeout)


def test_a_server_that_is_down_is_an_unavailable_index() -> None:
    # Port 1 of this machine: nothing listens there, and no packet leaves it.
    index = QdrantIndex.connect("http://127.0.0.1:1", None, 3, timeout_s=0.5)
    with pytest.raises(IndexUnavailable):
        index.search(TOOLS, [1.0, 0.0, 0.0], where=IndexFilter(), limit=1)
    index.close()


def test_importing_the_adapter_does_not_import_the_client() -> None:
    code = "import sys, skillroute.core.documents.index.qdrant; print('qdrant_client' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
