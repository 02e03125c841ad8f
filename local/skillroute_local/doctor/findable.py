"""Tools that no search finds: their own description as a request does not return them within five."""

from __future__ import annotations

from collections.abc import Iterator

from skillroute_local.doctor.model import Asked, Catalogue, Code, Finding, Tool, listed

WITHIN = 5
"""How many results count: what agents look at."""

LOOKED_AT = 50
"""How many results are looked at to say where a tool is instead."""


def not_findable(catalogue: Catalogue) -> Iterator[Finding]:
    """Find tools that their own description does not bring among the first five results."""
    for tool in catalogue.tools:
        asked = catalogue.asked.get(tool.id)
        if asked is None or (asked.rank is not None and asked.rank <= WITHIN):
            continue
        yield Finding(Code.TOOL_NOT_FINDABLE, _weight(asked), _reason(tool, asked), _help(tool, asked), (tool,))


def _is_kept_out(asked: Asked) -> bool:
    return asked.direct_rank is not None and asked.direct_rank <= WITHIN


def _weight(asked: Asked) -> int:
    if asked.rank is None:
        return 90 if _is_kept_out(asked) else 100
    return 65 if asked.rank <= 2 * WITHIN else 80


def _reason(tool: Tool, asked: Asked) -> str:
    place = (
        f"its own description finds it in place {asked.rank}" if asked.rank else "its own description does not find it"
    )
    first = f"; before it come {listed(asked.first, 3)}" if asked.first else ""
    if not _is_kept_out(asked):
        return place + first
    cause = "its skills keep it out" if tool.skill_ids else "it is in no skill, and others match"
    return f"{place}: {cause}; among all tools it is number {asked.direct_rank}{first}"


def _help(tool: Tool, asked: Asked) -> str:
    if _is_kept_out(asked):
        return (
            "put it into the skills that its requests match; now it is in " + listed(sorted(tool.skill_ids))
            if tool.skill_ids
            else "put it into a skill: `skillroute skills propose` makes skills for tools without one"
        )
    return "say in the first sentence of its description what only this tool does, in words that people ask with"
