"""The words of agent mail: one tokenizer for indexing and for querying, on both lexical engines (message-search, 2)."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from skillroute.core.documents.term_weights import weight
from skillroute.core.documents.texts import IndexedText
from skillroute.core.hashing import text_hash
from skillroute.core.input.normal_form import nfkc
from skillroute.core.input.secret_masking import both_without_secrets

_K1 = 1.2
_B = 0.75
_EXPECTED_TERMS = 60.0
MAX_IMPACT = _K1 + 1.0
"""The upper bound of an impact."""

_SUBJECT_COUNTS = 2
"""A term of the subject counts like two of the body."""

_COMMON = 2.0
"""A term that weighs less is in more than every eighth text, and finds nothing worth finding beside others."""

MAX_TERMS = 128
"""Distinct terms of a query that are looked for; a long message pasted in has fewer that say anything."""

OPERATORS = frozenset({"AND", "OR", "NOT", "NEAR"})
"""Words in capitals that are no words of the text."""

MAX_LEXEME_BYTES = 2046
"""The most bytes of a word that PostgreSQL takes."""

_MAX_VECTOR_BYTES = 2**20 - 1
"""The most that PostgreSQL takes as one tsvector: of each word its bytes, and of each place two, after three."""

_MAX_PREFIX = 8
"""Of how many parts the longest beginning of an identifier is that finds it."""

_MAX_POSITION = 16_383
"""PostgreSQL's last position within a text."""

_MAX_POSITIONS = 255
"""How many PostgreSQL keeps of one word."""

# Characters that belong to the letter before them, which Python's \w leaves out; what lies between two of a range are
# letters and digits. Variation selectors are not among them: they belong to pictures. Those of Unicode 15.1, as
# Python 3.13 has it: a text has the same words on Lambda and on a laptop with an older Python.
_MARK_RANGES = """
300-36f 483-489 591-5bd 5bf 5c1-5c2 5c4-5c5 5c7 610-61a 64b-65f 670 6d6-6dc 6df-6e8 6ea-6ed 711-7f3 7fd 816-82d 859-85b
898-8e1 8e3-963 981-9e3 9fe-a75 a81-ae3 afa-b63 b82-bd7 c00-c63 c81-c83 cbc-d4d d57-d63 d81-df3 e31-e3a e47-e4e eb1-ece
f18-f19 f35 f37 f39 f3e-f84 f86-fbc fc6 102b-103e 1056-109d 135d-135f 1712-1734 1752-17d3 17dd 180b-180d 180f-193b
1a17-1a1b 1a55-1a7f 1ab0-1b44 1b6b-1b73 1b80-1bf3 1c24-1c37 1cd0-1cd2 1cd4-1dff 20d0-20f0 2cef-2cf1 2d7f-2dff 302a-302f
3099-309a a66f-a672 a674-a67d a69e-a6f1 a802-a827 a82c a880-a8c5 a8e0-a8f1 a8ff-a92d a947-a953 a980-a9c0 a9e5-aa4d
aa7b-aac1 aaeb-aaef aaf5-aaf6 abe3-abea abec-abed fb1e fe20-fe2f 101fd-1037a 10a01-10a3f 10ae5-10ae6 10d24-10eac
10efd-10eff 10f46-10f50 10f82-10f85 11000-11046 11070-110ba 110c2 11100-11134 11145-11173 11180-111c0 111c9-111cc
111ce-111cf 1122c-11237 1123e 11241 112df-11446 1145e-114c3 115af-115c0 115dc-11640 116ab-116b7 1171d-1172b 1182c-1183a
11930-11943 119d1-119e0 119e4-11a3e 11a47-11a99 11c2f-11c3f 11c92-11ef6 11f00-11f01 11f03 11f34-11f3a 11f3e-11f42 13440
13447-13455 16af0-16af4 16b30-16b36 16f4f-16f92 16fe4-16ff1 1bc9d-1bc9e 1cf00-1cf46 1d165-1d169 1d16d-1d172 1d17b-1d182
1d185-1d18b 1d1aa-1d1ad 1d242-1d244 1da00-1da36 1da3b-1da6c 1da75 1da84 1da9b-1e136 1e2ae-1e2ef 1e4ec-1e4ef 1e8d0-1e94a
"""
_MARKS = "".join("-".join(chr(int(end, 16)) for end in span.split("-")) for span in _MARK_RANGES.split())
# A word is letters and digits of any script, with the marks that belong to them; hyphens within it join an identifier.
_PART = rf"(?:[^\W_][{_MARKS}]*+)++"
_WORD = re.compile(rf"{_PART}(?:-{_PART})*+")
# Hyphens that look like one, and one that is not seen at all.
_SPELLINGS = (("\u2010", "-"), ("\u2011", "-"), ("\u00ad", ""))
_UNSTORABLE = re.compile("[\0\ud800-\udfff]")
# Scripts that are written without blanks are cut into pairs of characters.
_UNSPACED = re.compile("[\u3005-\u3007\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]+")


