"""The page Map, without a browser: every tool and skill with a vector has a place, near what is like it."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fastapi.testclient import TestClient
from skillroute.core.documents.model import IndexRecord
from skillroute_client import AsyncSkillroute
from skillroute_local.console import map as map_page
from skillroute_local.console import plane
from skillroute_local.console.app import KEY_HEADER, console_app
from skillroute_local.console.lent_parts import LendParts
from skillroute_local.console.plane import in_a_plane

from tests.api.one_app import app_over
from tests.builders import System
from tests.client_over import URL, async_client_over


def points_of(system: System, tmp_path: Path, lend: LendParts | None) -> Any:
    return asking(system, tmp_path, lend)()


def asking(system: System, tmp_path: Path, lend: LendParts | None) -> Callable[[], Any]:
    """Return what asks one console for the points."""

    def connect(token: str | None) -> AsyncSkillroute:
        return async_client_over(app_over(system), token=token)

    console = console_app(connect, url=URL, requests=tmp_path / "requests", lend=lend)
    client = TestClient(console, headers={KEY_HEADER: "page"})

    def ask() -> Any:
        answer = client.post("/do/map/points", json={})
        assert answer.status_code == 200, answer.text
        return json.loads(answer.text.splitlines()[-1])["points"]

    return ask


def test_tools_and_skills_have_a_place(system: System, tmp_path: Path) -> None:
    system.create("mail", name="Mail", description="Reading and writing letters.")
    one, other = system.put("send", "saw", server="desk")
    system.assign(one, mail=0.9)
    system.embedder.refuses = lambda text: "poison" in text
    system.put("poison")

    points = points_of(system, tmp_path, lambda: nullcontext(system.parts))

    [[key, name, *place]] = points["skills"]
    assert (key, name) == ("mail", "Mail")
    tools = {tool[0]: tool[1:] for tool in points["tools"]}
    assert tools.keys() == {one, other}
    assert tools[one][:3] == ["send", "desk", 0]
    assert tools[other][:3] == ["saw", "desk", -1]
    assert all(0 <= x <= 1 for x in (*place, *tools[one][3:], *tools[other][3:]))
    assert (points["without_vector"], points["left_out"]) == (1, 0)


def test_more_tools_than_there_is_room_for_are_left_out_evenly(
    system: System, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(map_page, "MAX_TOOLS", 3)
    system.put(*(f"tool_{number}" for number in range(8)))
    points = points_of(system, tmp_path, lambda: nullcontext(system.parts))
    assert (len(points["tools"]), points["left_out"]) == (3, 5)


def test_places_are_computed_once_per_state_of_the_catalogue(
    system: System, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    system.create("mail", name="Mail", description="Reading and writing letters.")
    one, _ = system.put("send", "saw", server="desk")
    placed: list[int] = []
    monkeypatch.setattr(plane, "in_a_plane", lambda vectors: placed.append(len(vectors)) or in_a_plane(vectors))
    ask = asking(system, tmp_path, lambda: nullcontext(system.parts))

    [first, again] = [ask() for _ in range(2)]
    assert again == first
    assert placed == [2]

    system.assign(one, mail=0.9)  # moves no vector
    given = ask()
    assert {tool[1]: tool[3] for tool in given["tools"]} == {"send": 0, "saw": -1}
    assert given["at"] == first["at"]
    assert placed == [2]

    system.put("new")
    assert len(ask()["tools"]) == 3
    assert placed == [2, 3]


def test_a_skill_without_a_vector_has_tools_and_no_place() -> None:
    payload = {"db_id": 1, "name": "brew", "server": None, "primary_skill_key": "poison"}
    tool = IndexRecord("1", (1.0, 0.0), "", payload)
    skill = IndexRecord("poison", None, "", {"name": "Poison"})
    kept = map_page.Kept()
    map_page.place(map_page.Catalogue("epoch", "position", [tool], [skill], {}), kept)
    assert kept.points is not None
    assert kept.points["skills"] == [["poison", "Poison", None, None]]
    assert kept.points["tools"] == [[1, "brew", "", 0, 0.0, 0.5]]


def test_without_the_database_there_is_no_map(system: System, tmp_path: Path) -> None:
    assert points_of(system, tmp_path, None) is None


def test_an_empty_catalogue_is_an_empty_map(system: System, tmp_path: Path) -> None:
    points = points_of(system, tmp_path, lambda: nullcontext(system.parts))
    assert (points["tools"], points["skills"]) == ([], [])


def test_what_is_alike_stays_together_and_places_do_not_change() -> None:
    chance = np.random.default_rng(1)
    centres = chance.normal(size=(3, 64))
    groups = np.repeat(np.arange(3), 20)
    vectors = (centres[groups] + 0.2 * chance.normal(size=(60, 64))).astype(np.float32)

    places = in_a_plane(vectors)

    apart = ((places[:, None] - places[None]) ** 2).sum(axis=2)
    np.fill_diagonal(apart, np.inf)
    assert (groups[apart.argmin(axis=1)] == groups).all()
    assert (in_a_plane(vectors) == places).all()


def test_more_than_the_landmarks_are_placed_near_what_is_like_them() -> None:
    chance = np.random.default_rng(2)
    centres = chance.normal(size=(4, 32))
    groups = np.tile(np.arange(4), 100)
    vectors = (centres[groups] + 0.2 * chance.normal(size=(400, 32))).astype(np.float32)

    places = in_a_plane(vectors, landmarks=80)

    apart = ((places[:, None] - places[None]) ** 2).sum(axis=2)
    np.fill_diagonal(apart, np.inf)
    assert (groups[apart.argmin(axis=1)] == groups).mean() > 0.99
    assert len(np.unique(places, axis=0)) == 400  # none hides another
    assert ((places >= 0) & (places <= 1)).all()
    assert (in_a_plane(vectors, landmarks=80) == places).all()


@pytest.mark.parametrize("number", [0, 1, 3, 4, 5])
def test_few_vectors_and_equal_ones_have_a_place_too(number: int) -> None:
    places = in_a_plane(np.ones((number, 8), np.float32))
    assert places.shape == (number, 2)
    assert ((places >= 0) & (places <= 1)).all()
