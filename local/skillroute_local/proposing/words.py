"""The topics of groups of tools, in words: pure functions over names and descriptions."""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass

from skillroute.catalogue.text import split_name

from skillroute_local.proposing.stop_words import STOP_WORDS

_WORD = re.compile(r"[^\W\d_][^\W_]*")
_SENTENCE_END = re.compile(r"[.!?。！？](?=\s|$)|\n")
_BRACKETS = re.compile(r"\s*[(\[][^()\[\]]*[)\]]")
_MAX_GIST_LENGTH = 200
_MAX_WORD_LENGTH = 32
_MAX_WITHOUT_SPACES_LENGTH = 4  # a "word" of a script that puts no spaces between them is a clause when it is longer
_NAME_COUNTS, _GIST_COUNTS, _SERVER_COUNTS = 2.0, 1.0, 0.3
_PHRASE_COUNTS = 1.2
_WORTH = 0.15


@dataclass(frozen=True, slots=True)
class ToolText:
    """A tool as it is worded: its name, description and server, and the weight of its words."""

    name: str
    description: str = ""
    server: str | None = None
    weight: float = 1.0


def gist(description: str) -> str:
    """Return the first sentence of a description on one line, cut to 200 characters.

    Examples
    --------
    >>> gist("Creates an event.\\nTakes a date (e.g. tomorrow)."), gist("  ")
    ('Creates an event', '')
    """
    return " ".join(_SENTENCE_END.split(description.strip(), maxsplit=1)[0].split())[:_MAX_GIST_LENGTH].strip()


def topic_text(description: str) -> str:
    """Return the first sentence of a description without what is in brackets: how a tool works, not what it is about.

    Examples
    --------
    >>> topic_text("Delete a group (destructive operation). Asks first.")
    'Delete a group'
    """
    return gist(_BRACKETS.sub("", description) or description)


def keywords_of(groups: Sequence[Sequence[ToolText]], *, most: int = 12) -> list[list[str]]:
    """Return the words and pairs of words that distinguish each group from the others, the best ones first, lower case.

    Class-based TF-IDF (Grootendorst 2022): ``tf * log(1 + A / f)``, where tf is the share of the group that a term
    occurs in, f its sum over all groups, and A the mean of what the terms of a group sum up to. A term counts once a
    tool, however often it stands there: twice as much in the name, a third where only the server is called so.

    A group's terms stand in at least two of its tools, unless no term does.
    """
    known = {
        word for group in groups for text in group for word in _words(f"{split_name(text.name)} {text.description}")
    }
    counted = [_counted(group, known) for group in groups]
    spread: dict[str, float] = defaultdict(float)
    for shares, _ in counted:
        for term, share in shares.items():
            spread[term] += share
    mean = sum(spread.values()) / len(groups) if groups else 0.0
    return [_best(shares, tools, spread, mean, most) for shares, tools in counted]


def _counted(group: Sequence[ToolText], known: Collection[str]) -> tuple[dict[str, float], Counter[str]]:
    """Return how much each term counts in a group, 0 to 2, and how many tools it stands in."""
    total = sum(text.weight for text in group)
    shares: dict[str, float] = defaultdict(float)
    tools: Counter[str] = Counter()
    for text in group:
        counts = dict.fromkeys((term for term in terms(text.server or "", known) if " " not in term), _SERVER_COUNTS)
        counts |= dict.fromkeys(terms(topic_text(text.description), known), _GIST_COUNTS)
        counts |= dict.fromkeys(terms(split_name(text.name), known), _NAME_COUNTS)
        tools.update(counts.keys())
        for term, count in counts.items():
            shares[term] += count * text.weight / total
    return shares, tools


def _best(shares: dict[str, float], tools: Counter[str], spread: dict[str, float], mean: float, most: int) -> list[str]:
    shared = {term for term in shares if tools[term] > 1} or set(shares)
    scores = {
        term: (_PHRASE_COUNTS if " " in term else 1.0) * shares[term] * math.log(1.0 + mean / spread[term])
        for term in shared
    }
    worth = _WORTH * max(scores.values(), default=0.0)
    chosen: list[str] = []
    for term in sorted(shared, key=lambda term: (-scores[term], term)):
        if len(chosen) == most or scores[term] < worth:
            break
        if not any(_says_no_more(term, other, tools) for other in chosen):
            chosen.append(term)
    return chosen


