"""A tool as an answer shows it, from its name alone to everything that its owner wrote."""

from __future__ import annotations

import re
from typing import Any, Literal, get_args

from skillroute.catalogue.model import Item, ItemContent
from skillroute.mcp.signature import signature
from skillroute.mcp.stubs import WriteStub, stub_writer
from skillroute.search.model import EnrichedTool
from skillroute.search.needs.answer import NeededTool

Detail = Literal["name", "brief", "signature", "full", "typescript", "python"]

DetailOfOne = Literal["full", "typescript", "python"]

DETAILS: tuple[Detail, ...] = get_args(Detail)[:4]
"""From the least to the most; a stub stands in the place of `full`."""

WITHOUT_SCHEMAS = frozenset({"name", "brief"})
"""Details that need no schemas."""

STEPS = tuple(DETAILS.index(detail) for detail in ("signature", "brief", "full"))
"""In which order results say more where room is scarce: what makes the best ones callable goes before what describes
the others, and whole schemas come last."""

BRIEF_CHARS = 160
"""Characters of a description in brief."""

_MIN_SENTENCE = 20  # characters: "Note. " at the beginning says nothing
_STOP = re.compile(r"[.!?](?= )")
_LAST_WORD = re.compile(r"[\w.]*\Z")
_DOTTED = re.compile(r"(?:[^\W\d_]\.)+[^\W\d_]")  # e.g., i.e., U.S., p.m.
_ABBREVIATIONS = frozenset({"eg", "ie", "vs", "cf", "ca", "approx", "incl", "excl", "resp", "mr", "mrs", "ms", "dr"})
_ABBREVIATIONS_AT_ENDS = frozenset({"etc", "al", "inc", "ltd", "corp", "co"})
"""May be a sentence's last word, and are where a capital letter follows."""
_MAX_ABBREVIATION_LENGTH = 12


def stubs_of(detail: Detail) -> WriteStub | None:
    """Return what writes the stubs of an answer; None where it has none."""
    return stub_writer(detail) if detail == "typescript" or detail == "python" else None  # noqa: PLR1714 - mypy


def forms(tool: EnrichedTool, most: Detail, write_stub: WriteStub | None = None) -> list[dict[str, Any]]:
    """Return a found tool in every detail up to `most`, the least first; with its stub the most that there is."""
    kind = {} if tool.type == "tool" else {"type": tool.type}
    name: dict[str, Any] = {
        "id": tool.db_id,
        "name": tool.name,
        **({"server": tool.server} if tool.server else {}),
        **kind,
        **({"needs": tool.needs} if isinstance(tool, NeededTool) else {}),
    }
    scored = {**name, "score": round(tool.score, 2)}
    shown = [name, {**scored, "description": brief(tool.description)}]
    if tool.type == "tool" and tool.input_schema is not None:  # which may not have been loaded
        line = {"signature": signature(tool.name, tool.input_schema)}
        shown.append({**scored, **line, "description": brief(tool.description)})
    else:
        shown.append(shown[-1])
    if write_stub is not None:
        has_stub = tool.type == "tool" and tool.input_schema is not None
        about = tool.description, tool.input_schema, tool.output_schema
        shown.append({**scored, "stub": write_stub(tool.name, *about)} if has_stub else shown[-1])
        return shown
    schemas = {"input_schema": tool.input_schema, "output_schema": tool.output_schema, "annotations": tool.annotations}
    shown.append({**scored, "description": tool.description, **_given(schemas)})
    return shown[: DETAILS.index(most) + 1] if most in DETAILS else shown


def whole(item: Item, write_stub: WriteStub | None = None) -> dict[str, Any]:
    """Return everything that an agent needs of an item to call it; of a tool its stub, where one is asked for."""
    content = item.content
    return {
        "id": item.id,
        "name": content.key.name,
        **({"server": content.key.server} if content.key.server else {}),
        **({} if content.key.type == "tool" else {"type": content.key.type}),
        **({"description": content.description} if write_stub is None or content.key.type != "tool" else {}),
        **_schemas(content, write_stub),
        # A resource's uri, a prompt's arguments and whatever else its server says of it.
        **({"metadata": content.metadata} if content.metadata else {}),
    }


def _schemas(content: ItemContent, write_stub: WriteStub | None) -> dict[str, Any]:
    if write_stub is not None and content.key.type == "tool":
        about = content.description, content.input_schema, content.output_schema
        return {"stub": write_stub(content.key.name, *about)}
    return _given(
        {
            "input_schema": content.input_schema,
            "output_schema": content.output_schema,
            "annotations": content.annotations,
        }
    )


def brief(description: str, most: int = BRIEF_CHARS) -> str:
    """Return the first sentence of a description, cut where it is long.

    Examples
    --------
    >>> brief("Schedule a meeting with other people. Give the time in UTC.")
    'Schedule a meeting with other people.'
    >>> brief("Convert units, e.g. miles. Not for money.")
    'Convert units, e.g. miles.'
    """
    text = " ".join(description[: 10 * most].split())
    ends = (stop.end() for stop in _STOP.finditer(text, _MIN_SENTENCE) if _ends_sentence(text, stop.start()))
    sentence = text[: next(ends, None)]
    if len(sentence) <= most:
        return sentence
    return f"{sentence[: most - 1].rsplit(' ', 1)[0]}…"


def _ends_sentence(text: str, place: int) -> bool:
    """Return whether the full stop, or its like, at a place ends a sentence; after an abbreviation it does not."""
    if text[place] != ".":
        return True
    last = _LAST_WORD.search(text, max(0, place - _MAX_ABBREVIATION_LENGTH), place)
    word = last[0].lower() if last else ""
    if word in _ABBREVIATIONS or _DOTTED.fullmatch(word):
        return False
    return word not in _ABBREVIATIONS_AT_ENDS or text[place + 2].isupper()


def _given(fields: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value is not None}
