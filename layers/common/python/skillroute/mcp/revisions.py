"""The revisions of the Model Context Protocol that are spoken here."""

from __future__ import annotations

from typing import Literal

Revision = Literal["2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"]

STATELESS: Revision = "2026-07-28"
"""The revision whose requests carry everything themselves; the older ones begin with `initialize`."""

HANDSHAKE: tuple[Revision, ...] = ("2025-03-26", "2025-06-18", "2025-11-25")
"""The revisions that begin with `initialize`, the oldest first."""

UNNAMED: Revision = "2025-03-26"
"""The revision of a request without a version header, which this revision did not send yet."""

ALL: tuple[Revision, ...] = (*HANDSHAKE, STATELESS)


def revision_of(name: str) -> Revision | None:
    """Return the revision of a name, None where it is none that is spoken here."""
    return next((revision for revision in ALL if revision == name), None)


def has_structured_content(revision: Revision) -> bool:
    """Return whether tools have output schemas and structured content in a revision."""
    return revision != "2025-03-26"


def titled(revision: Revision, title: str) -> dict[str, str]:
    """Return the title of a thing, nothing in a revision that knows names alone.

    Examples
    --------
    >>> titled("2025-11-25", "Search tools"), titled("2025-03-26", "Search tools")
    ({'title': 'Search tools'}, {})
    """
    return {} if revision == "2025-03-26" else {"title": title}
