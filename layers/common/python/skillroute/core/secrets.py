"""Secrets that are read when they are needed."""

from __future__ import annotations

from typing import Protocol


class Secret(Protocol):
    """A text that must not be shown. Safe to read from several threads."""

    def read(self, *, again: bool = False) -> str:
        """Return the text; what was read once is remembered.

        Parameters
        ----------
        again : bool
            What was read before was refused: look whether it has been changed since.

        Raises
        ------
        SecretUnavailable
            It cannot be read. No message holds what it is.
        """
        ...
