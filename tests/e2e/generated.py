"""Tools that no two tests confuse: each says something else, in words."""

from __future__ import annotations

import itertools
from typing import Any

_VERBS = (
    ("archive", "Put away for later"),
    ("translate", "Turn into another language"),
    ("measure", "Find out the size of"),
    ("repair", "Mend what is broken in"),
    ("paint", "Give a new colour to"),
    ("insure", "Cover against damage"),
    ("auction", "Sell to the highest bidder"),
    ("photograph", "Take a picture of"),
    ("borrow", "Take home for some days"),
    ("inspect", "Look for faults in"),
)
_THINGS = (
    *(
        "bicycle",
        "violin",
        "greenhouse",
        "submarine",
        "lighthouse",
        "tractor",
        "piano",
        "telescope",
        "kayak",
        "sculpture",
    ),
    *(
        "windmill",
        "carpet",
        "aquarium",
        "saddle",
        "chandelier",
        "parachute",
        "typewriter",
        "beehive",
        "fountain",
        "sledge",
    ),
)
_PLACES = (
    *("lisbon", "nairobi", "kyoto", "oslo", "lima", "quebec", "hanoi", "tbilisi", "perth", "zagreb"),
    *("dakar", "bogota", "riga", "seoul", "cork", "tampa", "izmir", "pune", "turin", "omaha"),
)


def tools(server: str, number: int) -> list[dict[str, Any]]:
    """Return up to 4,000 tools of a server, no two with the same words."""
    chosen = itertools.islice(itertools.product(_PLACES, _THINGS, _VERBS), number)
    return [
        {
            "server": server,
            "name": f"{verb}_{thing}_{place}",
            "description": f"{says} a {thing} that stands in {place.title()}.",
            "input_schema": {"type": "object", "properties": {thing: {"type": "string", "description": "Which one."}}},
        }
        for place, thing, (verb, says) in chosen
    ]


def servers(number: int, *, tools_each: int = 3) -> list[dict[str, Any]]:
    """Return up to 400 MCP servers with up to 10 tools of their own, no two with the same words."""
    chosen = itertools.islice(itertools.product(_PLACES, _THINGS), number)
    return [
        {
            "path": f"/{place}/{thing}",
            "name": f"{thing.title()} of {place.title()}",
            "description": f"All that can be done with the {thing} in {place.title()}.",
            "tags": [place, thing],
            "tools": [
                {"name": f"{verb}_{thing}_{place}", "description": f"{says} a {thing} that stands in {place.title()}."}
                for verb, says in _VERBS[:tools_each]
            ],
        }
        for place, thing in chosen
    ]


def agents(number: int) -> list[dict[str, Any]]:
    """Return up to 10 A2A agents, each with a skill of its own."""
    return [
        {
            "path": f"/agents/{verb}",
            "name": f"{verb.title()} Agent",
            "description": f"{says} whatever it is given.",
            "url": f"https://agents.test/{verb}",
            "skills": [{"id": verb, "name": verb, "description": f"{says} something."}],
        }
        for verb, says in _VERBS[:number]
    ]
