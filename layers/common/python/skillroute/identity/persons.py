"""The person that a caller is, for logins."""

from __future__ import annotations

import re
from typing import ClassVar

from skillroute.core.caller import Caller
from skillroute.identity.model import Person

_OPAQUE = re.compile(r"[0-9a-f-]{12,}|\d+|[^|]*\|.*", re.IGNORECASE)
"""Subjects that name no one to people: UUIDs, numbers, and a provider's own (`auth0|5f7c8ec7c33c6c004bbafe82`)."""


class Persons:
    """Says which person a caller is.

    Parameters
    ----------
    unnamed : str or None
        Who callers without a name are, where only one person can be: on a laptop. Else they are none.
    """

    NO_NAME: ClassVar[str] = (
        "your token has no subject (`sub`), so what you log in with could not be kept apart from what others do; "
        "come with a token that has one"
    )

    SHARED: ClassVar[str] = (
        "your identity is a role, which all who may assume it share, so what you log in with would be theirs, too; "
        "logins take a deployment with tokens (AuthMode=jwt)"
    )

    def __init__(self, unnamed: str | None = None) -> None:
        self._unnamed = unnamed

    def of(self, caller: Caller) -> Person | None:
        """Return the person; None for a caller without a name."""
        if self._unnamed is not None:
            return Person(caller.org_id, self._unnamed)
        return None if caller.name is None or not caller.is_person else Person(caller.org_id, caller.name)

    def why_none(self, caller: Caller) -> str:
        """Return why a caller is no person."""
        return self.NO_NAME if caller.name is None else self.SHARED

    def words(self, person: Person) -> tuple[str, str | None]:
        """Return who a person is in words for a stranger, and the subject of its tokens where those have it not."""
        of = "" if person.org_id is None else f" of “{person.org_id}”"
        if person.name == self._unnamed:
            return f"all who use this Skillroute{of}", None
        if _OPAQUE.fullmatch(person.name):
            return f"a person{of}", person.name
        return f"“{person.name}”{of}", None
