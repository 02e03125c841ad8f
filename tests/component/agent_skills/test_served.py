"""What agents are served of Agent Skills: each path once, active, the caller's own before global ones."""

from __future__ import annotations

import pytest
from skillroute.agent_skills.served import ServedAgentSkills, ServedSkill
from skillroute.core.caller import LAPTOP, Caller

from tests.builders import System, of_org
from tests.worlds.agent_skills import agent_skill

ACME, UMBRELLA = of_org("acme"), of_org("umbrella")


@pytest.fixture
def served(system: System) -> ServedAgentSkills:
    return ServedAgentSkills(system.database)


def bodies(served: ServedAgentSkills, caller: Caller) -> dict[str, str]:
    """Return the last line of each SKILL.md that a caller is served, as it reads it at the place that it is shown."""
    found = {}
    for skill in served.page(caller, after=None, limit=100):
        assert served.get(skill.path, caller) == skill
        file = served.file(f"{skill.path}/SKILL.md", caller)
        assert file is not None
        found[skill.path] = file.content.decode().splitlines()[-1]
    return found


def test_an_organisations_own_skill_hides_the_global_one_of_its_path(system: System, served: ServedAgentSkills) -> None:
    # GIVEN
    for caller, body in ((LAPTOP, "global"), (ACME, "acme"), (UMBRELLA, "umbrella")):
        system.put_agent_skills(agent_skill("bees", body), caller=caller)
    system.put_agent_skill("cars", "global")
    own = system.put_agent_skill("hives", "acme", caller=ACME).id
    # THEN
    assert bodies(served, LAPTOP) == {"bees": "global", "cars": "global"}
    assert bodies(served, ACME) == {"bees": "acme", "cars": "global", "hives": "acme"}
    assert bodies(served, UMBRELLA) == {"bees": "umbrella", "cars": "global"}
    # WHEN it is switched off
    assert own is not None
    system.parts.agent_skills.read.switch(own, ACME, is_active=False)
    bees = system.stored_agent_skill(system.put_agent_skill("bees", "acme", caller=ACME).id, ACME)
    system.parts.agent_skills.read.switch(bees.id, ACME, is_active=False)
    # THEN it is gone, and hides nothing
    assert bodies(served, ACME) == {"bees": "global", "cars": "global"}


def test_whether_there_is_any_depends_on_what_the_caller_is_served(system: System, served: ServedAgentSkills) -> None:
    id_ = system.put_agent_skill("bees", caller=ACME).id
    assert id_ is not None
    assert [served.has_any(caller) for caller in (ACME, UMBRELLA, LAPTOP)] == [True, False, False]
    system.parts.agent_skills.read.switch(id_, ACME, is_active=False)
    assert not served.has_any(ACME)


def test_a_skill_has_the_files_of_those_within_it_and_the_inner_ones_are_served(
    system: System, served: ServedAgentSkills
) -> None:
    # GIVEN two skills with a file at the same place, and one whose name begins alike
    system.put_agent_skills(
        agent_skill("farm", "farm", files={"bees/SKILL.md": "outer", "notes.txt": "a"}),
        agent_skill("farm/bees", "inner", files={"hive.txt": "b"}),
        agent_skill("farm-shop", "shop"),
    )
    # THEN
    manifests = {skill.path: [file.path for file in skill.files] for skill in served.page(ACME, after=None, limit=9)}
    assert manifests == {
        "farm": ["farm/SKILL.md", "farm/bees/SKILL.md", "farm/bees/hive.txt", "farm/notes.txt"],
        "farm-shop": ["farm-shop/SKILL.md"],
        "farm/bees": ["farm/bees/SKILL.md", "farm/bees/hive.txt"],
    }
    farm, bees = (served.get(path, ACME) for path in ("farm", "farm/bees"))
    assert farm is not None
    assert bees is not None
    assert set(bees.files) <= set(farm.files)
    inner = served.file("farm/bees/SKILL.md", ACME)
    assert inner is not None
    assert inner.content.endswith(b"inner")


def test_pages_go_on_behind_a_path(system: System, served: ServedAgentSkills) -> None:
    paths = [f"x{nth}/bees" for nth in range(5)]
    system.put_agent_skills(*map(agent_skill, paths))
    found: list[str] = []
    while page := served.page(LAPTOP, after=found[-1] if found else None, limit=2):
        found += [skill.path for skill in page]
    assert found == paths


def test_a_directory_has_its_direct_children(system: System, served: ServedAgentSkills) -> None:
    # GIVEN
    files = {"a.md": "a", "deep/b.md": "b", "deep/er/c.md": "c"}
    system.put_agent_skills(agent_skill("x/farm", files=files, description="Farms."), agent_skill("x/farm/bees"))

    def names(directory: str, caller: Caller = LAPTOP) -> list[tuple[str, bool]]:
        found = served.children(directory, caller, limit=100, offset=0)
        return [(child.name, child.is_directory) for child in found]

    # THEN
    assert names("x/farm") == [("SKILL.md", False), ("a.md", False), ("bees", True), ("deep", True)]
    assert names("x/farm/deep") == [("b.md", False), ("er", True)]
    assert served.children("x/farm", LAPTOP, limit=1, offset=0)[0].description == "Farms."
    assert served.children("x/farm", LAPTOP, limit=1, offset=1)[0].name == "a.md"
    for unknown in ("x", "x/far", "x/farm/a.md", "x/farm/none", ""):
        assert names(unknown) == []
    system.put_agent_skill("x/farm", caller=ACME)
    assert names("x/farm", ACME) == [("SKILL.md", False), ("bees", True)]
    assert names("x/farm/deep", ACME) == []


def test_a_skill_can_be_larger_than_hosts_take_with_those_within_it(system: System, served: ServedAgentSkills) -> None:
    # GIVEN
    many = {f"{nth}.txt": "x" for nth in range(199)}
    system.put_agent_skills(agent_skill("a"), *(agent_skill(f"a/x{nth}", files=many) for nth in range(2)))
    within = served.get("a", LAPTOP)
    # WHEN
    system.put_agent_skill("a/y", files=many)
    # THEN
    beyond = served.get("a", LAPTOP)
    assert isinstance(within, ServedSkill)
    assert isinstance(beyond, ServedSkill)
    assert (within.is_within_limits, len(beyond.files), beyond.is_within_limits) == (True, 601, False)
