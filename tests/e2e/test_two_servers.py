"""Two servers over one database, each with a replica of its own: what one has written the other finds at once."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.e2e.generated import tools
from tests.e2e.processes import HASHING, SOAK, Bare, Processes, answered

ROUNDS = 500 if SOAK else 50


@pytest.fixture
def servers(home: Path, processes: Processes, database_url: str) -> tuple[Bare, Bare]:
    first, second = processes.bare(home, database_url, **HASHING), processes.bare(home, database_url, **HASHING)
    return first.ready(), second.ready()


def test_each_search_sees_what_the_other_server_has_just_written(servers: tuple[Bare, Bare]) -> None:
    generated = tools("pair", ROUNDS + 100)
    servers[0].put(*generated[ROUNDS:])  # some company for what is to be found

    for number, tool in enumerate(generated[:ROUNDS]):
        writer, reader = servers[number % 2], servers[1 - number % 2]
        query = f"{tool['name']} {tool['description']}"

        [result] = writer.put(tool)["results"]
        found = reader.search(query, strategy="direct", limit=1)["tools"]
        assert [hit["db_id"] for hit in found] == [result["id"]]

        assert writer.http.delete(f"/api/v1/tools/{result['id']}").status_code == 204
        left = reader.search(query, strategy="direct", limit=50)["tools"]
        assert result["id"] not in [hit["db_id"] for hit in left]
        answered(reader.http.get(f"/api/v1/tools/{result['id']}"), 404)


def test_a_change_of_text_shows_in_the_other_server_at_once(servers: tuple[Bare, Bare]) -> None:
    first, second = servers
    tool = {"server": "s", "name": "chameleon", "description": "Knows the timetable of trams."}
    first.put(tool, {"server": "s", "name": "other", "description": "Peels potatoes."})
    second.search("timetable of trams", strategy="direct")

    second.put({**tool, "description": "Waters orchids in winter."})

    [hit, *_] = first.search("water orchids in winter", strategy="direct")["tools"]
    assert (hit["name"], hit["description"]) == ("chameleon", "Waters orchids in winter.")
