"""The use cases over rules of access."""

from __future__ import annotations

from skillroute.access.explain import ExplainAccess
from skillroute.access.manage import ManageRules
from skillroute.wiring.parts import CoreParts


class RightsUseCases:
    """Rules are written, and explained."""

    def __init__(self, core: CoreParts) -> None:
        self.manage = ManageRules(core.database, lambda: core.rules_in_force.forget())
        self.explain = ExplainAccess(core.database)
