"""Names for groups of tools, as a person would give them: what the tools are about, or what all of them do with it.

A name is a noun phrase (``Pull Requests``), a verb and its object where nearly all tools do the same (``Translate
Text``), or at most two phrases (``Invoices & Refunds``). Proper names of servers and companies are left out; where
another group has the name, the product that all its tools are of tells it apart (``Okta Groups``): docs/adr/0047.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from skillroute.catalogue.text import split_name

from skillroute_local.proposing.stop_words import STOP_WORDS
from skillroute_local.proposing.words import ToolText, gist, singular, spellings

OTHER = "Other Tools"

_WORD = re.compile(r"[^\W\d_][^\W_]*")
_AFTER_ARTICLE = re.compile(
    r"\b(?:a|an|each|every)\s+(?:[a-z]+\s+){0,2}?([a-z]{3,})(?=[.,;:]|$|\s+(?:by|for|from|in|of|on|that|to|with|and|or)\b)"
)
_ENOUGH = 0.5  # a phrase that stands in half of a group's tools names the group alone
_ADDS = 0.15
_SAME_DEED = 0.6
_VERB_FIRST = 0.6
_MIN_FIRST = 3
_MAX_PRODUCT_LENGTH = 2
_SEEN_IN_PLURAL = 0.15
_SEEN_COUNTED = 2
# Words that names begin with by chance too seldom to be found out, and such as say how a thing is, not what it is.
# fmt: off
_NO_NOUNS = frozenset({
    "activate", "append", "approve", "choose", "click", "confirm", "convert", "custom", "enrich", "export", "extract",
    "getter", "high", "import", "low", "merge", "migrate", "natural", "navigate", "near", "private", "public",
    "replace", "running", "searcher", "sign", "split", "terminate", "translate",
})
# fmt: on
_SERVER_WORDS = frozenset(
    (
        "mcp",
        "server",
        "servers",
        "remote",
        "official",
        "service",
        "api",
        "tool",
        "tools",
        "the",
        "for",
        "and",
        "of",
        "by",
    )
)


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """The words of a catalogue, lower case.

    Attributes
    ----------
    verbs : frozenset of str
        Words that names mostly begin with.
    proper : frozenset of str
        Names of products and companies, and of the servers whose own tools alone use them.
    capital : frozenset of str
        Words that some description writes with a capital.
    plurals : mapping of str to str
        The plural of words that stand in the plural now and then: what can be counted.
    """

    verbs: frozenset[str]
    proper: frozenset[str]
    capital: frozenset[str]
    plurals: Mapping[str, str]


def vocabulary_of(tools: Sequence[ToolText]) -> Vocabulary:
    """Read from all tools of a catalogue which of its words are verbs, proper names, and used in the plural."""
    names = [_words(split_name(tool.name)) for tool in tools]
    first = Counter(words[0] for words in names if len(words) > 1)
    anywhere = Counter(word for words in names for word in words)
    verbs = {
        word
        for word, count in first.items()
        if count >= min(_MIN_FIRST, len(tools)) and count >= _VERB_FIRST * anywhere[word]
    }
    known = {word for tool in tools for word in _words(f"{split_name(tool.name)} {tool.description}")}
    written = Counter(word for tool in tools for word in _words(f"{split_name(tool.name)} {gist(tool.description)}"))
    articles = Counter(word for tool in tools for word in _AFTER_ARTICLE.findall(tool.description.lower()))
    plurals = {word: _plural(word) for word, count in articles.items() if count >= _SEEN_COUNTED}
    for word in written:
        single = singular(word, known)
        if single != word and single not in plurals and written[word] >= _SEEN_IN_PLURAL * written[single]:
            plurals[single] = word
    capital = {word.lower() for tool in tools for word in _WORD.findall(tool.description) if not word.islower()}
    return Vocabulary(frozenset(verbs), frozenset(_proper_names(tools, known)), frozenset(capital), plurals)


def names_of(
    groups: Sequence[Sequence[ToolText]], keywords: Sequence[Sequence[str]], vocabulary: Vocabulary
) -> list[str]:
    """Return a name for each group, no two alike.

    Parameters
    ----------
    keywords : sequence of sequence of str
        Each group's, the best first (`words.keywords_of`).
    """
    taken: set[str] = set()
    names = []
    for group, terms in zip(groups, keywords, strict=True):
        named = _Group(group, terms, vocabulary)
        name = next((name for name in named.candidates() if name.casefold() not in taken), None)
        if name is None:
            number = next(n for n in range(2, len(groups) + 2) if f"{named.first()} {n}".casefold() not in taken)
            name = f"{named.first()} {number}"
        taken.add(name.casefold())
        names.append(name)
    return names


class _Group:
    """One group that is to be named."""

    def __init__(self, group: Sequence[ToolText], keywords: Sequence[str], vocabulary: Vocabulary) -> None:
        self._vocabulary = vocabulary
        self._spelling = spellings(group)
        self._texts = [_singulars(f"{split_name(tool.name)} {gist(tool.description)}", vocabulary) for tool in group]
        self._said = [[self._single(word) for word in _words(split_name(tool.name))] for tool in group]
        self._deed = _shared_deed(group)
        self._product = _product(group, vocabulary)
        self._phrases = [self._longer(term) for term in map(self._without_deed, keywords) if self._says_something(term)]

    def first(self) -> str:
        """Return the best name, whether another group has it or not."""
        return next(self.candidates(), OTHER)

    def candidates(self) -> Iterator[str]:
        """Yield names, the best first."""
        chosen = self._covering()
        for phrases in (chosen, *([phrase] for phrase in self._phrases[1:3]), self._phrases[:2]):
            if phrases:
                name = " & ".join(self._noun(phrase) for phrase in phrases)
                yield " ".join(filter(None, [self._title(self._deed) if len(phrases) == 1 else "", name]))
                if self._product and phrases is chosen:
                    yield f"{self._product} {name}"
        yield OTHER

    def _covering(self) -> list[str]:
        """Return the first phrase, and where it stands in too few tools the one that adds the most, if it adds much."""
        if not self._phrases:
            return []
        first, *others = self._phrases
        covered = self._tools_with(first)
        if len(covered) >= _ENOUGH * len(self._texts):
            return [first]
        named = [phrase for phrase in others if any(set(phrase.split()) <= set(words) for words in self._said)]
        fresh = {phrase: len(self._tools_with(phrase) - covered) for phrase in named[:5] if not _share(phrase, first)}
        second = max(fresh, key=lambda phrase: fresh[phrase], default=None)
        if second is None or fresh[second] < max(2, _ADDS * len(self._texts)):
            return [first]
        return [first, second]

    def _without_deed(self, term: str) -> str:
        return " ".join(word for word in term.split() if word != self._deed)

    def _longer(self, term: str) -> str:
        """Return the pair of words that a word mostly stands in, such as "stock price", else the word."""
        if " " in term:
            return term
        alone = len(self._tools_with(term))
        pairs = Counter(
            f"{before} {after}"
            for words in self._said
            for before, after in pairwise(words)
            if term in (before, after)
            and before != after
            and self._says_something(f"{before} {after}")
            and not (STOP_WORDS | {self._deed}) & {before, after}
        )
        pair, count = pairs.most_common(1)[0] if pairs else ("", 0)
        return pair if 2 * count >= alone and count > 1 else term

    def _says_something(self, phrase: str) -> bool:
        words = phrase.split()
        known = self._vocabulary
        if not words or any(word in known.proper for word in words):
            return False
        return words[-1] not in known.verbs | _NO_NOUNS and not (len(words) > 1 and words[0] in _NO_NOUNS)

    def _tools_with(self, phrase: str) -> set[int]:
        words = set(phrase.split())
        return {number for number, text in enumerate(self._texts) if words <= text}

    def _single(self, word: str) -> str:
        return next((single for single, plural in self._vocabulary.plurals.items() if plural == word), word)

    def _noun(self, phrase: str) -> str:
        *before, last = phrase.split()
        plural = self._vocabulary.plurals.get(last)
        spelt = self._spelling.get(last)
        end = f"{self._title(last)}s" if plural == f"{last}s" and spelt else self._title(plural or last)
        return " ".join([*map(self._title, before), end])

    def _title(self, word: str) -> str:
        return self._spelling.get(word) or word[:1].upper() + word[1:]


def _plural(word: str) -> str:
    if word.endswith("y") and word[-2:-1] not in set("aeiou"):
        return f"{word[:-1]}ies"
    return f"{word}es" if word.endswith(("s", "x", "z", "ch", "sh")) else f"{word}s"


def _proper_names(tools: Sequence[ToolText], known: set[str]) -> Iterable[str]:
    """Yield words that servers are called and only their own tools use, and words that always have a capital."""
    servers_using: dict[str, set[str]] = {}
    capital, small = Counter[str](), Counter[str]()
    for tool in tools:
        for word in set(_words(f"{split_name(tool.name)} {tool.description}")):
            servers_using.setdefault(singular(word, known), set()).add(tool.server or tool.name)
        for before, word in re.findall(r"(^|[^\w\s]\s*|\s)([^\W\d_][^\W_]*)", tool.description):
            if before.strip() or not before:  # the first word of a sentence has a capital whatever it is
                small[word.lower()] += word.islower()
            else:
                (small if word.islower() else capital)[word.lower()] += 1
    for server in {tool.server for tool in tools if tool.server}:
        for word in set(_words(split_name(server))) - _SERVER_WORDS - STOP_WORDS:
            # A server may be called what it is for: descriptions write "the calendar" with a small letter.
            if len(servers_using.get(singular(word, known), ())) <= 1 and not small[word]:
                yield word
    for word, count in capital.items():
        of_one = len(servers_using.get(singular(word, known), ())) <= 1
        if count >= 2 and small[word] == 0 and of_one:
            yield word


def _product(group: Sequence[ToolText], vocabulary: Vocabulary) -> str:
    """Return what the server of a group is called, without what all servers are called; "" where there are several.

    Also where its name is long, or has no proper name in it.
    """
    servers = {tool.server or "" for tool in group}
    if len(servers) > 1:
        return ""
    words = [word for word in _WORD.findall(servers.pop().partition(":")[0]) if word.lower() not in _SERVER_WORDS]
    if not 0 < len(words) <= _MAX_PRODUCT_LENGTH or vocabulary.proper.isdisjoint(word.lower() for word in words):
        return ""
    if not any(word != word.lower() or word in vocabulary.capital for word in words):
        return ""  # a department of one's own ("warehouse"), and no product
    return " ".join(word if word != word.lower() else word.capitalize() for word in words)


def _shared_deed(group: Sequence[ToolText]) -> str:
    """Return the verb that most names begin with, unless tools do that whatever they are about."""
    first = Counter(words[0] for tool in group if len(words := _words(split_name(tool.name))) > 1)
    if not first:
        return ""
    verb, count = first.most_common(1)[0]
    return verb if count >= _SAME_DEED * len(group) and verb not in STOP_WORDS else ""


def _singulars(text: str, vocabulary: Vocabulary) -> set[str]:
    of_plural = {plural: single for single, plural in vocabulary.plurals.items()}
    return {of_plural.get(word, word) for word in _words(text)} | set(_words(text))


def _share(phrase: str, other: str) -> bool:
    return bool(set(phrase.split()) & set(other.split()))


def _words(text: str) -> list[str]:
    return _WORD.findall(text.lower())
