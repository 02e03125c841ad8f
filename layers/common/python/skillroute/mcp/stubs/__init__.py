"""Tools as typed functions, for hosts that run code in the place of calls."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Literal

Language = Literal["typescript", "python"]

WriteStub = Callable[[str, str, Mapping[str, Any] | None, Mapping[str, Any] | None], str]
"""Returns the function of a tool with a name, a description, and schemas of its arguments and its result."""


def stub_writer(language: Language) -> WriteStub:
    """Return what writes the stubs of one answer: names are not given twice."""
    if language == "python":
        from skillroute.mcp.stubs import python  # noqa: PLC0415 - few answers have stubs

        return partial(python.stub, names=python.new_names())
    from skillroute.mcp.stubs import typescript  # noqa: PLC0415

    return partial(typescript.stub, names=typescript.new_names())
