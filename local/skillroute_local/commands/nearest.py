"""Why a search found nothing: which threshold left the nearest out, and what they are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from skillroute.core.errors.model import SkillrouteError

from skillroute_local.commands.output import note, print_line
from skillroute_local.commands.search_shown import first_line
from skillroute_local.commands.tables import Column, show_table

if TYPE_CHECKING:
    from skillroute_local.client import Client

_MAX_NEAREST = 3
_COLUMNS = (Column("cosine"), Column("server"), Column("name"), Column("description", sentences=True))
_SELECTION = ("query", "needs", "item_type", "server")
"""The subject of a search, without its thresholds."""


def explain_nothing(client: Client, request: dict[str, Any], answer: dict[str, Any]) -> None:
    """Say why an answer has no tool, with the nearest ones: they are asked for once more, without thresholds.

    Parameters
    ----------
    request, answer : dict
        What was asked of `POST /api/v1/search`, and what came.
    """
    servers = request.get("server") or []
    known = [server for server in servers if server not in answer.get("unknown_servers", ())]
    if "tool_search_failed" in answer["metadata"]["degraded"] or (servers and not known):
        return  # the message is printed already
    mode = answer["metadata"]["search_mode"]
    if mode.startswith("lexical"):
        by_meaning = ": --mode semantic finds what means the same" if mode == "lexical" else ""
        print_line(f"no tool has a word of this{by_meaning}")
        return
    try:
        nearest = client.search(_without_thresholds(request))["tools"]
    except SkillrouteError as error:
        note(f"the nearest cannot be shown: {error}")
        return
    if not nearest:
        hint = f" of {', '.join(known)} to find" if known else " to find: `skillroute import` brings some in"
        print_line(f"there is no {request.get('item_type', 'tool')}{hint}")
        return
    print_line(f"{_left_out(request, answer, nearest[0].get('similarity'))}These are the nearest:")
    rows = [
        (_number(tool.get("similarity")), tool["server"] or "", tool["name"], first_line(tool["description"]))
        for tool in nearest
    ]
    show_table(_COLUMNS, rows)


def _left_out(request: dict[str, Any], answer: dict[str, Any], best: float | None) -> str:
    """Return which threshold left what out, as sentences; nothing where there was none."""
    skill_threshold, tool_threshold = _thresholds(request, answer["metadata"]["search_mode"])
    sentences = []
    if skill_threshold and answer["metadata"]["fallback_reason"] == "no_skill_matched":
        sentences.append(f"No skill reached the skill threshold of {skill_threshold:g}, so all tools were searched.")
    skills = ", ".join(skill["id"] for skill in answer["matched_skills"])
    if tool_threshold and skills and best is not None and best >= tool_threshold:
        sentences.append(
            f"No tool of the matched skills ({skills}) reached the tool threshold of {tool_threshold:g}; others do."
        )
    elif tool_threshold:
        sentences.append(f"No tool reached the tool threshold of {tool_threshold:g}: --tool-threshold lowers it.")
    return "".join(f"{sentence} " for sentence in sentences)


def _thresholds(request: dict[str, Any], mode: str) -> tuple[float | None, float | None]:
    """Return the thresholds of skills and tools that applied: in the hybrid modes only those that were given."""
    from skillroute.catalogue.model import DEFAULT_TOOL_THRESHOLD  # noqa: PLC0415 (most searches find something)
    from skillroute.search.model import DEFAULT_SKILL_THRESHOLD  # noqa: PLC0415

    is_semantic = mode == "semantic"
    return (
        request.get("skill_threshold", DEFAULT_SKILL_THRESHOLD if is_semantic else None),
        request.get("tool_threshold", DEFAULT_TOOL_THRESHOLD if is_semantic else None),
    )


def _without_thresholds(request: dict[str, Any]) -> dict[str, Any]:
    # All that was to be searched, ranked by the cosine that thresholds are of.
    kept = {name: value for name, value in request.items() if name in _SELECTION}
    everything = {"strategy": "direct", "mode": "semantic", "tool_threshold": 0.0, "include_schemas": False}
    return {"limit": _MAX_NEAREST} | kept | everything


def _number(cosine: float | None) -> str:
    return "-" if cosine is None else f"{cosine:.3f}"
