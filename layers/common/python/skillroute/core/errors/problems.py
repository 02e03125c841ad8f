"""Problems with fields of what a caller sent."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class FieldProblem:
    """One thing that is wrong with what the caller sent, or questionable.

    Attributes
    ----------
    field : str
        Dotted, as the caller knows it: ``items.3.input_schema``.
    message : str
        What is wrong with it, and what is allowed.
    type : str
        What programs go by; pydantic's types of errors are among them.
    """

    field: str
    message: str
    type: str = "value_error"
