"""Parsing a query: tags, keywords, and the text that is embedded (registry-search-design, Query Processing)."""

from __future__ import annotations

import re
from collections.abc import Sequence, Set
from dataclasses import dataclass, field

from skillroute.catalogue.mentions import MAX_WORDS, Mentions, mentions, runs
from skillroute.registry.model import tag_key
from skillroute.registry.search.model import MAX_TAG, MAX_TAGS
from skillroute.registry.text import MAX_KEYWORD

MIN_KEYWORD = 3
"""Characters; shorter words are in everything."""

MAX_KEYWORDS = 12
"""So that a query of a thousand words costs no more than a long sentence. The longest stay: rare words are long."""

# A tag may end in "+" or "#" (c++, c#), never in what ends a sentence. It begins with a letter: #42 is an issue.
_TAG = re.compile(r"(?<!\S)#([^\W\d](?:[\w.:/+#-]*[\w+#])?)")
_NOT_A_WORD = re.compile(r"\W+")

_GRAMMAR = """
    a about above after again against all also am an and any are aren as at be because been before being below between
    both but by can cannot could couldn did didn do does doesn doing don done down during each either else etc ever
    every few for from further had hadn has hasn have haven having he her here hers herself him himself his how however
    if in into is isn it its itself just ll may me might more most must my myself neither no nor not of off on once only
    or other our ours ourselves out over own per same shall shan she should shouldn since so some such than that the
    their theirs them themselves then there these they this those though through to too under until up upon us ve very
    via was wasn we were weren what when where whether which while who whom whose why will with within without won would
    wouldn yes yet you your yours yourself yourselves
"""
_ASKING = """
    find finding get gets getting give gives got hello help helps hey hi let lets like look looking make makes need
    needed needs ok okay please put set show shows tell thank thanks use used uses using want wanted wants way
"""
GRAMMAR = frozenset(_GRAMMAR.split())
STOP_WORDS = GRAMMAR | frozenset(_ASKING.split())
"""Words that are not looked for: grammar, what an apostrophe leaves of it, and how people ask whatever they want.

They are still embedded: to the model they say how the others belong together. Where a query has nothing else, the words
of asking are looked for: there are servers called Make.
"""


@dataclass(frozen=True, slots=True)
class ParsedQuery:
    """A query taken apart.

    Attributes
    ----------
    text : str
        What is embedded.
    keywords : tuple of str
        What is looked for, literally and in lower case; in the order of the query, each once. May be empty.
    tags : tuple of str
        Keys of the tags that everything found must have.
    names : frozenset of str
        Keys of all names of servers and agents that the query may contain: these are proper names, ordinary words too.
    mentions : Mentions
        The tools that it names.
    """

    text: str
    keywords: tuple[str, ...]
    tags: tuple[str, ...]
    names: frozenset[str] = field(default=frozenset(), repr=False)
    mentions: Mentions = field(default=Mentions(frozenset()), repr=False)


def parse(query: str, tags: Sequence[str] = ()) -> ParsedQuery:
    """Take a query apart. Its own ``#tags`` join `tags`, all of which must hold (decision 24).

    When nothing but tags is left, their words are the query: ``#docs`` ranks by docs what is tagged so.

    Examples
    --------
    >>> parse("find library pages #docs", ["Code"])
    ParsedQuery(text='find library pages', keywords=('library', 'pages'), tags=('code', 'docs'))
    """
    in_query = _TAG.findall(query)
    # Beyond what a request may name, tags of a query are passed over: no query is an error.
    every = list(dict.fromkeys(key for tag in (*tags, *in_query) if 0 < len(key := tag_key(tag)) <= MAX_TAG))[:MAX_TAGS]
    text = " ".join(_TAG.sub(" ", query).split()) if in_query else query
    if in_query and not _telling_words(text, STOP_WORDS):
        text = " ".join(in_query)
    # No name has a lone surrogate, which a query may, and which PostgreSQL cannot be asked for.
    encodable = text.encode("utf-8", "ignore").decode("utf-8")
    named = mentions(encodable)
    names = {*runs(encodable.split()[:MAX_WORDS], every=True), *named.alone, *named.servers}
    return ParsedQuery(text, keywords(text), tuple(every), frozenset(names), named)


def keywords(text: str) -> tuple[str, ...]:
    """Return the words of a text that are looked for.

    Examples
    --------
    >>> keywords("How do I use the GitHub-API, please? An API of GitHub!"), keywords("Make")
    (('github', 'api'), ('make',))
    """
    words = _telling_words(text, STOP_WORDS) or _telling_words(text, GRAMMAR)
    longest = set(sorted(words, key=len, reverse=True)[:MAX_KEYWORDS])
    return tuple(word for word in words if word in longest)


def _telling_words(text: str, left_out: Set[str]) -> list[str]:
    """Return the words of a text, each once, but those that are too short or in `left_out`."""
    words = (word for word in _NOT_A_WORD.split(text.lower()) if len(word) >= MIN_KEYWORD and word not in left_out)
    return list(dict.fromkeys(word[:MAX_KEYWORD] for word in words))
