"""The lookup of the rules about a caller, which routes ask once for a request."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from skillroute.core.rights.decide import Rights

if TYPE_CHECKING:
    from skillroute.core.caller import Caller


class RightsOf(Protocol):
    """Tells what a caller may find and call."""

    def known(self, caller: Caller) -> Rights | None:
        """Return the rights where they are at hand; None where they have to be read."""
        ...

    def __call__(self, caller: Caller) -> Rights:
        """Return the rights. Raises `DatabaseUnavailable`: nothing is found without rules."""
        ...
