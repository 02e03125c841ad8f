"""The reranker, which every search shares."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from skillroute.core.settings import RerankSettings
from skillroute.wiring.parts import CoreParts
from skillroute.wiring.providers import make_reranker

if TYPE_CHECKING:
    from skillroute.core.reranking.port import Reranker


class RerankParts(CoreParts):
    """The reranker of the best results, as configured."""

    @cached_property
    def reranker(self) -> Reranker | None:
        return make_reranker(self.of(RerankSettings))
