"""Answers about learning from use, as commands print them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from skillroute_local.commands.output import counted

if TYPE_CHECKING:
    from pydantic import BaseModel

    from skillroute_local.client import Client


def plain(answer: BaseModel) -> dict[str, Any]:
    """Return an answer as its JSON was."""
    return answer.model_dump(mode="json", by_alias=True, exclude_unset=True)


def page_of(client: Client, name: str, *of: int, **where: int) -> tuple[list[dict[str, Any]], int]:
    """Return a page of a list of use, and how many rows it has in all."""
    page = client.on("learning", lambda use: getattr(use, name)(*of, **where).first())
    return [plain(row) for row in page.items], page.total


def live_in_words(live: dict[str, Any] | None) -> str:
    """Return what searches go by, in words."""
    if live is None:
        return "no state is live"
    learned = f"{counted(live['requests'], 'request')} of {counted(live['tools'], 'tool')}"
    return f"state {live['id']} of {moment(live['made_at'])} is live: {learned}"


def moment(at: str) -> str:
    """Return a time of the API as people read it, in UTC."""
    return f"{at[:10]} {at[11:16]} UTC"
