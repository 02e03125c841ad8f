"""The names of servers that a search is limited to."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated

from pydantic import AfterValidator, BeforeValidator, Field, StringConstraints

from skillroute.core.input.text_fields import without_nul

MAX_SERVERS = 20
"""That one search may be limited to."""

ServerName = Annotated[str, StringConstraints(min_length=1, max_length=257), AfterValidator(without_nul)]


def _as_list(given: object) -> object:
    return [given] if isinstance(given, str) else given


ServerList = Annotated[list[ServerName], Field(min_length=1, max_length=MAX_SERVERS), BeforeValidator(_as_list)]
"""Several names in a list; one alone is taken as well, but no schema says so."""

ServerNames = Annotated[
    list[ServerName],
    Field(min_length=1, max_length=MAX_SERVERS),
    BeforeValidator(_as_list, json_schema_input_type=ServerName | list[ServerName]),
]
"""One name, or several in a list."""


def spellings(names: Iterable[str]) -> list[str]:
    """Return what items may have as their server for these names: a registry's path is the name behind a slash.

    Examples
    --------
    >>> spellings(["github", "/files"])
    ['github', '/files', 'files']
    """
    return [spelt for name in names for spelt in ([name, name[1:]] if name.startswith("/") and name[1:] else [name])]
