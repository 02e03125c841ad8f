"""Definitions that changed since they were approved."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
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
    def approve(self, ids: Sequence[int], *, seen: Mapping[int, datetime] | None = None) -> Call[list[TrustDecision]]:
        """Approve items as they are now; with `seen`, `changed_at` by id, only those that did not change since."""
        return _decision("approve", ids, seen)

    @operation
    def reject(self, ids: Sequence[int], *, seen: Mapping[int, datetime] | None = None) -> Call[list[TrustDecision]]:
        """Switch items off whose definitions changed; with `seen` as in `approve`."""
        return _decision("reject", ids, seen)


def _decision(what: str, ids: Sequence[int], seen: Mapping[int, datetime] | None) -> Call[list[TrustDecision]]:
    body: dict[str, object] = {"ids": ids}
    if seen is not None:
        body["seen"] = {str(id_): at.isoformat() for id_, at in seen.items()}
    return Call(method="POST", path=path_of("trust", what), body=body, read=many(TrustDecision))
