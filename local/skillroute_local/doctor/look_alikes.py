"""Names that look like others, and texts with invisible characters: how a stranger's tool poses as yours."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator

from skillroute.catalogue.trust.lint import texts_of
from skillroute.core.input.hidden_text import look, visible

from skillroute_local.doctor.model import Catalogue, Code, Finding, in_order, listed
from skillroute_local.doctor.similar_sets import by_key


def look_alikes(catalogue: Catalogue) -> Iterator[Finding]:
    """Find items whose names are written differently and look the same."""
    tools = in_order(catalogue.tools)
    for places in by_key(len(tools), lambda place: (tools[place].type, look(tools[place].name))).values():
        group = [tools[place] for place in places]
        if len({_spelt(tool.name) for tool in group}) > 1:
            yield Finding(
                Code.NAMES_LOOK_ALIKE,
                80,
                f"{len(group)} {group[0].type}s have names that look the same in other letters",
                "see who offers the one with letters of another alphabet, and delete what poses as another",
                tuple(group),
            )


def hidden(catalogue: Catalogue) -> Iterator[Finding]:
    """Find items whose texts hold invisible characters and a model reads."""
    for tool in catalogue.tools:
        texts = [("name", tool.name), ("server", tool.server), *texts_of(tool.definition)]
        if places := [place for place, text in texts if visible(text) != text]:
            yield Finding(
                Code.HIDDEN_CHARACTERS,
                90,
                f"{tool.title} has invisible characters that a model reads, in {listed(places)}",
                "write the item again: they are taken out of what is written",
                (tool,),
            )


def _spelt(name: str) -> str:
    return unicodedata.normalize("NFC", name).casefold()
