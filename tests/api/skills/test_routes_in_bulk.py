"""Skills written many at once, and what would become of things that are only tried."""

from __future__ import annotations

from typing import Any

import pytest
from fastapi.testclient import TestClient

from tests.api.routes import stored
from tests.builders import System, of_org

SKILLS = "/api/v1/skills"


def skill(id_: str, **fields: Any) -> dict[str, Any]:
    return {"id": id_, "name": id_.title(), "description": f"All about {id_}.", **fields}


def put(client: TestClient, *skills: Any, query: str = "") -> dict[str, Any]:
    response = client.put(f"{SKILLS}{query}", json={"skills": skills})
    assert response.status_code == 200, response.text
    answer: dict[str, Any] = response.json()
    return answer


def statuses(answer: dict[str, Any]) -> list[str]:
    return [result["status"] for result in answer["results"]]


def test_skills_are_created_changed_and_left_alone(client: TestClient, system: System) -> None:
    answer = put(client, skill("mail", keywords=["letter"]), skill("film", is_active=False))
    assert (answer["created"], statuses(answer)) == (2, ["created", "created"])
    assert [result["id"] for result in answer["results"]] == ["mail", "film"]
    before = client.get(f"{SKILLS}?is_active=all").json()
    assert {one["id"]: one["is_active"] for one in before} == {"mail": True, "film": False}
    assert all(one["is_embedded"] for one in before)
    # WHEN they are written back as they were read, but for one
    read = {one["id"]: one for one in before}
    answer = put(client, read["mail"], {**read["film"], "description": "Cutting and joining films."})
    assert statuses(answer) == ["unchanged", "updated"]
    after = {one["id"]: one for one in client.get(f"{SKILLS}?is_active=all").json()}
    assert after["mail"] == read["mail"]
    assert (after["film"]["description"], after["film"]["is_active"]) == ("Cutting and joining films.", False)
    assert after["film"]["is_embedded"]
    # AND without its state a skill keeps it
    assert statuses(put(client, skill("film"), skill("mail"))) == ["updated", "updated"]
    assert client.get(f"{SKILLS}/film").json()["is_active"] is False
    assert client.get(f"{SKILLS}/mail").json()["keywords"] == []


def test_what_is_wrong_with_one_keeps_the_others(client: TestClient, system: System) -> None:
    answer = put(
        client,
        skill("No Id"),
        skill("mail", description="short"),
        skill("film", keyword=["film"]),
        skill("film"),
        "text",
        skill("classify"),
        skill("state", is_active="no"),
    )
    assert (answer["created"], answer["failed"]) == (1, 6)
    assert [(result["error"] or {}).get("field") for result in answer["results"]] == [
        "id",
        "description",
        None,
        "id",
        "skill",
        "id",
        "is_active",
    ]
    [warning] = answer["results"][2]["warnings"]
    assert warning["message"] == "is unknown and was left out: did you mean keywords?"


def test_a_skill_of_others_or_of_all_is_not_written(system: System, client: TestClient) -> None:
    system.create("mail")
    system.create("secret", of_org("globex"))
    sync = system.parts.skills.sync
    report = sync([skill("mail"), skill("secret"), skill("film", org_id="globex")], of_org("acme"))
    assert [outcome.status for outcome in report.outcomes] == ["failed", "created", "failed"]
    assert report.outcomes[0].problems[0].type == "global_item"
    assert system.parts.skills.read.get("secret", of_org("globex")).name == "secret"


def test_a_deleted_skill_is_created_again_and_a_full_organisation_says_so(
    client: TestClient, system: System, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(client, skill("mail"))
    client.delete(f"{SKILLS}/mail")
    assert statuses(put(client, skill("mail"))) == ["created"]
    monkeypatch.setattr("skillroute.skills.create.MAX_SKILLS", 2)
    answer = put(client, skill("b"), skill("a"), skill("mail", name="Letters"))
    assert statuses(answer) == ["failed", "created", "updated"]
    assert answer["results"][0]["errors"][0]["type"] == "too_many_skills"


def test_a_skill_that_others_change_meanwhile_fails_alone(system: System) -> None:
    sync = system.parts.skills.sync
    sync([skill("mail"), skill("film")], of_org(None))
    done: list[None] = []

    def change() -> None:
        if not done:
            done.append(None)
            system.change("mail", name="Letters")

    system.database.before_transact = change
    report = sync([skill("mail", keywords=["a"]), skill("film", keywords=["b"])], of_org(None))
    assert [outcome.status for outcome in report.outcomes] == ["failed", "updated"]
    assert report.outcomes[0].problems[0].type == "changed_meanwhile"


def test_without_the_model_skills_are_stored_and_the_answer_says_so(client: TestClient, system: System) -> None:
    system.embedder.away = True
    answer = put(client, skill("mail"))
    assert (answer["created"], answer["degraded"]) == (1, ["embedding_unavailable"])
    assert client.get(f"{SKILLS}/mail").json()["is_embedded"] is False


TRIED = {
    "tools": ("items", [{"name": "a", "description": "New."}, {"name": "b"}, {"name": "kept"}, {"name": ""}]),
    "servers": (
        "servers",
        [{"name": "a", "tools": [{"name": "t"}]}, {"name": "b", "description": "New."}, {"name": "kept"}, {"name": 1}],
    ),
    "agents": (
        "agents",
        [{"name": "a", "url": "https://a.test"}, {"name": "b", "description": "New."}, {"name": "kept"}, {"name": 1}],
    ),
    "skills": ("skills", [skill("a"), skill("b", name="Other"), skill("kept"), skill("c", name=1)]),
}


@pytest.mark.parametrize("kind", TRIED)
def test_a_dry_run_says_what_would_become_of_each_and_writes_nothing(
    client: TestClient, system: System, kind: str
) -> None:
    name, things = TRIED[kind]
    there = [{**thing, "description": "As it was before."} for thing in things[1:3]]
    client.put(f"/api/v1/{kind}", json={name: there})
    things = [things[0], {**things[1], "description": "Something new."}, there[1], things[3]]
    before = stored(system)
    embedded = len(system.embedder.texts) if hasattr(system.embedder, "texts") else None
    answer = client.put(f"/api/v1/{kind}?dry_run=true", json={name: things}).json()
    assert statuses(answer) == ["created", "updated", "unchanged", "failed"]
    assert (answer["degraded"], stored(system)) == ([], before)
    if kind != "skills":
        assert answer["results"][0]["id"] is None
        assert isinstance(answer["results"][1]["id"], int)
    if embedded is not None:
        assert len(system.embedder.texts) == embedded
    done = client.put(f"/api/v1/{kind}", json={name: things}).json()
    assert statuses(done) == statuses(answer)
