"""Definitions that changed since they were approved."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Unpack

from skillroute_client.calls import Call, many, path_of
from skillroute_client.engines import M
from skillroute_client.models.trust import ChangedDefinition, TrustDecision
from skillroute_client.operations import Resource, operation, paged
from skillroute_client.pages import Listing
from skillroute_client.resources.options import ListChanged


class Trust(Resource[M]):
    """Approving what servers say of their tools; it takes scope catalog."""

    @paged
    def changed(self, **where: Unpack[ListChanged]) -> Listing[ChangedDefinition]:
        """List the caller's own items whose definitions are not the approved ones, with the difference."""
        return Listing(path_of("trust", "changed"), ChangedDefinition, where)

    @operation
    def approve(self, ids: Sequence[int]) -> Call[list[TrustDecision]]:
        """Approve items as they are now."""
        path = path_of("trust", "approve")
        return Call(method="POST", path=path, body={"ids": ids}, read=many(TrustDecision))

    @operation
    def reject(self, ids: Sequence[int]) -> Call[list[TrustDecision]]:
        """Switch items off whose definitions changed."""
        path = path_of("trust", "reject")
        return Call(method="POST", path=path, body={"ids": ids}, read=many(TrustDecision))
