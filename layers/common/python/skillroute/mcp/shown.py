"""A tool as an answer shows it, from its name alone to everything that its owner wrote."""

from __future__ import annotations

from typing import Any, Literal, get_args

from skillroute.catalogue.model import Item
from skillroute.mcp.signature import signature
from skillroute.search.model import EnrichedTool

Detail = Literal["name", "brief", "signature", "full"]

DETAILS: tuple[Detail, ...] = get_args(Detail)
"""From the least to the most."""

STEPS = tuple(DETAILS.index(detail) for detail in ("signature", "brief", "full"))
"""In which order results say more where room is scarce: what makes the best ones callable goes before what describes
the others, and whole schemas come last."""

BRIEF_CHARS = 160
"""Characters of a description in brief."""

_SENTENCE_ENDS = (". ", "! ", "? ")
_LEAST_SENTENCE = 20  # characters: "Note. " at the beginning says nothing


def forms(tool: EnrichedTool, most: Detail) -> list[dict[str, Any]]:
    """Return a found tool in every detail up to `most`, the least first."""
    kind = {} if tool.type == "tool" else {"type": tool.type}
    name: dict[str, Any] = {
        "id": tool.db_id,
        "name": tool.name,
        **({"server": tool.server} if tool.server else {}),
        **kind,
    }
    scored = {**name, "score": round(tool.score, 2)}
    shown = [name, {**scored, "description": brief(tool.description)}]
    if tool.type == "tool" and tool.input_schema is not None:  # which may not have been loaded
        line = {"signature": signature(tool.name, tool.input_schema)}
        shown.append({**scored, **line, "description": brief(tool.description)})
    else:
        shown.append(shown[-1])
    schemas = {"input_schema": tool.input_schema, "output_schema": tool.output_schema, "annotations": tool.annotations}
    shown.append({**scored, "description": tool.description, **_given(schemas)})
    return shown[: DETAILS.index(most) + 1]


def whole(item: Item) -> dict[str, Any]:
    """Return everything that an agent needs of an item to call it."""
    content = item.content
    return {
        "id": item.id,
        "name": content.key.name,
        **({"server": content.key.server} if content.key.server else {}),
        **({} if content.key.type == "tool" else {"type": content.key.type}),
        "description": content.description,
        **_given(
            {
                "input_schema": content.input_schema,
                "output_schema": content.output_schema,
                "annotations": content.annotations,
            }
        ),
        # A resource's uri, a prompt's arguments and whatever else its server says of it.
        **({"metadata": content.metadata} if content.metadata else {}),
    }


def brief(description: str, most: int = BRIEF_CHARS) -> str:
    """Return the first sentence of a description, cut where it is long.

    Examples
    --------
    >>> brief("Schedule a meeting with other people. Give the time in UTC.")
    'Schedule a meeting with other people.'
    """
    text = " ".join(description[: 10 * most].split())
    ends = [place + 1 for end in _SENTENCE_ENDS if (place := text.find(end, _LEAST_SENTENCE)) >= 0]
    sentence = text[: min(ends)] if ends else text
    if len(sentence) <= most:
        return sentence
    return f"{sentence[: most - 1].rsplit(' ', 1)[0]}…"


def _given(fields: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value is not None}
