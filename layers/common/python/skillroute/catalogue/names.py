"""The names by which requests name tools, servers and agents (`mentions.py`)."""

from __future__ import annotations

import re

MAX_NAME_WORDS = 12
"""Runs of more words are not looked for. Names of tools are one word nearly always, those of prompts a few."""

MAX_KEY_LENGTH = 3 * 256
"""Characters: a name has 256 at most, and case folding makes three of one. Longer runs are not looked for."""

# A word without the punctuation at its edges. It matches where the first letter is or nowhere, so the time grows with
# the word's length. "[^\w]+$" starts again at each character in front of a letter: 1.65 s for 10,000 of them.
_CORE = re.compile(r"\w.*\w|\w", re.DOTALL)


def name_key(name: str) -> str:
    """Return what a name is recognised by: its words in lower case, without punctuation at their edges.

    Names and queries go through the same reading, so a name is found however it is quoted or followed by a comma.

    It is stored, in `mcp.tools` and `mcp.registry_entities`, and writes of unchanged rows leave it as it is: another
    rule needs a migration that writes the column of all rows again.

    Examples
    --------
    >>> name_key("@acme/Deploy"), name_key("my  tool"), name_key("C++"), name_key("***")
    ('acme/deploy', 'my tool', 'c', '***')
    """
    return spelling(name.casefold())


def spelling(name: str) -> str:
    """Return a name's words as they are written, without punctuation at their edges."""
    cores = (_CORE.search(word) for word in name.split())
    return " ".join(core[0] for core in cores if core) or name