@dataclass(frozen=True, slots=True)
class SearchText:
    """The text by which a message, an agent or a project is searched, without secrets.

    Attributes
    ----------
    title, body : str
        A message's subject and body; a name, and what else is said.
    """

    title: str
    body: str

    @classmethod
    def of(cls, title: str, body: str) -> SearchText:
        """Return what may be searched of what was written, in the one spelling in which it is cut into words."""
        return cls(*both_without_secrets(_normal(title), _normal(body)))

    @property
    def embedded(self) -> str:
        """The text that is embedded: all of it."""
        return f"{self.title}\n\n{self.body}".strip()


def indexed_text(text: SearchText) -> IndexedText:
    """Return what a text says to the index: all of it by meaning, and its words (`terms_of`)."""
    title = " ".join(text.title.splitlines())
    return IndexedText((text.embedded,), f"{title}\n{text.body}", text_hash(text.title, text.body))


def terms_of(lexical_text: str) -> dict[str, float]:
    """Return `impacts` of what `indexed_text` made of a text."""
    title, _, body = lexical_text.partition("\n")
    return impacts(SearchText(title, body))


def impacts(text: SearchText) -> dict[str, float]:
    """Return BM25's part of a document: how much each distinct term says of it, set against its length.

    ``f * (k1 + 1) / (f + k1 * (1 - b + b * length / 60))`` with k1 = 1.2 and b = 0.75, f the term's frequency. The
    expected length is a constant, as the weights of terms are, and for the same reason.
    """
    frequencies = Counter(_document_terms(text.body))
    length = float(frequencies.total())
    for term in _document_terms(text.title):
        frequencies[term] += _SUBJECT_COUNTS
        length += 1.0
    norm = _K1 * (1.0 - _B + _B * length / _EXPECTED_TERMS)
    return {term: count * (_K1 + 1.0) / (count + norm) for term, count in frequencies.items()}


def query_terms(text: str) -> dict[str, float]:
    """Return the distinct terms of a query with their weights, in the order of the query.

    Operators are left out, and so are words that are in every other text, unless there are no others. Of more than
    `MAX_TERMS` the rarest stay: each costs a look at everything that has it.

    Examples
    --------
    >>> list(query_terms("what is the status of POL-358?"))
    ['what', 'status', 'pol-358']
    >>> query_terms("AND ?!")
    {}
    """
    terms = {term: weight(term) for term in _query_terms(text)}
    terms = {term: term_weight for term, term_weight in terms.items() if term_weight >= _COMMON} or terms
    rarest = set(sorted(terms, key=terms.__getitem__, reverse=True)[:MAX_TERMS])
    return {term: term_weight for term, term_weight in terms.items() if term in rarest}


