"""Items and the servers that they name meet by path, name and title, within one organisation, or not at all."""

from __future__ import annotations

import pytest
from skillroute.core.caller import LAPTOP, Caller
from skillroute.registry.search.model import RegistrySearchRequest
from skillroute.registry.text import Place

from tests.builders import of_org
from tests.component.registry.shelf import Shelf
from tests.component.registry.test_disabled_servers import active, disable, searched

ACME = of_org("acme")
GIT = {"name": "com.example/git", "title": "Git", "description": "Versions of files."}
LOG = {"description": "Library docs: show commits of a branch."}


def count(shelf: Shelf, server: int | None, caller: Caller = LAPTOP) -> int:
    return shelf.get(server, caller=caller).tool_count


@pytest.mark.parametrize(
    "named",
    ["com.example/git", "/com.example/git", "com.example/Git", "git", "Git", "GIT", "/git/", " git", "Git Tools"],
)
def test_a_server_has_the_tools_that_name_it_by_path_name_or_title_in_any_case(shelf: Shelf, named: str) -> None:
    title = "Git Tools" if named == "Git Tools" else "Git"
    # GIVEN a tool that was there first, and one that comes later
    shelf.system.put("log", server=named, **LOG)
    server = shelf.server("/com.example/git", **{**GIT, "title": title}).id
    shelf.system.put("blame", server=named, description="Library docs: say who wrote a line.")
    # THEN it is found by their words, shows them, and switches them
    assert (count(shelf, server), len(shelf.words(server, Place.TOOL))) == (2, 2)
    assert "show commits" in shelf.text(server)
    [found] = shelf.system.parts.registry_search(RegistrySearchRequest(query="commits of a branch"), LAPTOP).servers
    assert "log" in [tool.tool_name for tool in found.matching_tools]
    disable(shelf, server)
    assert (searched(shelf.system), active(shelf)) == (set(), {"log": False, "blame": False})
    shelf.system.put("late", server=named, **LOG)
    assert searched(shelf.system) == set()
    disable(shelf, server, is_enabled=True)
    assert searched(shelf.system) == {"log", "blame", "late"}
    assert shelf.system.parts.verify().findings == []


@pytest.mark.parametrize("named", ["other/git", "git2", "gi", "example/git", "com.example"])
def test_another_name_is_no_other_way_to_write_it(shelf: Shelf, named: str) -> None:
    server = shelf.server("/com.example/git", **GIT).id

    shelf.system.put("log", server=named, **LOG)

    assert count(shelf, server) == 0


def test_a_name_that_may_mean_two_means_none_until_one_of_them_is_gone(shelf: Shelf) -> None:
    # GIVEN
    shelf.system.put("log", server="git", **LOG)
    one = shelf.server("/com.example/git", name="com.example/git").id
    assert count(shelf, one) == 1
    disable(shelf, one)
    assert searched(shelf.system) == set()
    # WHEN a second one is called so
    other = shelf.server("/org.other/git", name="org.other/git")
    # THEN it is said, and neither has the tool nor switches it
    assert [warning.message for warning in other.warnings] == [
        "items of server 'git' may be of /com.example/git or /org.other/git, and count as of none: give them the path "
        "of one as their server"
    ]
    assert (count(shelf, one), count(shelf, other.id), shelf.words(one, Place.TOOL)) == (0, 0, [])
    assert searched(shelf.system) == {"log"}
    assert shelf.system.parts.verify().findings == []
    # AND the first has it again once the second is gone
    assert other.id is not None
    shelf.system.parts.registry.read.delete("server", other.id, LAPTOP)
    assert (count(shelf, one), len(shelf.words(one, Place.TOOL))) == (1, 1)
    assert searched(shelf.system) == set()
    assert shelf.system.parts.verify().findings == []


def test_what_says_the_path_is_of_that_server_whatever_others_are_called(shelf: Shelf) -> None:
    shelf.system.put("log", server="git", **LOG)
    by_path = shelf.server("/git", name="Versions").id

    others = [shelf.server(f"/com.example/{nth}", name="git") for nth in "ab"]

    assert (count(shelf, by_path), [count(shelf, other.id) for other in others]) == (1, [0, 0])
    assert [other.warnings for other in others] == [(), ()]


def test_a_server_that_is_renamed_leaves_the_tools_of_its_old_name_and_takes_those_of_its_new_one(
    shelf: Shelf,
) -> None:
    for name in ("old", "new"):
        shelf.system.put(f"of-{name}", server=name, description=f"Library docs of {name}.")
    server = shelf.server("/x", name="Old").id
    disable(shelf, server)
    assert searched(shelf.system) == {"of-new"}

    shelf.server("/x", name="New")

    assert searched(shelf.system) == {"of-old"}
    assert [words for words in shelf.words(server, Place.TOOL) if "new" in words] == shelf.words(server, Place.TOOL)
    assert shelf.system.parts.verify().findings == []


def test_names_meet_within_an_organisation_and_never_across(shelf: Shelf) -> None:
    everyones = shelf.server("/com.example/git", **GIT).id
    shelf.system.put("log", server="Git", caller=ACME, **LOG)
    assert (count(shelf, everyones), shelf.words(everyones, Place.TOOL)) == (0, [])

    own = shelf.server("/com.example/git", caller=ACME, **GIT)
    shelf.system.put("blame", server="git", **LOG)

    assert (count(shelf, everyones), count(shelf, own.id, ACME), own.warnings) == (1, 1, ())
    disable(shelf, everyones)
    assert searched(shelf.system, ACME) == {"log"}


def test_deleting_a_server_deletes_its_tools_however_they_name_it_and_no_others(shelf: Shelf) -> None:
    server = shelf.server("/com.example/git", **GIT).id
    for nth, name in enumerate(("git", "com.example/git", "gitlab")):
        shelf.system.put(f"tool-{nth}", server=name, **LOG)

    assert server is not None
    shelf.system.parts.registry.read.delete("server", server, LAPTOP)

    assert active(shelf) == {"tool-2": True}


def test_a_server_of_a_registrys_list_is_met_by_the_name_within(shelf: Shelf) -> None:
    shelf.system.put("log", server="io.github.me/notes", **LOG)
    shelf.system.put("more", server="notes", **LOG)

    [outcome] = shelf.put({"server": {"name": "io.github.me/notes", "title": "My notes"}}).outcomes

    assert count(shelf, outcome.id) == 2


def test_what_nobody_registered_is_switched_off_by_registering_the_name_that_items_have(shelf: Shelf) -> None:
    for name in ("Git Tools", "git-tools", "other"):
        shelf.system.put(f"of {name}", server=name, **LOG)

    [outcome] = shelf.put({"name": "Git Tools", "is_enabled": False}).outcomes

    assert shelf.get(outcome.id).item_servers == ("Git Tools", "git-tools")
    assert searched(shelf.system) == {"of other"}


def test_a_name_that_no_item_has_any_more_is_neither_shown_nor_warned_of(shelf: Shelf) -> None:
    (log,) = shelf.system.put("log", server="Git", **LOG)
    one = shelf.server("/com.example/git", name="com.example/git").id
    assert shelf.get(one).item_servers == ("Git",)
    shelf.system.parts.catalogue.read.delete(log, LAPTOP)
    assert shelf.get(one).item_servers == ()
    assert shelf.server("/org.other/git", name="org.other/git").warnings == ()
