"""Calls of tools, in this process or by the function that makes them."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from skillroute.core.settings import CallSettings

if TYPE_CHECKING:
    from skillroute.calling.call import CallTool
    from skillroute.calling.calls import Calls
    from skillroute.calling.in_flight import CallsInFlight
    from skillroute.calling.model import RemoteTools
    from skillroute.calling.seen import SeeServers
    from skillroute.core.outbound.credentials import Identities
    from skillroute.wiring.use_cases import Parts


class Calling:
    """Calls, each part made when the first one needs it."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._settings = parts.of(CallSettings)

    @cached_property
    def calls(self) -> Calls:
        """Makes calls for the agents' door."""
        if self._settings.call_function:
            from skillroute.calling.invocation import CallsOfFunction

            return CallsOfFunction(self._settings.call_function, self.in_flight, traces=self._parts.tracing.events)
        return self.here

    @cached_property
    def here(self) -> Calls:
        """Makes calls in this process."""
        from skillroute.calling.calls import CallsHere

        return CallsHere(self.call_tool, self.in_flight)

    @cached_property
    def in_flight(self) -> CallsInFlight:
        from skillroute.calling.in_flight import CallsInFlight

        return CallsInFlight(self._parts.database, self._settings.call_in_flight)

    @cached_property
    def call_tool(self) -> CallTool:
        from skillroute.calling.call import CallTool
        from skillroute.calling.model import Limits
        from skillroute.calling.servers import CallableServers

        settings = self._settings
        database, tracing = self._parts.database, self._parts.tracing
        return CallTool(
            database,
            self._parts.rules_in_force.read,
            CallableServers(database),
            self.identities,
            self.remote,
            self.in_flight,
            Limits(settings.call_timeout_s, settings.call_answer_bytes),
            tracing.events,
            tracing.spans,
        )

    @cached_property
    def see_servers(self) -> SeeServers:
        from skillroute.calling.model import Limits
        from skillroute.calling.seen import SeeServers
        from skillroute.core.settings import TrustSettings

        settings, catalogue = self._settings, self._parts.catalogue
        limits = Limits(settings.call_timeout_s, settings.call_answer_bytes)
        every_h = self._parts.of(TrustSettings).see_servers_every_h
        database, identities = self._parts.database, self.identities
        return SeeServers(database, catalogue.sync, catalogue.switch, identities, self.remote, limits, every_h)

    @cached_property
    def remote(self) -> RemoteTools:
        from skillroute.calling.remote import GuardedTools

        return GuardedTools(self._parts.host_rules)

    @cached_property
    def identities(self) -> Identities:
        return self._parts.identities
