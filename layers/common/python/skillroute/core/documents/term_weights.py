"""How much a word says, by how common it is at large: the document frequencies of BM25.

Not counted in what is searched. One who sees little of an index would learn from its scores what the rest says, and
every record that comes or goes would move the others (docs/adr/0020, docs/adr/0025).

Counted once in tools and in requests for tools, and kept in `term_counts.json`: of how many of 100,000 texts a word is
part. `training/term_counts.py` writes that file.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from functools import cache
from importlib.resources import files

TEXTS = 100_000
UNKNOWN = 27
"""Of so many texts a word is part that is not in the table: half of what the rarest ones there have."""


@cache
def counts() -> Mapping[str, int]:
    """Return of how many of `TEXTS` each word of the table is part, by the word in lower case. Read once, in 1 ms."""
    table: dict[str, int] = json.loads(files(__package__).joinpath("term_counts.json").read_text(encoding="utf-8"))
    return table


def weight(term: str) -> float:
    """Return BM25's inverse document frequency of a term, in lower case.

    Examples
    --------
    >>> round(weight("the"), 3), round(weight("approval"), 3)
    (0.403, 6.796)
    """
    return weight_of(counts().get(term, UNKNOWN))


def weight_of(count: int) -> float:
    """Return the inverse document frequency of what is in `count` texts: ``ln(1 + (N - n + 0.5) / (n + 0.5))``."""
    return math.log(1.0 + (TEXTS - count + 0.5) / (count + 0.5))
