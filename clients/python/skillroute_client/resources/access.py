"""Rules of access."""

from __future__ import annotations

from typing import Any

from skillroute_client.calls import Call, many, nothing, one, path_of
from skillroute_client.engines import M
from skillroute_client.models.access import AccessExplained, AccessRule, AccessRuleWritten
from skillroute_client.operations import Resource, operation
from skillroute_client.retrying import Repeat


class Access(Resource[M]):
    """Rules of who finds and calls what; they take scope admin."""

    @operation
    def rules(self) -> Call[list[AccessRule]]:
        """List the rules that apply to the caller's organisation: its own, and the deployment's."""
        return Call(method="GET", path=path_of("access", "rules"), read=many(AccessRule))

    @operation
    def get(self, rule_id: int) -> Call[AccessRule]:
        """Return a rule."""
        return Call(method="GET", path=path_of("access", "rules", rule_id), read=one(AccessRule))

    @operation
    def create(self, rule: Any) -> Call[AccessRuleWritten]:
        """Create a rule: `name`, `effect`, and what it is about."""
        path = path_of("access", "rules")
        return Call(method="POST", path=path, body=rule, read=one(AccessRuleWritten), repeat=Repeat.IF_REFUSED)

    @operation
    def replace(self, rule_id: int, rule: Any) -> Call[AccessRuleWritten]:
        """Write a rule over another."""
        return Call(method="PUT", path=path_of("access", "rules", rule_id), body=rule, read=one(AccessRuleWritten))

    @operation
    def delete(self, rule_id: int) -> Call[None]:
        """Delete a rule."""
        return Call(method="DELETE", path=path_of("access", "rules", rule_id), read=nothing)

    @operation
    def explain(self, asked: Any) -> Call[AccessExplained]:
        """Return what rules say of a caller with `roles` and `groups`, and of one `tool`, `server` or `skill`."""
        return Call(method="POST", path=path_of("access", "explain"), body=asked, read=one(AccessExplained))
