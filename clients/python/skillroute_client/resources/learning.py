"""Use, as people look at it."""

from __future__ import annotations

from typing import Unpack

from skillroute_client.calls import Call, one, path_of
from skillroute_client.engines import M
from skillroute_client.models.learning import (
    DeletedReceipts,
    ForgottenTool,
    JudgedRequest,
    LearnedRequest,
    LearningStatus,
    Receipt,
    Unserved,
)
from skillroute_client.operations import Resource, operation, paged
from skillroute_client.pages import Listing
from skillroute_client.resources.options import ListReceipts, ListUse, PageOptions


class Learning(Resource[M]):
    """Requests that found nothing, judged requests and receipts of the caller's organisation."""

    @paged
    def unserved(self, **where: Unpack[ListUse]) -> Listing[Unserved]:
        """List the requests that found nothing that fits, those of one meaning together, the most frequent first."""
        return Listing(path_of("learning", "unserved"), Unserved, where)

    @paged
    def judged(self, **where: Unpack[ListUse]) -> Listing[JudgedRequest]:
        """List requests with the tools that were called for them, for evaluations."""
        return Listing(path_of("learning", "judged"), JudgedRequest, where)

    @paged
    def receipts(self, **where: Unpack[ListReceipts]) -> Listing[Receipt]:
        """List receipts with their outcomes, of all callers or of one, the oldest first."""
        return Listing(path_of("learning", "receipts"), Receipt, where)

    @operation
    def delete_receipts(self, caller: str) -> Call[DeletedReceipts]:
        """Delete all receipts and outcomes of a caller, by the name that its token has (`sub`).

        Learned requests of one caller alone go too; they do not say whose they are.
        Where an attempt is made again, the counts are of what the last one found.
        """
        path = path_of("learning", "receipts")
        return Call(method="DELETE", path=path, params={"caller": caller}, read=one(DeletedReceipts))

    @operation
    def forget(self, tool_id: int) -> Call[ForgottenTool]:
        """Forget what was learned of a tool, and the outcomes of its calls."""
        return Call(method="DELETE", path=path_of("learning", "tools", tool_id), read=one(ForgottenTool))

    @operation
    def status(self) -> Call[LearningStatus]:
        """Return what is kept of use, and the states that were learned of it."""
        return Call(method="GET", path=path_of("learning"), read=one(LearningStatus))

    @paged
    def requests_of(self, state_id: int, **page: Unpack[PageOptions]) -> Listing[LearnedRequest]:
        """List what a state has learned, tool by tool."""
        return Listing(path_of("learning", "states", state_id, "tools"), LearnedRequest, page)

    @operation
    def switch(self, state_id: int | None) -> Call[LearningStatus]:
        """Make a state live, also an earlier one, and keep it so; with None what was learned is switched off."""
        path = path_of("learning", "live")
        return Call(method="PUT", path=path, body={"state_id": state_id}, read=one(LearningStatus))

    @operation
    def go_on(self) -> Call[LearningStatus]:
        """Let states that are measured to be better go live by themselves again."""
        path = path_of("learning", "live")
        return Call(method="PUT", path=path, body={"is_automatic": True}, read=one(LearningStatus))
