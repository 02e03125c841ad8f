"""The English names of languages by ISO 639-1 code."""

from __future__ import annotations

_NAMES = """
ar Arabic, de German, el Greek, es Spanish, fr French, he Hebrew, hi Hindi, id Indonesian, it
Italian, ja Japanese, km Khmer, ko Korean, lo Lao, my Burmese, nl Dutch, pl Polish, pt Portuguese,
ru Russian, sv Swedish, th Thai, tr Turkish, uk Ukrainian, vi Vietnamese, zh Chinese
"""
_NAME_OF = {one.split()[0]: one.split()[1] for one in _NAMES.split(",")}


def name_of_language(code: str) -> str:
    """Return the English name of a language that `language_of` tells; of another one its code."""
    return _NAME_OF.get(code, code)
