"""How many bytes an answer may have (decisions 36; docs/adr/0030).

Lambda carries 6 MB both ways. An answer travels as a string within JSON, so each quote and each backslash of it is two
bytes on the way; everything else is itself.
"""

from __future__ import annotations

MAX_ANSWER_BYTES = 6 * 1024 * 1024
"""What Lambda takes as the answer of one invocation."""

PAGE_BYTES = 4_500_000
"""What the rows of a page may have on the way. A row that is larger by itself is still returned: none reaches 3 MB."""


def on_the_way(data: bytes) -> int:
    """Return how many bytes JSON has as part of Lambda's answer.

    Examples
    --------
    >>> on_the_way(b'{"a": 1}')
    10
    """
    return len(data) + data.count(b'"') + data.count(b"\\")
