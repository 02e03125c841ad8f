"""Why a search found nothing: which threshold left the nearest out, and what they are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from skillroute.core.errors import SkillrouteError

from skillroute_local.commands.output import note, print_line
from skillroute_local.commands.search_shown import first_line
from skillroute_local.commands.tables import Column, show_table

if TYPE_CHECKING:
    from skillroute_local.client import Client

_MOST = 3
_COLUMNS = (Column("cosine"), Column("server"), Column("name"), Column("description", sentences=True))


def explain_nothing(client: Client, request: dict[str, Any], answer: dict[str, Any]) -> None:
    """Say why an answer has no tool, with the nearest ones: they are asked for once more, without thresholds.

    Parameters
    ----------
    request, answer : dict
        What was asked of `POST /api/v1/search`, and what came.
    """
    mode = answer["metadata"]["search_mode"]
    if mode == "lexical":
        print_line("no tool has a word of this: --mode semantic finds what means the same")
        return
    try:
        nearest = client.search(_without_thresholds(request))["tools"]
    except SkillrouteError as error:
        note(f"the nearest cannot be shown: {error}")
        return
    if not nearest:
        print_line(f"there is no {request.get('item_type', 'tool')} to find: `skillroute import` brings some in")
        return
    from skillroute.catalogue.model import DEFAULT_TOOL_THRESHOLD  # noqa: PLC0415 (most searches find something)

    default = DEFAULT_TOOL_THRESHOLD if mode == "semantic" else 0.0
    threshold = request.get("tool_threshold", default)
    print_line(f"{_left_out(request, answer, threshold, nearest[0].get('similarity'))} These are the nearest:")
    rows = [
        (_number(tool.get("similarity")), tool["server"] or "", tool["name"], first_line(tool["description"]))
        for tool in nearest
    ]
    show_table(_COLUMNS, rows)


def _left_out(request: dict[str, Any], answer: dict[str, Any], threshold: float, best: float | None) -> str:
    """Return which threshold left what out, as sentences."""
    skills = ", ".join(skill["id"] for skill in answer["matched_skills"])
    if skills and best is not None and best >= threshold:
        return f"No tool of the matched skills ({skills}) reached the tool threshold of {threshold:g}; others do."
    tools = f"No tool reached the tool threshold of {threshold:g}: --tool-threshold lowers it."
    if answer["metadata"]["fallback_reason"] != "no_skill_matched":
        return tools
    from skillroute.search.model import DEFAULT_SKILL_THRESHOLD  # noqa: PLC0415 (most searches find something)

    least = request.get("skill_threshold", DEFAULT_SKILL_THRESHOLD)
    return f"No skill reached the skill threshold of {least:g}, so all tools were searched. {tools}"


def _without_thresholds(request: dict[str, Any]) -> dict[str, Any]:
    # All tools, ranked by the cosine that thresholds are of.
    kept = {name: value for name, value in request.items() if name == "item_type"}
    everything = {"strategy": "direct", "mode": "semantic", "tool_threshold": 0.0, "include_schemas": False}
    return {"query": request["query"], "limit": _MOST} | kept | everything


def _number(cosine: float | None) -> str:
    return "-" if cosine is None else f"{cosine:.3f}"
