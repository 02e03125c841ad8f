"""The words of documents that are searched inside PostgreSQL: cut here, stored with the document (docs/adr/0061)."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

from skillroute.core.documents.index.scripts import CUT
from skillroute.core.observability import Metric, count, logger

if TYPE_CHECKING:
    from skillroute.core.documents.index.words import Words

ToTerms = Callable[[str], Mapping[str, float]]
"""Cuts and weighs the words of a lexical text; for collections whose words the index does not cut itself."""

Run = Callable[..., list[list[Any]]]
"""Runs a named statement, as `Session.run`."""


def store_words(run: Run, collection: str, waiting: Sequence[Sequence[str]], to_terms: ToTerms | None) -> int:
    """Cut the words of documents and store them, within the transaction that has locked these; return how many.

    Without what cuts words, which a function may lack, they are left to the relay.

    Parameters
    ----------
    waiting : rows of key, hash of the texts, lexical text
        Of points that have no words yet, or those of an older cut; none where nothing is searched inside PostgreSQL.
    """
    if not waiting:
        return 0
    try:
        rows = [
            {"key": key, "text_hash": text_hash, "cut": CUT, **_to_columns(_cut(lexical_text, to_terms))}
            for key, text_hash, lexical_text in waiting
        ]
    except ImportError as error:
        logger.warning("words left to the relay", extra={"documents": len(waiting), "reason": str(error)})
        count(Metric.INDEX_WORDS_LEFT, len(waiting))
        return 0
    run("set_search_words", collection=collection, rows=json.dumps(rows))
    return len(rows)


def _to_columns(words: Words) -> dict[str, list[int] | list[float]]:
    return {"terms": words.places, "impacts": words.values}


def _cut(lexical_text: str, to_terms: ToTerms | None) -> Words:
    from skillroute.core.documents.index.bm25 import terms_vector  # noqa: PLC0415 - most writers need it not
    from skillroute.core.documents.index.words import Words  # noqa: PLC0415 - the same

    return Words.of(terms_vector(to_terms(lexical_text)) if to_terms else _encoder()(lexical_text))


@cache
def _encoder() -> Callable[[str], Any]:
    from skillroute.core.documents.index.bm25 import Bm25Encoder  # noqa: PLC0415 - the same

    return Bm25Encoder().document
