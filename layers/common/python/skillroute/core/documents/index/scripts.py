"""Words of scripts that blanks do not separate, or that hang their particles on: cut here, by script (docs/adr/0066).

The engine guesses one language for a whole text, so that an English name in front of a Japanese description changed how
the description was cut, and a query of two characters was cut in another way than the text that has them. What a term
is depends here on the few characters around it and on nothing else.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from skillroute.core.input.normal_form import nfkc

CUT = 2
"""The version of how texts are cut, stored with what was cut. Whoever changes which terms a text has raises it, with a
migration that sets `mcp.search_points.cut` back where the terms differ."""

_HAN = "\u2e80-\u2fdf\u3005-\u3007\u3021-\u3029\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U000323af"
_HIRAGANA = "\u3041-\u3096\u3099-\u309f"
_KATAKANA = "\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff"
_HANGUL = "\u1100-\u11ff\u3131-\u318e\ua960-\ua97c\uac00-\ud7a3\ud7b0-\ud7fb"
_HALF_WIDTH = "\uff66-\uff9f\uffa0-\uffdc"
# Thai, Lao, Burmese, Khmer.
_CLUSTERED = (
    "\u0e01-\u0e3a\u0e40-\u0e4e\u0e50-\u0e59\u0e81-\u0eb9\u0ebb-\u0ecd\u0ed0-\u0edf"
    "\u1000-\u1049\u1050-\u109d\u1780-\u17d3\u17dc-\u17dd\u17e0-\u17e9"
)
_RUN = re.compile(f"[{_HAN}{_HIRAGANA}{_KATAKANA}{_HANGUL}{_HALF_WIDTH}{_CLUSTERED}]+")
_PIECE = re.compile(
    f"(?P<han>[{_HAN}]+)|(?P<hiragana>[{_HIRAGANA}]+)|(?P<katakana>[{_KATAKANA}]+)|(?P<hangul>[{_HANGUL}]+)"
    f"|(?P<clustered>[{_CLUSTERED}]+)"
)
# A letter with the vowels and tones that are written over, under and behind it.
_CLUSTER = re.compile(
    "[\u0e40-\u0e44\u0ec0-\u0ec4]?.[\u0e30-\u0e3a\u0e45\u0e47-\u0e4e\u0eb0-\u0ebc\u0ec8-\u0ecd"
    "\u102b-\u103e\u1056-\u1059\u105e-\u1060\u1062-\u1064\u1067-\u106d\u1071-\u1074\u1082-\u108d\u108f\u109a-\u109d"
    "\u17b4-\u17d3\u17dd]*"
)
_ENDS_VERB = re.compile("[^をはがのにへともやで]")
"""Hiragana that can follow a single character of Han, unless that character is a word and this a particle."""

_PARTICLES = (
    *("에서는", "으로는", "에게서", "이라는"),
    *("에서", "에게", "께서", "으로", "부터", "까지", "처럼", "보다", "한테", "하고", "이나", "이랑", "에는"),
    *"은는이가을를의에도로와과만",
)
_ENDINGS = frozenset({
    "니다", "합니", "습니", "입니", "됩니", "하는", "하고", "하여", "해서", "하기", "하다", "해요", "해줘", "해주",
    "주세", "세요", "어요", "아요", "있는", "있습", "에서", "으로", "대한",
})  # fmt: skip
"""Pairs that verbs and nouns of any meaning end in."""

_SOME, _MANY = 2_000, 10_000


def in_words(text: str, *, to_find: bool = False) -> str:
    """Return a text with blanks around the words that are cut here, each spelt as one of Latin letters.

    So the engine counts them among the others, and nothing is different for a text that has none of these scripts.

    Parameters
    ----------
    to_find : bool
        As a query has them: a single character of Han finds all words that have it, a word of two finds no other one.

    Examples
    --------
    >>> in_words("Convert a PDF")
    'Convert a PDF'
    """
    if text.isascii():
        return text
    return _RUN.sub(lambda run: f" {' '.join(map(_spelt, _terms(nfkc(run[0]), to_find=to_find)))} ", text)


def common_words(text: str) -> dict[str, int]:
    """Return the words of a query, spelt as by `in_words`, that many texts have, with about how many of 100,000 do.

    No table of these languages is needed for that: hiragana is mostly grammar, and a character of Han is in many words.
    """
    if text.isascii():
        return {}
    found = (term for run in _RUN.findall(text) for term in _terms(nfkc(run), to_find=True))
    return {_spelt(term): count for term in found if (count := _commonness(term))}


def _commonness(term: str) -> int:
    if re.fullmatch(f"[{_HIRAGANA}]+", term) or term in _ENDINGS or term in _PARTICLES:
        return _MANY
    return _SOME if len(term) == 1 else 0


def _terms(run: str, *, to_find: bool) -> Iterator[str]:
    for piece in _PIECE.finditer(run):
        match piece.lastgroup:
            case "han":
                yield from _of_han(piece[0], run[piece.end() : piece.end() + 1], to_find=to_find)
            case "hangul":
                yield from _of_hangul(piece[0])
            case "clustered":
                yield from _pairs(_CLUSTER.findall(piece[0]))
            case "hiragana" if len(piece[0]) == 1:
                pass  # a particle, or how a verb ends
            case _:
                yield from _pairs(piece[0])


def _of_han(piece: str, following: str, *, to_find: bool) -> Iterator[str]:
    if len(piece) > 1:
        yield from _pairs(piece)
        yield from () if to_find else piece
        return
    yield piece
    if re.match(f"[{_HIRAGANA}]", following) and _ENDS_VERB.match(following):
        yield piece + following


def _of_hangul(word: str) -> Iterator[str]:
    """Yield a word as it is written, without its particle, and its pairs, each once."""
    bare = next((word.removesuffix(end) for end in _PARTICLES if word.endswith(end) and word != end), word)
    yield from dict.fromkeys((word, bare, *_pairs(word)))


def _pairs(characters: str | list[str]) -> Iterator[str]:
    if len(characters) == 1:
        yield characters[0]
    for one, other in pairwise(characters):
        yield one + other


def _spelt(term: str) -> str:
    """Spell a term so that the engine takes it for one word and leaves it as it is."""
    return "".join(f"z{ord(character):x}" for character in term) + "z"