def search_vector(text: SearchText) -> str:
    """Return the same terms for PostgreSQL's full text: a literal of type tsvector, the title's labelled A."""
    positions: dict[str, list[str]] = {}
    place = 0
    left = _MAX_VECTOR_BYTES
    for label, words in (("A", text.title), ("", text.body)):
        for term in _document_terms(words):
            place = min(place + 1, _MAX_POSITION)
            places = positions.get(term, [])
            cost = 2 + (0 if places else len(term.encode()) + 3)
            if cost - 5 > MAX_LEXEME_BYTES or cost > left or len(places) == _MAX_POSITIONS:
                continue
            left -= cost
            places.append(f"{place}{label}")
            positions[term] = places
    return " ".join(f"'{term}':{','.join(places)}" for term, places in positions.items())


def search_query(terms: Sequence[str] | Mapping[str, float]) -> str:
    """Return a literal of type tsquery that any of the terms satisfies."""
    return " | ".join(f"'{term}'" for term in terms)


def folded(text: str) -> str:
    """Return a query trimmed, with white space within it folded.

    What no database and no answer can hold counts as white: NUL, and half of a character out of a JSON escape.
    """
    return " ".join(_UNSTORABLE.sub(" ", text).split())


def storable(text: str) -> str:
    """Return a text that PostgreSQL and JSON can hold as it is. Raises `ValueError` for any other."""
    if _UNSTORABLE.search(text):
        raise ValueError("must not contain NUL or half of a surrogate pair")
    return text


def _document_terms(text: str) -> Iterator[str]:
    """Yield every term, for both engines: an identifier with hyphens as a whole, what it begins with, and its parts.

    ``POL-358-hotfix`` is found by ``POL-358``: the ticket finds its branches. A query asks for one term all the same.
    """
    known: dict[str, list[str]] = {}  # most words of a text come more than once
    for word in _WORD.findall(_normal(text)):
        terms = known.get(word)
        if terms is None:
            terms = known[word] = [term for part in _words(word) for term in _found_by(part)]
        yield from terms


def _found_by(word: str) -> Iterator[str]:
    terms = list(_cut(word))
    yield from terms
    if terms == [word] and "-" in word:
        parts = word.split("-")
        yield from ("-".join(parts[:count]) for count in range(2, min(len(parts), _MAX_PREFIX + 1)))
        yield from parts


def _query_terms(text: str) -> Iterator[str]:
    """Yield terms to find: an identifier with hyphens as a whole only, so that POL-358 does not find every 358."""
    for word in dict.fromkeys(_WORD.findall(_normal(text))):
        if word not in OPERATORS:
            for part in _words(word):
                yield from _cut(part)


def _normal(text: str) -> str:
    """Return one spelling of what can be spelt in several ways, in its own case."""
    return text if text.isascii() else _respelt(nfkc(_respelt(text)))


def _respelt(text: str) -> str:
    for spelling, meant in _SPELLINGS:  # five times as fast as `str.translate`
        text = text.replace(spelling, meant)
    return text


def _words(word: str) -> Iterator[str]:
    """Yield a word of a text in its one spelling, in lower case; there, it may be several.

    Folded rather than lowered: a Greek sigma is lowered by what stands around it, and a word would not find itself.
    Folding can take a letter apart (the Turkish capital I), so what is compared is put together after it, and word by
    word: what stands beside a word does not matter.
    """
    if word.isascii():
        yield word.lower()
    else:
        yield from _WORD.findall(nfkc(word.casefold()))


def _cut(word: str) -> Iterator[str]:
    """Yield a word, or where it is of a script without blanks, its pairs of characters."""
    if word.isascii() or not _UNSPACED.search(word):
        yield word
        return
    end = 0
    for run in _UNSPACED.finditer(word):
        if run.start() > end:
            yield from _WORD.findall(word[end : run.start()])
        characters = run[0]
        yield from (characters[at : at + 2] for at in range(len(characters) - 1)) if len(characters) > 1 else characters
        end = run.end()
    yield from _WORD.findall(word[end:])
