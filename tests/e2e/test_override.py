"""What a person decided stays, whatever comes through the catalogue and the queue, until somebody forces it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.e2e.processes import HASHING, Processes, Up, answered
from tests.e2e.work import AT_ONCE, create_skill, send_to_classify, settle, skills_of, verified

TOOL = {
    "server": "bakery",
    "name": "bake_bread",
    "description": "Bake bread and rolls in the oven of the bakery.",
}
OTHER = {"server": "bakery", "name": "bake_rolls", "description": "Bake rolls in the oven of the bakery."}


def start(processes: Processes, home: Path) -> Up:
    server = processes.up(home, "--no-examples", **HASHING, **AT_ONCE).ready()
    oven = "Bake bread and rolls in the oven of the bakery."
    create_skill(server, "bakery", description=oven, keywords=["bake", "bread", "oven"])
    create_skill(server, "sailing", description="Set sails and leave the harbour.", keywords=["sail", "harbour"])
    return server


def classify(server: Up, tool_id: int, *, force: bool = False) -> dict[str, Any]:
    body = {"tool_id": tool_id, "force_reclassify": force}
    said: dict[str, Any] = answered(server.http.post("/api/v1/skills/classify", json=body))
    return said


def decided(server: Up, tool_id: int) -> list[tuple[str, bool, str]]:
    return [(each["skill_id"], each["is_primary"], each["source"]) for each in skills_of(server, tool_id)]


def test_it_survives_every_way_of_classifying_but_force(home: Path, processes: Processes) -> None:
    server = start(processes, home)
    [result, other] = server.put(TOOL, OTHER)["results"]
    tool_id = result["id"]
    settle(server)
    by_classifier = [("bakery", True, "similarity")]
    assert decided(server, tool_id) == decided(server, other["id"]) == by_classifier

    # WHEN a person decides otherwise
    given = [{"skill_id": "sailing", "confidence": 0.6}]
    answered(server.http.put(f"/api/v1/tools/{tool_id}/skills", json={"skills": given}))
    by_person = skills_of(server, tool_id)
    assert decided(server, tool_id) == [("sailing", True, "human_override")]

    # THEN it is left by the same import, and by one that says something else
    assert server.put(TOOL)["unchanged"] == 1
    settle(server)
    assert skills_of(server, tool_id) == by_person
    changed = {"description": "Bake bread in the oven.", "input_schema": {"type": "object"}}
    assert server.put(TOOL | changed)["updated"] == 1
    settle(server)
    assert skills_of(server, tool_id) == by_person

    # AND by the queue, in a batch with others, and by a classification that is not forced
    send_to_classify(server, tool_id, other["id"])
    settle(server)
    assert skills_of(server, tool_id) == by_person
    assert decided(server, other["id"]) == by_classifier
    said = classify(server, tool_id)
    assert (said["decision"], said["primary_skill_id"]) == ("human", "sailing")
    assert skills_of(server, tool_id) == by_person

    # AND by a new skill, which lets tools without skills be looked at again, and by the loss of other skills
    create_skill(server, "loaves", description="Bake bread in the oven.", keywords=["bake", "bread"])
    assert server.http.delete("/api/v1/skills/loaves").status_code == 204
    settle(server)
    assert skills_of(server, tool_id) == by_person

    # AND that no skill fits is a decision too
    answered(server.http.put(f"/api/v1/tools/{other['id']}/skills", json={"skills": []}))
    server.put(OTHER | {"description": "Bake rolls, rolls and rolls in the oven of the bakery."})
    send_to_classify(server, other["id"])
    settle(server)
    assert classify(server, other["id"])["decision"] == "human"
    assert decided(server, other["id"]) == []
    assert answered(server.http.get("/api/v1/skills/suggestions")) == []

    # WHEN it is forced
    assert classify(server, other["id"], force=True)["primary_skill_id"] == "bakery"
    said = classify(server, tool_id, force=True)

    # THEN the classifier's word counts, and what a person said is gone
    assert (said["decision"], said["primary_skill_id"]) == ("classified", "bakery")
    assert decided(server, tool_id) == by_classifier
    settle(server)
    verified(server)
