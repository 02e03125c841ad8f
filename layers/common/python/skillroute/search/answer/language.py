"""Telling a request in another language than English, by its script or its words: 5 to 30 µs, and no model.

Of 132,587 requests of public judged sets, which are English, 41 are taken for another language (0.031 %), and nearly
all of these are in it, or quote it. Of short requests in ten other languages, 196 that were written for this, 193 are
told from English (docs/adr/0066).
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from skillroute.search.answer.language_words import ALSO_ENGLISH, ENGLISH, ENGLISH_SMALL, OF_REQUESTS, SMALL

_SCRIPTS = (  # the first that a text has; Japanese has kana, and Chinese has none
    ("ja", re.compile("[\u3041-\u3096\u30a1-\u30fa\uff66-\uff9d]")),
    ("ko", re.compile("[\u1100-\u11ff\u3131-\u318e\uac00-\ud7a3]")),
    ("zh", re.compile("[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U000323af]")),
    ("th", re.compile("[\u0e01-\u0e5b]")),
    ("lo", re.compile("[\u0e81-\u0edf]")),
    ("my", re.compile("[\u1000-\u109f]")),
    ("km", re.compile("[\u1780-\u17ff]")),
    ("el", re.compile("[\u0370-\u03ff]{2}")),
    ("uk", re.compile("[\u0404\u0406\u0407\u0454\u0456\u0457\u0490\u0491]")),
    ("ru", re.compile("[\u0400-\u04ff]{2}")),
    ("he", re.compile("[\u05d0-\u05ea]{2}")),
    ("ar", re.compile("[\u0621-\u064a]{2}")),
    ("hi", re.compile("[\u0904-\u0939]")),
)
_WORD = re.compile(r"[^\W\d_]+")
_NOT_ITS_OWN = re.compile(r"\"[^\"]*\"|“[^”]*”|«[^»]*»|(?<!\w)'[^']*'(?!\w)|\w+(?:[._@/\\]+\w+)+|\w+_\w*")
"""Quoted text of a request; a host, an address, a file or a name of code, whose parts are no words of the request."""
_ANY_SMALL = frozenset().union(*SMALL.values())
_SHARED = {
    language: frozenset(words.split())
    for language, words in {
        "de": "in an was so", "fr": "on me a", "es": "me a no", "pt": "me a no do", "it": "in a me i do",
        "nl": "in is was we of", "sv": "i", "pl": "do i",
    }.items()
}  # fmt: skip
"""Small words that English has as well: they speak neither for a language nor against it."""
_LETTERS = {
    "es": re.compile("[ñ]|ci[óo]n$|ciones$"),
    "pt": re.compile("[ãõ]|ções$|ência$"),
    "fr": re.compile("[êëœîûùâ]|ç[ao]|^[éè]|[éè]es?$"),
    "de": re.compile("[ßäöü]|[a-z]{3}(?:ungen|keit|ieren)$"),
    "it": re.compile("[ìòù]$|[a-z]{2}zion[ei]$"),
    "nl": re.compile("[a-z]ij[a-z]*en$|[a-z]lijke?$|[a-z]heid$"),
    "sv": re.compile("[åäö]"),
    "pl": re.compile("[ąęłńśźżć]"),
    "tr": re.compile("[ığş]"),
    "vi": re.compile("[đơưạảấầẩậắằặẹẻẽếềểễệỉịọỏốồổỗộớờởỡợụủứừửữựỳỷỹ]"),
}
_CLUE = re.compile("|".join(re.sub(r"[$]|\^", r"\\b", each.pattern) for each in _LETTERS.values()))
"""Any of these clues, in a whole text: most requests have none, and this is seen at once."""
_BORROWED = frozenset({"cliché", "fiancé", "fiancée", "soufflé", "purée", "jalapeño", "façade", "über"})
_STEMS: dict[str, list[tuple[str, Sequence[str]]]] = {}
"""How words begin, by their first letters."""
_FIRST = 4
for _word, _languages in OF_REQUESTS.items():
    if _word.endswith("*"):
        _STEMS.setdefault(_word[:_FIRST], []).append((_word[:-1], _languages))
_SAYING = (_ANY_SMALL | OF_REQUESTS.keys()) - ALSO_ENGLISH
_PLAIN_ENGLISH = ENGLISH - OF_REQUESTS.keys() - frozenset().union(*_SHARED.values())
_MIN_WORDS = 2
_MAX_WORDS = 12
"""Of a request that is told by other words than small ones: a longer one has these."""


def language_of(text: str) -> str | None:
    """Return the language of a request as ISO 639-1 has it; None for English, and where that cannot be told.

    A script tells at once, where a third of the letters are of it: a name in a sentence of another language does not.
    Of Latin letters it takes two small words of a language, more than there are of English, or in a short request a
    word that requests are made of, and none of English. Names do not count, which are written with a capital: "Los
    Angeles". Nor does what is quoted, or looks like a host, an address, a file or code.

    Examples
    --------
    >>> language_of("法令を調べて"), language_of("finde alle Dateien, die ich mit dir geteilt habe")
    ('ja', 'de')
    >>> language_of("enviar un correo"), language_of("Wetter in Berlin")
    ('es', 'de')
    >>> language_of("translate 'hello' into 日本語"), language_of("flights Los Angeles Las Vegas")
    (None, None)
    """
    found = _language_of(text)
    if found is None:
        return None
    own = _NOT_ITS_OWN.sub(" ", text)
    is_one_quotation = not own.strip() and text.lstrip().startswith(("'", '"', "“", "«"))
    return found if own == text or is_one_quotation else _language_of(own)


def _language_of(text: str) -> str | None:
    written = _WORD.findall(text)
    words = [word.lower() for word in written]
    if not text.isascii():
        letters = "".join(words)
        if 3 * sum(letter > "\u036f" for letter in letters) >= max(len(letters), 1):
            found = next((language for language, script in _SCRIPTS if script.search(text)), None)
            if found is not None:
                return found
    own = words if text.isupper() else _not_of_names(written)
    return _by_small_words(own, words) or (_by_request_words(own, words) if len(words) <= _MAX_WORDS else None)


def _by_small_words(own: Sequence[str], words: Sequence[str]) -> str | None:
    """Return the language of two small words among `own`, where fewer of all words are English."""
    small = _ANY_SMALL.intersection(own)
    if len(small) < _MIN_WORDS:
        return None
    found = {language: len(small & listed) for language, listed in SMALL.items()}
    best = max(found, key=found.__getitem__)
    return best if found[best] >= max(_MIN_WORDS, 1 + sum(word in ENGLISH_SMALL for word in words)) else None


def _by_request_words(own: Sequence[str], words: Sequence[str]) -> str | None:
    """Return the language that half of the words speak for: 2 for a word of requests, 1 for any other clue.

    A word that English has as well is 1, and tells nothing without another clue; one that is English alone is -2.
    Nouns of German are written like names, and tell nothing alone either.
    """
    has_clue = (
        not _SAYING.isdisjoint(own) or not _STEMS.keys().isdisjoint([word[:_FIRST] for word in own])
        or _CLUE.search(" ".join(own))
    )  # fmt: skip
    if not has_clue or 2 * sum(word in _PLAIN_ENGLISH for word in words) >= len(words):
        return None
    points: dict[str, int] = {}
    sure: set[str] = set()
    for word in dict.fromkeys(own):
        _count(word, points, sure)
    if not sure:
        return None
    if "de" in sure:
        points["de"] += 2 * sum("de" in _languages_of(word) for word in set(words).difference(own))
    for language in points:
        points[language] -= 2 * sum(_is_english(word, language) for word in words)
    best = max(points, key=lambda language: (points[language], language in sure))
    return best if best in sure and points[best] >= max(_MIN_WORDS, len(words) / 2) else None


def _is_english(word: str, language: str) -> bool:
    return word in ENGLISH and word not in _SHARED.get(language, ()) and language not in OF_REQUESTS.get(word, ())


def _count(word: str, points: dict[str, int], sure: set[str]) -> None:
    """Add to the points what a word says; to `sure` the languages that it is of and English is not."""
    found = dict.fromkeys(_languages_of(word), 1 if word in ALSO_ENGLISH else 2)
    if word not in ALSO_ENGLISH:
        sure.update(found)
    if word in _ANY_SMALL:
        small = [language for language, listed in SMALL.items() if word in listed]
    elif not found and word not in _BORROWED:
        small = [language for language, letters in _LETTERS.items() if letters.search(word)]
    else:
        small = []
    sure.update(small)
    for language, points_of_word in {**dict.fromkeys(small, 1), **found}.items():
        points[language] = points.get(language, 0) + points_of_word


def _languages_of(word: str) -> Sequence[str]:
    """Return the languages that a word of requests is of; none where it is not one."""
    exact = OF_REQUESTS.get(word, ())
    begins = [languages for stem, languages in _STEMS.get(word[:_FIRST], ()) if word.startswith(stem)]
    return [*exact, *(language for languages in begins for language in languages)] if begins else exact


def _not_of_names(words: Sequence[str]) -> list[str]:
    """Return the words that begin with a small letter, and the first one where the next does and it is no acronym."""
    begins = words[:1] if not words[1:2] or words[1][0].islower() else ()
    first = [word.lower() for word in begins if word[1:] == word[1:].lower()]
    return [*first, *(word for word in words[1:] if word[0].islower())]
