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


def messages(number: int, project: str, *, names: tuple[str, ...] = ("BlueLake", "RedFox", "GoldenReed")) -> list[Any]:
    """Return up to 4,000 messages of a project, each with a word of its own: its key."""
    chosen = itertools.islice(itertools.product(_PLACES, _THINGS, _VERBS), number)
    importances = ("low", "normal", "high", "urgent")
    return [
        {
            "key": f"{project}-{place}-{at}",
            "project": project,
            "from": names[at % len(names)],
            "to": [names[(at + 1) % len(names)]],
            "thread_id": f"{thing}-{place}",
            "subject": f"{project}-{place}-{at}: {verb} the {thing}",
            "body": f"{says} the {thing} that stands in {place.title()}.",
            "importance": importances[at % 4],
            "ack_required": at % 3 == 0,
            "created_ts": 1_700_000_000_000_000 + at * 1_000_000,
        }
        for at, (place, thing, (verb, says)) in enumerate(chosen)
    ]
