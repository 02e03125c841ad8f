"""The text of a server or an agent that is embedded, and the words in which keywords are looked for.

Source: registry-search-design, Entity Types and Dual Search Strategy.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import NamedTuple

from skillroute.registry.model import EntityContent, ServerTool

MAX_KEYWORD = 64
"""Characters of a keyword that are looked for; a longer one is cut, and no name is that long."""

MAX_WORD = 256
"""Characters of a stored word. A longer one is stored in pieces that overlap, so that every keyword is whole in one of
them: PostgreSQL cuts trigrams out of a word by counting characters from its beginning."""

_WORD = re.compile(r"\w+")


class Place(IntEnum):
    """Where a keyword can be found. The numbers are stored."""

    PATH = 1
    NAME = 2
    DESCRIPTION = 3
    TAGS = 4
    TOOL = 5


class PlacedWords(NamedTuple):
    """The words of one place. Of tools each is a place of its own; `tool_id` is None everywhere else."""

    place: Place
    tool_id: int | None
    words: str


@dataclass(frozen=True, slots=True)
class EntityText:
    """A server or an agent as far as it is searched."""

    content: EntityContent
    tools: Sequence[ServerTool] = ()


def embedding_text(source: EntityText) -> str:
    """Return the text that is embedded.

    Of a server: name, description, tags (``Tags: a, b``), then name and description of each tool. Of an agent: name,
    description, tags, capabilities (``Capabilities: a, b``), then name and description of each skill. Path, schemas,
    ids and the document are left out. One line each: on the judged queries that is worth 0.012 of nDCG@3 more than
    sentences with full stops, by the vector alone.

    Examples
    --------
    >>> server = EntityContent("server", "/c7", "Context7", "Docs.", ("docs", "code"))
    >>> embedding_text(EntityText(server, [ServerTool(1, "query-docs", "Finds pages.")])).splitlines()
    ['Context7', 'Docs.', 'Tags: docs, code', 'query-docs: Finds pages.']
    """
    content = source.content
    parts = [
        content.name,
        content.description,
        f"Tags: {', '.join(content.tags)}" if content.tags else "",
        f"Capabilities: {', '.join(content.capabilities)}" if content.capabilities else "",
        *(_titled(tool.name, tool.description) for tool in source.tools),
        *(_titled(skill.name, skill.description) for skill in content.skills),
    ]
    return "\n".join(line for line in map(_line, parts) if line)


def placed_words(source: EntityText) -> Iterator[PlacedWords]:
    """Yield the words of each place that has any, and of each tool.

    A keyword is a run of word characters, so wherever it occurs in a text it lies within one word: looking for it in
    the words finds what a case-insensitive search through the text would.
    """
    content = source.content
    places = {
        Place.PATH: content.path,
        Place.NAME: content.name,
        Place.DESCRIPTION: content.description,
        Place.TAGS: "\n".join(content.tags),
    }
    for place, text in places.items():
        if words := words_of(text):
            yield PlacedWords(place, None, words)
    for tool in source.tools:
        # Without words, too: these are the tools that a search looks at, by meaning as well.
        yield PlacedWords(Place.TOOL, tool.id, words_of(f"{tool.name}\n{tool.description}"))


def words_of(text: str) -> str:
    """Return the distinct words of a text in lower case, sorted, with a blank between two; very long ones in pieces.

    Examples
    --------
    >>> words_of("Query-docs: query the DOCS of get_user")
    'docs get_user of query the'
    """
    return " ".join(sorted({piece for word in set(_WORD.findall(text.lower())) for piece in _pieces(word)}))


def _pieces(word: str) -> Iterator[str]:
    step = MAX_WORD - MAX_KEYWORD + 1
    yield from (word[start : start + MAX_WORD] for start in range(0, max(1, len(word) - MAX_KEYWORD + 1), step))


def _titled(name: str, description: str) -> str:
    return f"{name}: {description}" if description.strip() else name


def _line(text: str) -> str:
    return " ".join(text.split())
