"""The page Map, without a browser: every tool and skill with a vector has a place, near what is like it."""

from __future__ import annotations

import json
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fastapi.testclient import TestClient
from skillroute_client import AsyncSkillroute
from skillroute_local.console import map as map_page
from skillroute_local.console.app import KEY_HEADER, console_app
from skillroute_local.console.lent_parts import LendParts
from skillroute_local.console.plane import in_a_plane

from tests.api.one_app import app_over
from tests.builders import System
from tests.client_over import URL, async_client_over


def points_of(system: System, tmp_path: Path, lend: LendParts | None) -> Any:
    def connect(token: str | None) -> AsyncSkillroute:
        return async_client_over(app_over(system), token=token)

    console = console_app(connect, url=URL, requests=tmp_path / "requests", lend=lend)
    answer = TestClient(console, headers={KEY_HEADER: "page"}).post("/do/map/points", json={})
    assert answer.status_code == 200, answer.text
    return json.loads(answer.text.splitlines()[-1])["points"]


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


@pytest.mark.parametrize("number", [0, 1, 3, 4, 5])
def test_few_vectors_and_equal_ones_have_a_place_too(number: int) -> None:
    places = in_a_plane(np.ones((number, 8), np.float32))
    assert places.shape == (number, 2)
    assert ((places >= 0) & (places <= 1)).all()
