"""Why one of many things failed, in answers whose status is that of the whole call."""

from __future__ import annotations

from pydantic import BaseModel, Field

from skillroute.core.errors.model import SkillrouteError
from skillroute.core.errors.public import public_sentence


class ItemError(BaseModel):
    """Why one of them failed."""

    code: str = Field(description="What programs go by: docs/api.md has the table.")
    detail: str

    @classmethod
    def of(cls, error: SkillrouteError) -> ItemError:
        """Return what the API says of an error."""
        return cls(code=error.code.value, detail=public_sentence(error))
