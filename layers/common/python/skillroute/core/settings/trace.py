"""Settings of the trace."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from skillroute.core.settings.base import Settings


class TraceSettings(Settings):
    """Events that are kept of requests, and whether they are spans of OpenTelemetry."""

    trace: Literal["on", "changes", "off"] = Field(
        "on",
        description="Which events are kept (docs/trace.md): searches, calls, refusals and changes; all but searches "
        "(changes); or none.",
    )
    trace_days: int = Field(90, ge=1, le=3650, description="How long events of the trace are kept.")
    trace_arguments: bool = Field(
        False, description="Whether events of calls have the arguments, with what looks like a secret taken out."
    )
    otel: bool = Field(
        False,
        description="Whether each request is a span of OpenTelemetry, sent where the standard variables "
        "(OTEL_EXPORTER_OTLP_ENDPOINT and others) say; needs the extra `otel`, on Lambda a layer with an SDK.",
    )
