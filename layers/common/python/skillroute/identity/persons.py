"""The person that a caller is, for logins."""

from __future__ import annotations

from typing import ClassVar

from skillroute.core.caller import Caller
from skillroute.identity.model import Person


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
