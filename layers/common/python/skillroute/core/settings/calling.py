"""Settings of calls to servers."""

from __future__ import annotations

from typing import Literal, Self

from pydantic import Field, model_validator

from skillroute.core.settings.base import Settings

Offered = Literal["off", "one", "split", "both"]

OFFERED: dict[Offered, tuple[str, ...]] = {
    "off": (),
    "one": ("call_tool",),
    "split": ("call_tool_read", "call_tool_write"),
    "both": ("call_tool", "call_tool_read", "call_tool_write"),
}
"""The tools that agents are offered to call others by."""


class OutboundSettings(Settings):
    """Which hosts that others run may be reached."""

    call_hosts: str = Field(
        "",
        description="Hosts whose tools may be called, comma-separated: names, or *.example.com for all below one; "
        "empty: all whose addresses are public.",
    )
    call_private_hosts: str = Field(
        "",
        description="Hosts that may have private addresses, comma-separated, with a port where only that is meant; "
        "http://localhost:8080 may be reached without TLS. Addresses of links and of metadata services never.",
    )

    @model_validator(mode="after")
    def _hosts_are_hosts(self) -> Self:
        if self.call_hosts or self.call_private_hosts:
            from skillroute.core.outbound.hosts import HostRules  # noqa: PLC0415 (few processes have any)

            HostRules.of(self)
        return self


class CallSettings(OutboundSettings):
    """How tools are called, and how much a call may take."""

    calls: Offered = Field(
        "off",
        description="Whether agents may have tools called through /mcp, and how they are offered: call_tool (one), "
        "call_tool_read and call_tool_write (split), or all three (both).",
    )
    call_function: str | None = Field(
        None, description="On Lambda, the function that makes calls; elsewhere this process makes them."
    )
    call_timeout_s: float = Field(20.0, gt=0, le=900, description="The most that a call of a tool may take.")
    call_answer_bytes: int = Field(
        4_000_000, ge=1_000, le=5_000_000, description="The largest answer of a tool that is passed on."
    )
    call_in_flight: int = Field(
        20, ge=1, le=1000, description="Calls of one organisation that may be under way at once."
    )
