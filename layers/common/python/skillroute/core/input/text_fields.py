"""Texts in what callers send, as request models declare them."""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator

from skillroute.core.errors.sentences import spelt


def without_nul(text: str) -> str:
    """Return a text without NUL. Raises `ValueError`."""
    if "\x00" in text:
        raise ValueError("NUL characters are not allowed")
    return text


Text = Annotated[str, AfterValidator(without_nul)]
"""Text that every part of the system can carry: NUL fits into neither PostgreSQL nor a model's vocabulary."""

SnakeCase = Annotated[
    str,
    spelt(r"^[a-z][a-z0-9_]*$", "must begin with a small letter, then take small letters, digits and _ (as my_skill)"),
]
"""An id that is part of paths and of settings alike."""
