"""Tools that a request names, alone or with their server, and not by ordinary words (decision 40, docs/adr/0063)."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from skillroute.catalogue.names import MAX_KEY_LENGTH, MAX_NAME_WORDS, name_key, spelling

MAX_WORDS = 200
"""Of a request, that are looked at."""

_MAX_SPLITS = 8
_MAX_QUALIFIED = 32
_BESIDE = 5
"""Words: of a server's name before the separator, and of a tool's behind it, that are looked at beyond the nearest."""

_SEPARATOR = re.compile(r"__|[/:.]")
_KINDS = re.compile(r"^(?:mcp__|tool:|prompt:|resource:)", re.IGNORECASE)
_SELECT = re.compile(r"(?<!\S)select:\s*(\S+)", re.IGNORECASE)
_ONLY_SELECT = re.compile(r"\s*select:(.+)", re.IGNORECASE | re.DOTALL)
_NOT_PLAIN = re.compile(r"[^a-z0-9]+")
_LISTED = re.compile(r"[,;|、，；]")
_BETWEEN = re.compile(r"[,;|、，；(){}\[\]<>\"'`“”„«»「」『』]+")
_ENDS_A_SENTENCE = ".,;:!?…\"'`)]}>”’»」』"
# Straight quotes and backticks open where a word may begin and close where one may end: no apostrophe is one.
_QUOTED = re.compile(
    r"""(?<![\w`"'])(?<!\w\()(?P<quote>`+|"|')(?P<in>[^\s`"'](?:[^`"\n]{0,254}?[^\s`"])??)(?P=quote)(?!\w)"""
    r"|[“„](?P<a>[^“”„]{1,256})[”“]|[‘‚](?P<b>[^‘’‚]{1,256})[’‘](?!\w)|«(?P<c>[^«»]{1,256})»|「(?P<d>[^「」]{1,256})」"
    r"|『(?P<e>[^『』]{1,256})』"
)


@dataclass(frozen=True, slots=True)
class Reading:
    """The key of a tool's name, and what would be its server's: as it is written, and plain names (`plain`) of it."""

    key: str
    written: frozenset[str]
    plain: frozenset[str]

    def distance(self, server: str) -> int | None:
        """Return how far a server is from what is written: 0 is just so, None another one."""
        if server.casefold() in self.written:
            return 0
        if plain(server) in self.plain:
            return 1
        return 2 if plain(server.rpartition("/")[2]) in self.plain else None


@dataclass(frozen=True, slots=True)
class Qualified:
    """A name with something before it that may be its server.

    Attributes
    ----------
    whole : str
        The key of all of it: a tool may be called so.
    parts : tuple of Reading
    alone : frozenset of str
        Keys that name a tool without the server as well: none of ordinary words.
    """

    whole: str
    parts: tuple[Reading, ...]
    alone: frozenset[str]


@dataclass(frozen=True, slots=True)
class Named:
    """A tool that may be named: its key in the index, its name and its server."""

    key: str
    name: str
    server: str | None


@dataclass(frozen=True, slots=True)
class Mentions:
    """The names that a request has.

    Attributes
    ----------
    alone : frozenset of str
        Keys of names (`names.name_key`) of tools, whatever their server.
    qualified : tuple of Qualified
    cased : frozenset of str
        Words as ``camelCase``: they name what is written just so. GitHub is no tool called github.
    """

    alone: frozenset[str]
    qualified: tuple[Qualified, ...] = ()
    cased: frozenset[str] = frozenset()

    @property
    def keys(self) -> list[str]:
        """Return the keys of all names that a tool may have to be named."""
        with_server = (reading.key for one in self.qualified for reading in one.parts)
        return sorted({*self.alone, *with_server, *map(name_key, self.cased)})

    @property
    def by_key_alone(self) -> bool:
        """Return whether every tool with one of the `keys` is named, so that nothing else of it need be known."""
        return not self.qualified and not self.cased

    @property
    def servers(self) -> frozenset[str]:
        """Return what may be the plain names (`plain`) of servers that stand beside a tool's."""
        return frozenset(server for one in self.qualified for reading in one.parts for server in reading.plain)

    def named(self, tools: Iterable[Named]) -> set[str]:
        """Return the keys of the tools that are named, of tools whose names are among `keys`."""
        listed = [(tool, name_key(tool.name)) for tool in tools]
        names = {key for _, key in listed}
        of_server = self._of_servers(listed)
        # Of a server that is not known, under another name perhaps: whatever is called so, unless that is ordinary.
        loose = {key for one in self.qualified if one.whole not in names for key in one.alone}
        alone = self.alone | (loose - {key for _, key in of_server})
        others = (tool for tool, key in listed if key in alone or spelling(tool.name) in self.cased)
        return {tool.key for tool in (*(tool for tool, _ in of_server), *others)}

    def _of_servers(self, listed: Sequence[tuple[Named, str]]) -> list[tuple[Named, str]]:
        """Return for each qualified name the tools of the nearest server: a stranger's may be called nearly so."""
        readings: dict[str, list[tuple[int, Reading]]] = {}
        for number, one in enumerate(self.qualified):
            for reading in one.parts:
                readings.setdefault(reading.key, []).append((number, reading))
        nearest: dict[int, tuple[int, list[tuple[Named, str]]]] = {}
        for tool, key in listed:
            for number, reading in readings.get(key, ()) if tool.server else ():
                distance = reading.distance(tool.server or "")
                best = nearest.get(number)
                if distance is None or (best is not None and best[0] < distance):
                    continue
                if best is None or distance < best[0]:
                    nearest[number] = best = (distance, [])
                best[1].append((tool, key))
        return [named for _, found in nearest.values() for named in found]


def plain(server: str) -> str:
    """Return a server's name without what clients change or leave out: its letters and digits in lower case.

    Examples
    --------
    >>> plain("Sui Tools"), plain("sui_tools"), plain("/files")
    ('suitools', 'suitools', 'files')
    """
    folded = server.casefold()
    if folded.isascii():
        return _NOT_PLAIN.sub("", folded)
    return "".join(char for char in folded if char.isalnum() or _is_mark(char))


def mentions(query: str) -> Mentions:
    """Return what a request names.

    All of it is a name; so is what it has as code (in backticks or quotes) and what follows ``select:``, and elsewhere
    every run of words with a word that is no ordinary one (`is_ordinary`), and a word as ``camelCase``.

    Examples
    --------
    >>> mentions("Search, please, with `find`").keys
    ['find', 'search please with find']
    """
    alone: dict[str, None] = {}
    qualified: dict[Qualified, None] = {}

    def take(names: Iterable[str]) -> None:
        for name in names:
            alone[name_key(name)] = None
            if len(name) <= MAX_KEY_LENGTH and len(qualified) < _MAX_QUALIFIED:
                qualified.update(dict.fromkeys(_splits(name)))

    take(spans(query))
    words = query.split()[:MAX_WORDS]
    for run in runs(words):
        alone[run] = None
    cased: set[str] = set()
    pieces = [piece for word in words for piece in _BETWEEN.split(word) if piece][:MAX_WORDS]
    for place, piece in enumerate(pieces):
        if not is_ordinary(piece):
            alone[name_key(piece)] = None
        elif _is_camel_case(piece):
            cased.add(spelling(piece))
        if len(qualified) < _MAX_QUALIFIED:
            splits = _splits(piece, pieces[max(0, place - _BESIDE) : place], pieces[place + 1 :])
            qualified.update(dict.fromkeys(splits))
    keys = frozenset(key for key in alone if len(key) <= MAX_KEY_LENGTH)
    return Mentions(keys, tuple(qualified)[:_MAX_QUALIFIED], frozenset(cased))


def spans(query: str) -> Iterator[str]:
    """Yield what is a name by where it stands: all of the request, its items, what is code, what is selected."""
    yield query
    items = [item.strip() for item in _LISTED.split(query)]
    if all(item and not re.search(r"\s", item) for item in items):
        yield from items
    for found in _QUOTED.finditer(query):
        yield next(group for name, group in found.groupdict().items() if group and name != "quote")
    every = _ONLY_SELECT.fullmatch(query)
    for listed in [every[1]] if every else _SELECT.findall(query):
        yield from filter(None, map(str.strip, _LISTED.split(listed)))


def runs(words: Sequence[str], *, every: bool = False) -> Iterator[str]:
    """Yield the keys of runs of words, of those that have one which is not ordinary unless `every` one is wanted."""
    cores = [(name_key(word) if any(map(str.isalnum, word)) else "", is_ordinary(word)) for word in words]
    cores = [core for core in cores if core[0]]
    for start in range(len(cores)):
        run, ordinary = "", not every
        for core, is_plain in cores[start : start + MAX_NAME_WORDS]:
            run = f"{run} {core}" if run else core
            ordinary = ordinary and is_plain
            if len(run) > MAX_KEY_LENGTH:
                break
            if not ordinary:
                yield run


def is_ordinary(word: str) -> bool:
    """Return whether a word is of letters alone, but for punctuation at its edges.

    Examples
    --------
    >>> [is_ordinary(word) for word in ("search,", "John's", "会議", "get_user", "e2e", "C++")]
    [True, True, True, False, False, False]
    """
    bare = word.rstrip(_ENDS_A_SENTENCE)
    if bare.isalpha():
        return True
    if bare[-1:] in ("+", "#") and any(map(str.isalnum, bare)):
        return False
    edges = [place for place, char in enumerate(word) if char.isalnum() or char == "_"]
    core = word[edges[0] : edges[-1] + 1] if edges else ""
    return all(char.isalpha() or char in "'’" or _is_mark(char) for char in core)


def _is_camel_case(word: str) -> bool:
    return any(one.islower() and other.isupper() for one, other in pairwise(word))


def _splits(name: str, before: Sequence[str] = (), behind: Sequence[str] = ()) -> Iterator[Qualified]:
    """Yield a name that has a separator, with all readings: which part is the server's, and which the tool's.

    `before` and `behind` are the words around it in the request: names of both may have several.
    """
    parts: list[Reading] = []
    alone = set()
    for found in list(_SEPARATOR.finditer(name))[:_MAX_SPLITS]:
        server, tool = name[: found.start()], name[found.end() :]
        written = {server, bare := _KINDS.sub("", server)}
        asked = {plain(bare), longest := plain(server)}
        for count, word in enumerate(reversed(before), 1):
            longest = plain(word) + longest
            asked.add(longest)
            written.add(" ".join([*before[-count:], server]))
        asked.discard("")
        if not asked or not plain(tool):
            continue
        key = name_key(tool)
        longer = [" ".join([tool, *behind[:count]]) for count in range(1, min(_BESIDE, len(behind)) + 1)]
        exact = frozenset(name.casefold() for name in written)
        parts += [Reading(read, exact, frozenset(asked)) for read in dict.fromkeys([key, *map(name_key, longer)])]
        if not is_ordinary(tool) or _is_camel_case(tool):
            alone.add(key)
    if parts:
        yield Qualified(
            name_key(name), tuple(part for part in parts if len(part.key) <= MAX_KEY_LENGTH), frozenset(alone)
        )


def _is_mark(char: str) -> bool:
    """Return whether a character belongs to the letter before it: vowel signs of Indic scripts, joiners."""
    return not char.isascii() and unicodedata.category(char) in ("Mn", "Mc", "Cf")
