"""The bodies and answers of switching one item, and of deleting many."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Literal

from pydantic import AliasChoices, BaseModel, ConfigDict, Field, model_validator

from skillroute.catalogue.delete_many import Deleted
from skillroute.catalogue.model import ItemType
from skillroute.catalogue.sync import MAX_ITEMS
from skillroute.core.http.item_errors import ItemError
from skillroute.core.input.known_fields import OneNameEach
from skillroute.core.input.text_fields import Text


class ItemPatch(BaseModel):
    """The fields of an item that are to change. What it says is written with `PUT`."""

    model_config = ConfigDict(extra="forbid", strict=True)

    is_active: bool | None = Field(None, description="Whether searches find it; null or left out, nothing changes.")


class DeleteRequest(OneNameEach):
    """Which items to delete: some by their ids, or all of a server."""

    model_config = ConfigDict(extra="forbid", strict=True)

    ids: list[Annotated[int, Field(ge=1, le=2**63 - 1)]] | None = Field(None, min_length=1, max_length=MAX_ITEMS)
    server: Annotated[Text, Field(min_length=1, max_length=256)] | None = Field(
        None, description="Deletes all items of the caller's own that name it; the server itself stays."
    )
    type: ItemType | None = Field(
        None,
        validation_alias=AliasChoices("type", "item_type"),
        description="With `server`: only its tools, prompts or resources.",
    )

    @model_validator(mode="after")
    def _fits_together(self) -> DeleteRequest:
        if (self.ids is None) == (self.server is None):
            raise ValueError("needs either ids or server")
        if self.type is not None and self.server is None:
            raise ValueError("type is allowed with server only")
        return self


class DeleteResult(BaseModel):
    """The result of one item."""

    index: int = Field(description="The place of its id in the request, from 0; of a server its place by id.")
    id: int
    status: Literal["deleted", "failed"]
    server: str | None
    type: ItemType | None
    name: str | None
    error: ItemError | None

    @classmethod
    def of(cls, index: int, outcome: Deleted) -> DeleteResult:
        """Return what the API says of an outcome."""
        key = outcome.item.key if outcome.item else None
        return cls(
            index=index,
            id=outcome.id,
            status="failed" if outcome.error else "deleted",
            server=(key.server or None) if key else None,
            type=key.type if key else None,
            name=key.name if key else None,
            error=ItemError.of(outcome.error) if outcome.error else None,
        )


class DeleteResponse(BaseModel):
    """The results of all items, in the order of the request; of a server by id."""

    deleted: int
    failed: int
    more: bool = Field(description="Whether the server has more items, which another call deletes.")
    results: list[DeleteResult]

    @classmethod
    def of(cls, outcomes: Sequence[Deleted], *, more: bool = False) -> DeleteResponse:
        """Return what the API says of all outcomes."""
        results = [DeleteResult.of(index, outcome) for index, outcome in enumerate(outcomes)]
        failed = sum(result.status == "failed" for result in results)
        return cls(deleted=len(results) - failed, failed=failed, more=more, results=results)
