"""Two servers over one database: the next search of one knows what the other did to the registry, kill -9 or not."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.e2e.generated import agents, servers
from tests.e2e.processes import HASHING, SOAK, Bare, Processes, answered, eventually
from tests.e2e.work import paths, put_servers, search_registry, verified
from tests.unit.core.stubs import Answer, StubServer, openai_answer

ROUNDS = 200 if SOAK else 12
DIMENSION = 384
NEVER = "3600"  # the relay runs once, at the start, and then not during a test


@pytest.fixture
def pair(home: Path, processes: Processes, database_url: str) -> tuple[Bare, Bare]:
    first, second = processes.bare(home, database_url, **HASHING), processes.bare(home, database_url, **HASHING)
    return first.ready(), second.ready()


def change(server: Bare, kind: str, entity_id: int, how: str) -> None:
    url = f"/api/v1/{kind}s/{entity_id}"
    if how == "delete":
        assert server.http.delete(url).status_code == 204
    else:
        answered(server.http.post(f"{url}/{how}"))


def test_the_very_next_search_of_the_other_server_knows(pair: tuple[Bare, Bare]) -> None:
    generated = servers(ROUNDS + 60)
    put_servers(pair[0], *generated[ROUNDS:])  # some company for what is to be found

    for number, given in enumerate(generated[:ROUNDS]):
        writer, reader = pair[number % 2], pair[1 - number % 2]
        path, query = given["path"], f"{given['name']} {given['tools'][0]['description']}"

        # Found as soon as the PUT is answered, by both halves of the search, tools included.
        [result] = put_servers(writer, given)
        answer = search_registry(reader, query, explain=True)
        assert paths(answer)[0] == path
        first = answer["explain"][0]
        assert (first["path"], first["text_boost"] > 0, first["vector"] > 0.5) == (path, True, True)
        assert answer["tools"][0]["tool_name"] == given["tools"][0]["name"]
        assert answer["servers"][0]["num_tools"] == len(given["tools"])

        # A changed text and another list of tools.
        changed = given | {"description": "Waters orchids in winter.", "tools": [{"name": "sprinkle"}]}
        put_servers(writer, changed)
        answer = search_registry(reader, "waters orchids in winter, sprinkle")
        assert (paths(answer)[0], answer["servers"][0]["description"]) == (path, changed["description"])
        assert [tool["tool_name"] for tool in answer["tools"]] == ["sprinkle"]
        found = search_registry(reader, query, max_results=50)
        assert not {tool["name"] for tool in given["tools"]} & {tool["tool_name"] for tool in found["tools"]}

        # Gone while it is disabled, but for who asks for it; gone for good once it is deleted.
        change(writer, "server", result["id"], "disable")
        assert path not in paths(search_registry(reader, "waters orchids in winter", max_results=50))
        answer = search_registry(reader, "waters orchids in winter", include_disabled=True)
        assert (paths(answer)[0], answer["servers"][0]["is_enabled"]) == (path, False)
        change(writer, "server", result["id"], "enable")
        assert paths(search_registry(reader, "waters orchids in winter"))[0] == path
        change(writer, "server", result["id"], "delete")
        answer = search_registry(reader, "waters orchids in winter, sprinkle", max_results=50, include_disabled=True)
        assert path not in paths(answer)
        assert "sprinkle" not in {tool["tool_name"] for tool in answer["tools"]}
        assert reader.items(name="sprinkle") == []
        answered(reader.http.get(f"/api/v1/servers/{result['id']}"), 404)

    assert verified(pair[0])["ok"] and verified(pair[1])["ok"]


def test_an_agent_is_known_and_forgotten_as_fast(pair: tuple[Bare, Bare]) -> None:
    for number, card in enumerate(agents(10)):
        writer, reader = pair[number % 2], pair[1 - number % 2]
        query = f"{card['name']} {card['description']}"

        def found(server: Bare = reader, query: str = query) -> list[str]:
            return [agent["path"] for agent in search_registry(server, query, max_results=50)["agents"]]

        [result] = answered(writer.http.put("/api/v1/agents", json={"agents": [card]}))["results"]
        assert found()[0] == card["path"]
        change(writer, "agent", result["id"], "disable")
        assert card["path"] not in found()
        change(writer, "agent", result["id"], "enable")
        assert found()[0] == card["path"]
        if number % 2:
            change(writer, "agent", result["id"], "delete")
            assert card["path"] not in found()


def test_a_tool_that_is_put_or_deleted_by_itself_shows_in_its_server_at_once(pair: tuple[Bare, Bare]) -> None:
    first, second = pair
    put_servers(first, *servers(20))
    path = servers(1)[0]["path"]
    assert paths(search_registry(second, "zeppelins"))[:1] != [path]

    [result] = first.put({"server": path[1:], "name": "inflate", "description": "Inflates zeppelins."})["results"]
    answer = search_registry(second, "zeppelins")
    assert (paths(answer)[0], answer["tools"][0]["tool_name"]) == (path, "inflate")
    assert [tool["tool_name"] for tool in answer["servers"][0]["matching_tools"]] == ["inflate"]

    assert second.http.delete(f"/api/v1/tools/{result['id']}").status_code == 204
    explained = search_registry(first, "zeppelins", explain=True)
    assert explained["tools"] == []
    assert {each["text_boost"] for each in explained["explain"]} == {0.0}


class TestAWriterThatIsKilled:
    """It dies between its commit and the vector: its model holds the answer back until the test is over."""

    @pytest.fixture
    def model(self) -> Iterator[StubServer]:
        model = StubServer(lambda request: openai_answer(request, DIMENSION))
        yield model
        model.close()

    @pytest.fixture
    def settings(self, model: StubServer) -> dict[str, str]:
        return {
            "SKILLROUTE_EMBEDDING_PROVIDER": "openai",
            "SKILLROUTE_EMBEDDING_MODEL": "stub",
            "SKILLROUTE_EMBEDDING_DIMENSION": str(DIMENSION),
            "SKILLROUTE_OPENAI_BASE_URL": f"{model.url}/v1",
        }

    def test_leaves_what_words_find_at_once_and_a_later_relay_gives_it_its_vector(
        self, home: Path, processes: Processes, database_url: str, model: StubServer, settings: dict[str, str]
    ) -> None:
        # GIVEN two servers whose model is elsewhere
        writer, reader = (
            processes.bare(home, database_url, "--relay-every-s", NEVER, **settings).ready() for _ in range(2)
        )
        put_servers(writer, *servers(30))
        given = {"path": "/violin", "name": "Luthier", "description": "Repairs violins for musicians."}

        # WHEN one is killed while it waits for the vector of what it has committed
        asked = len(model.requests)
        model.script.append(Answer(hang=True))
        call = threading.Thread(target=_put_and_be_cut_off, args=(writer.url, given))
        call.start()
        eventually(lambda: len(model.requests) > asked, "the writer asks for the vector")
        writer.kill()
        call.join()
        [text] = model.requests[asked].body["input"]
        assert given["description"].rstrip(".") in text

        # THEN the other one finds it by its words, and by them alone
        answer = search_registry(reader, "luthier", explain=True)
        assert (answer["search_mode"], paths(answer)[0]) == ("hybrid", "/violin")
        figures = next(each for each in answer["explain"] if each["path"] == "/violin")
        assert (figures["vector"], figures["text_boost"]) == (0.0, 3.0)
        entity_id = answer["servers"][0]["id"]
        assert not answered(reader.http.get(f"/api/v1/servers/{entity_id}"))["is_embedded"]

        # AND once a relay runs, which the next server to start does, by what it means
        processes.bare(home, database_url, **settings).ready()
        eventually(
            lambda: answered(reader.http.get(f"/api/v1/servers/{entity_id}"))["is_embedded"], "it has its vector"
        )
        answer = search_registry(reader, "musicianship of violinists", explain=True)
        first = answer["explain"][0]
        assert (first["path"], first["text_boost"], paths(answer)[0]) == ("/violin", 0.0, "/violin")
        assert first["vector"] > 0
        assert verified(reader)["ok"]


def _put_and_be_cut_off(url: str, given: dict[str, Any]) -> None:
    with suppress(httpx.TransportError), httpx.Client(base_url=url, timeout=60.0, trust_env=False) as http:
        http.put("/api/v1/servers", json={"servers": [given]})
