"""Settings of calls to servers."""

from __future__ import annotations

from pydantic import Field

from skillroute.core.settings.base import Settings


class CallSettings(Settings):
    """Which servers may be called, and how much a call may take."""

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
    call_timeout_s: float = Field(20.0, gt=0, le=900, description="The most that a call of a tool may take.")
    call_answer_bytes: int = Field(
        4_000_000, ge=1_000, le=5_000_000, description="The largest answer of a tool that is passed on."
    )
    call_in_flight: int = Field(
        20, ge=1, le=1000, description="Calls of one organisation that may be under way at once."
    )