def _says_no_more(term: str, other: str, tools: Counter[str]) -> bool:
    """Return whether a term adds little to one that was chosen: they share a word, and mostly their tools."""
    if not set(term.split()) & set(other.split()):
        return False
    fewer, more = sorted((tools[term], tools[other]))
    return " " in term or fewer > 0.6 * more


def terms(text: str, known: Collection[str] = ()) -> Iterator[str]:
    """Yield the words of a text that say something, and the pairs of such words side by side; plurals as singulars.

    Parameters
    ----------
    known : collection of str
        Words that there are, lower case: a plural is one whose singular is among them.

    Examples
    --------
    >>> list(terms("List the due dates of all open tasks", {"date", "task"}))
    ['due', 'date', 'due date', 'task']
    """
    before = ""
    for found in _words(text):
        word = singular(found, known)
        if STOP_WORDS & {word, found} or not _is_word(word):
            before = ""
            continue
        yield word
        if before and before != word and f"{before}{word}".isascii():
            yield f"{before} {word}"
        before = word


def singular(word: str, known: Collection[str]) -> str:
    """Return an English plural without its ending if that is a known word; whatever else it is given, as it is.

    Examples
    --------
    >>> known = {"issue", "query", "box", "movie", "statu"}
    >>> [singular(word, known) for word in ("issues", "queries", "boxes", "movies", "status", "kubernetes")]
    ['issue', 'query', 'box', 'movie', 'status', 'kubernetes']
    """
    if len(word) < 4 or not word.endswith("s") or word.endswith(("ss", "us", "is", "as")):
        return word
    candidates = [
        word[:-1],
        *([word[:-2]] if word.endswith("es") else []),
        f"{word[:-3]}y" if word.endswith("ies") else "",
    ]
    return next((candidate for candidate in candidates if candidate in known), word)


def _words(text: str) -> list[str]:
    return _WORD.findall(text.lower())


def _is_word(word: str) -> bool:
    if word.isascii():
        return 2 < len(word) <= _MAX_WORD_LENGTH
    spaceless = any("\u3040" <= character <= "\u9fff" for character in word)
    return 1 < len(word) <= (_MAX_WITHOUT_SPACES_LENGTH if spaceless else _MAX_WORD_LENGTH)


def spellings(group: Iterable[ToolText]) -> dict[str, str]:
    """Return how a group's descriptions mostly write the words that have capitals of their own.

    Examples
    --------
    >>> spellings([ToolText("a", "Read a PDF from GitHub.")])
    {'pdf': 'PDF', 'github': 'GitHub'}
    """
    counts: dict[str, Counter[str]] = {}
    for text in group:
        for word in _WORD.findall(gist(text.description)):
            counts.setdefault(word.lower(), Counter())[word] += 1
    most = {word: forms.most_common(1)[0][0] for word, forms in counts.items()}
    return {word: form for word, form in most.items() if form[1:] != form[1:].lower()}


def examples_of(members: Iterable[tuple[ToolText, float]], *, most: int = 8, of_a_server: int = 3) -> list[ToolText]:
    """Return the tools nearest to a group's centre, no name twice, at first at most three of a server.

    Parameters
    ----------
    members : iterable of (ToolText, float)
        The group's tools with their similarity to its centre.
    """
    ranked = [
        text for text, _ in sorted(members, key=lambda member: (-member[1], member[0].name, member[0].server or ""))
    ]
    once: dict[str, ToolText] = {}
    for text in ranked:
        once.setdefault(text.name.lower(), text)
    of: Counter[str | None] = Counter()
    first: list[ToolText] = []
    later: list[ToolText] = []
    for text in once.values():
        of[text.server] += 1
        (first if of[text.server] <= of_a_server else later).append(text)
    return [*first, *later][:most]
