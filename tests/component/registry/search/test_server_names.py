"""Items and the servers that they name meet by path, name and title, within one organisation, or not at all."""

from __future__ import annotations

import pytest
from skillroute.core.caller import LAPTOP, Caller
from skillroute.registry.search.model import RegistrySearchRequest
from skillroute.registry.text import Place

from tests.builders import System, of_org
from tests.component.registry.test_disabled_servers import active, disable, searched

ACME = of_org("acme")
GIT = {"name": "com.example/git", "title": "Git", "description": "Versions of files."}
LOG = {"description": "Library docs: show commits of a branch."}


def count(system: System, server: int | None, caller: Caller = LAPTOP) -> int:
    return system.entity(server, caller=caller).tool_count


@pytest.mark.parametrize(
    "named",
    ["com.example/git", "/com.example/git", "com.example/Git", "git", "Git", "GIT", "/git/", " git", "Git Tools"],
)
def test_a_server_has_the_tools_that_name_it_by_path_name_or_title_in_any_case(system: System, named: str) -> None:
    title = "Git Tools" if named == "Git Tools" else "Git"
    # GIVEN a tool that was there first, and one that comes later
    system.put("log", server=named, **LOG)
    server = system.put_server("/com.example/git", **{**GIT, "title": title}).id
    system.put("blame", server=named, description="Library docs: say who wrote a line.")
    # THEN it is found by their words, shows them, and switches them
    assert (count(system, server), len(system.entity_words(server, Place.TOOL))) == (2, 2)
    assert "show commits" in system.entity_text(server)
    [found] = system.parts.registry_search(RegistrySearchRequest(query="commits of a branch"), LAPTOP).servers
    assert "log" in [tool.tool_name for tool in found.matching_tools]
    disable(system, server)
    assert (searched(system), active(system)) == (set(), {"log": False, "blame": False})
    system.put("late", server=named, **LOG)
    assert searched(system) == set()
    disable(system, server, is_enabled=True)
    assert searched(system) == {"log", "blame", "late"}
    assert system.parts.verify().findings == []


@pytest.mark.parametrize("named", ["other/git", "git2", "gi", "example/git", "com.example"])
def test_another_name_is_no_other_way_to_write_it(system: System, named: str) -> None:
    server = system.put_server("/com.example/git", **GIT).id

    system.put("log", server=named, **LOG)

    assert count(system, server) == 0


def test_a_name_that_may_mean_two_means_none_until_one_of_them_is_gone(system: System) -> None:
    # GIVEN
    system.put("log", server="git", **LOG)
    one = system.put_server("/com.example/git", name="com.example/git").id
    assert count(system, one) == 1
    disable(system, one)
    assert searched(system) == set()
    # WHEN a second one is called so
    other = system.put_server("/org.other/git", name="org.other/git")
    # THEN it is said, and neither has the tool nor switches it
    assert [warning.message for warning in other.warnings] == [
        "items of server 'git' may be of /com.example/git or /org.other/git, and count as of none: give them the path "
        "of one as their server"
    ]
    assert (count(system, one), count(system, other.id), system.entity_words(one, Place.TOOL)) == (0, 0, [])
    assert searched(system) == {"log"}
    assert system.parts.verify().findings == []
    # AND the first has it again once the second is gone
    assert other.id is not None
    system.parts.registry.read.delete("server", other.id, LAPTOP)
    assert (count(system, one), len(system.entity_words(one, Place.TOOL))) == (1, 1)
    assert searched(system) == set()
    assert system.parts.verify().findings == []


def test_what_says_the_path_is_of_that_server_whatever_others_are_called(system: System) -> None:
    system.put("log", server="git", **LOG)
    by_path = system.put_server("/git", name="Versions").id

    others = [system.put_server(f"/com.example/{nth}", name="git") for nth in "ab"]

    assert (count(system, by_path), [count(system, other.id) for other in others]) == (1, [0, 0])
    assert [other.warnings for other in others] == [(), ()]


def test_a_server_that_is_renamed_leaves_the_tools_of_its_old_name_and_takes_those_of_its_new_one(
    system: System,
) -> None:
    for name in ("old", "new"):
        system.put(f"of-{name}", server=name, description=f"Library docs of {name}.")
    server = system.put_server("/x", name="Old").id
    disable(system, server)
    assert searched(system) == {"of-new"}

    system.put_server("/x", name="New")

    assert searched(system) == {"of-old"}
    assert [words for words in system.entity_words(server, Place.TOOL) if "new" in words] == system.entity_words(
        server, Place.TOOL
    )
    assert system.parts.verify().findings == []


def test_names_meet_within_an_organisation_and_never_across(system: System) -> None:
    everyones = system.put_server("/com.example/git", **GIT).id
    system.put("log", server="Git", caller=ACME, **LOG)
    assert (count(system, everyones), system.entity_words(everyones, Place.TOOL)) == (0, [])

    own = system.put_server("/com.example/git", caller=ACME, **GIT)
    system.put("blame", server="git", **LOG)

    assert (count(system, everyones), count(system, own.id, ACME), own.warnings) == (1, 1, ())
    disable(system, everyones)
    assert searched(system, ACME) == {"log"}


def test_deleting_a_server_deletes_its_tools_however_they_name_it_and_no_others(system: System) -> None:
    server = system.put_server("/com.example/git", **GIT).id
    for nth, name in enumerate(("git", "com.example/git", "gitlab")):
        system.put(f"tool-{nth}", server=name, **LOG)

    assert server is not None
    system.parts.registry.read.delete("server", server, LAPTOP)

    assert active(system) == {"tool-2": True}


def test_a_server_of_a_registrys_list_is_met_by_the_name_within(system: System) -> None:
    system.put("log", server="io.github.me/notes", **LOG)
    system.put("more", server="notes", **LOG)

    [outcome] = system.put_entities({"server": {"name": "io.github.me/notes", "title": "My notes"}}).outcomes

    assert count(system, outcome.id) == 2


def test_what_nobody_registered_is_switched_off_by_registering_the_name_that_items_have(system: System) -> None:
    for name in ("Git Tools", "git-tools", "other"):
        system.put(f"of {name}", server=name, **LOG)

    [outcome] = system.put_entities({"name": "Git Tools", "is_enabled": False}).outcomes

    assert system.entity(outcome.id).item_servers == ("Git Tools", "git-tools")
    assert searched(system) == {"of other"}


def test_a_name_that_no_item_has_any_more_is_neither_shown_nor_warned_of(system: System) -> None:
    (log,) = system.put("log", server="Git", **LOG)
    one = system.put_server("/com.example/git", name="com.example/git").id
    assert system.entity(one).item_servers == ("Git",)
    system.parts.catalogue.read.delete(log, LAPTOP)
    assert system.entity(one).item_servers == ()
    assert system.put_server("/org.other/git", name="org.other/git").warnings == ()
