"""A call as an agent asks for it, and the result of one that is not made."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from skillroute.calling.model import JsonObject
from skillroute.core.trace.noted import Origin

LINK_HINT = (
    "Or give the person that you work for this link, which is theirs alone, good once and for 10 minutes, and call "
    "again when they have logged in"
)

Form = Literal["any", "read"]


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call as an agent asks for it.

    Attributes
    ----------
    tool_id : int
        Of the catalogue.
    form : str
        ``read`` calls tools alone that change nothing, by their annotations.
    token : str or None
        The bearer token that the caller came with, for servers that it is passed on to.
    key : str or None
        What the call is cancelled by; see `call_key`.
    seconds : float or None
        The most that is left of the request it is part of; None where it has no end of its own.
    origin : Origin
        The request it is part of.
    base_url : str or None
        Of this Skillroute as the caller names it, for links to its pages.
    """

    tool_id: int
    arguments: JsonObject
    form: Form = "any"
    token: str | None = field(default=None, repr=False)
    key: str | None = None
    seconds: float | None = None
    origin: Origin = field(default_factory=Origin)
    base_url: str | None = None


def failed(message: str) -> JsonObject:
    """Return the result of a call without an answer of its tool, with what the model is to know."""
    return {"content": [{"type": "text", "text": message}], "isError": True}
