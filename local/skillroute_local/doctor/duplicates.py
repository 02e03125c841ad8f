"""Tools that offer the same, and descriptions that do not tell tools apart."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from skillroute.catalogue.text import name_words
from skillroute.search.answer.duplicates import ALIKE

from skillroute_local.doctor.descriptions import is_empty
from skillroute_local.doctor.model import Catalogue, Code, Finding, Tool, in_order, listed
from skillroute_local.doctor.similar_sets import by_key, groups, similar_pairs
from skillroute_local.doctor.words import Words, normalised, words_of, words_of_name

DROWNED = 0.9
"""Descriptions of many words that share so much of them differ in little."""

_MANY_WORDS = 20


def near_duplicates(catalogue: Catalogue) -> Iterator[Finding]:
    """Find tools that are one tool to a search that collapses near-duplicates (docs/adr/0042), in groups."""
    for group in near_duplicate_groups(catalogue.tools):
        servers = sorted({tool.server for tool in group if tool.server})
        where = f"of {_and(servers)}" if len(servers) > 1 else f"of {servers[0]}" if servers else "without a server"
        yield Finding(
            Code.NEAR_DUPLICATES,
            min(70, (50 if len(servers) > 1 else 60) + 5 * (len(group) - 2)),
            f"{len(group)} {group[0].type}s {where} have names and descriptions that say the same",
            "switch off all but one; where both are needed, say in each description what only that one works on. "
            "Searches with `collapse_duplicates` show one of them",
            in_order(group),
        )


def _and(servers: Sequence[str]) -> str:
    *most, last = servers
    return f"{listed(most, 3)} and {last}" if len(servers) <= 4 else listed(servers, 3)


def near_duplicate_groups(tools: Sequence[Tool]) -> list[list[Tool]]:
    """Return the groups of near-duplicates, each of at least two tools."""
    found = []
    for block in by_key(len(tools), lambda place: _name_key(tools[place])).values():
        if len(block) > 1:
            some = [tools[place] for place in block]
            words = [words_of(tool.description) for tool in some]
            found += [[some[place] for place in group] for group in groups(len(some), _alike(words, ALIKE))]
    return found


def alike(catalogue: Catalogue) -> Iterator[Finding]:
    """Find descriptions that are the same, or long and nearly the same, of tools that are no near-duplicates."""
    tools = [tool for tool in in_order(catalogue.tools) if not is_empty(tool.description)]
    known = _numbered(near_duplicate_groups(tools))
    same = by_key(len(tools), lambda place: (tools[place].type, normalised(tools[place].description)))
    for places in same.values():
        group = [tools[place] for place in places]
        if len({known.get(tool.id, -tool.id) for tool in group}) > 1:
            yield _alike_finding(group, "the same description: nothing in it tells them apart", 70)
    for group in _drowned(tools, known):
        what = f"long descriptions that share {DROWNED:.0%} of their words: what tells them apart is lost in them"
        yield _alike_finding(group, what, 50)


def _alike_finding(group: Sequence[Tool], what: str, weight: int) -> Finding:
    return Finding(
        Code.DESCRIPTIONS_ALIKE,
        weight,
        f"{len(group)} {group[0].type}s have {what}",
        "begin each description with what only that tool does; what all of them share is the server's to say, once",
        in_order(group),
    )


def _drowned(tools: Sequence[Tool], known: dict[int, int]) -> list[list[Tool]]:
    """Return groups of tools whose long descriptions differ in a few words, none of which their names differ in."""
    words = [words_of(tool.description) for tool in tools]
    long = [place for place in range(len(tools)) if len(words[place]) >= _MANY_WORDS]

    def is_one(one: int, other: int) -> bool:
        first, second = tools[long[one]], tools[long[other]]
        if first.type != second.type or known.get(first.id, -1) == known.get(second.id, -2):
            return False
        if normalised(first.description) == normalised(second.description):
            return False
        return not _tell_apart(first, words[long[one]], second, words[long[other]])

    pairs = [pair for pair in _alike([words[place] for place in long], DROWNED) if is_one(*pair)]
    return [[tools[long[place]] for place in group] for group in groups(len(long), pairs)]


def _tell_apart(first: Tool, of_first: Words, second: Tool, of_second: Words) -> bool:
    """Return whether what the names differ in is what the descriptions differ in: one of groups, one of users."""
    one, other = words_of_name(first.name), words_of_name(second.name)
    if one == other:
        return True  # plans of a rule, rules of a plan: the order tells, in the descriptions as in the names
    return bool((one - other) & (of_first - of_second) or (other - one) & (of_second - of_first))


def _alike(words: Sequence[Words], at_least: float) -> Iterator[tuple[int, int]]:
    """Yield pairs of places whose sets are equal, or share at least so much; equal ones are connected in a chain."""
    of_set = {key: places for key, places in by_key(len(words), lambda place: words[place]).items() if key}
    for places in of_set.values():
        yield from pairwise(places)
    distinct = sorted(of_set, key=sorted)
    for one, other in similar_pairs(distinct, at_least):
        yield of_set[distinct[one]][0], of_set[distinct[other]][0]


def _name_key(tool: Tool) -> tuple[str, frozenset[str]]:
    return tool.type, name_words(tool.name, tool.server)


def _numbered(found: Sequence[Sequence[Tool]]) -> dict[int, int]:
    return {tool.id: number for number, group in enumerate(found) for tool in group}
