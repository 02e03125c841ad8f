"""Spans of OpenTelemetry: one for a request, and one below it for a call of a tool. Imported only where they are on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING

from opentelemetry import context as contexts
from opentelemetry import trace
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from skillroute import __version__
from skillroute.core.errors.model import ConfigurationError
from skillroute.core.trace.model import TraceEvent, roles_of

if TYPE_CHECKING:
    from opentelemetry.context import Context
    from opentelemetry.trace import Span, TracerProvider

_NO_SDK = (
    "SKILLROUTE_OTEL is true, and there is no SDK of OpenTelemetry: install skillroute[otel], or give the function a "
    "layer that has one (AdotLayerArn)"
)
_SUPPRESSED = frozenset(
    {"suppress_instrumentation", "suppress_http_instrumentation"}
    | {
        getattr(contexts, name)
        for name in ("_SUPPRESS_INSTRUMENTATION_KEY", "_SUPPRESS_HTTP_INSTRUMENTATION_KEY")
        if hasattr(contexts, name)
    }
)
"""Keys that hold instrumentation of HTTP clients back: it would send ids to other servers."""


class Spans:
    """Makes spans.

    Parameters
    ----------
    provider : TracerProvider, optional
        None takes that of the process: the one that a layer of Lambda has set up, or else one that sends where the
        standard variables say (OTEL_EXPORTER_OTLP_ENDPOINT, OTEL_SERVICE_NAME and others).

    Raises
    ------
    ConfigurationError
        There is no SDK.
    """

    def __init__(self, provider: TracerProvider | None = None) -> None:
        self._tracer = trace.get_tracer("skillroute", __version__, _provider() if provider is None else provider)
        self._propagator = TraceContextTextMapPropagator()

    @contextmanager
    def request(self, method: str, traceparent: str | None) -> Iterator[Span]:
        """Make a span of a block that answers a request; it is part of the trace that the request names, if any."""
        # Without the texts of exceptions, which may have what callers sent.
        with self._tracer.start_as_current_span(
            method, self._parent(traceparent), trace.SpanKind.SERVER,
            record_exception=False, set_status_on_exception=False,
        ) as span:  # fmt: skip
            yield span

    @contextmanager
    def call(self, traceparent: str | None) -> Iterator[Span]:
        """Make a span of a block that calls a tool; no server is sent its id."""
        with self._tracer.start_as_current_span(
            "call", self._parent(traceparent), trace.SpanKind.CLIENT,
            record_exception=False, set_status_on_exception=False,
        ) as span:  # fmt: skip
            quiet = contexts.get_current()
            for key in _SUPPRESSED:
                quiet = contexts.set_value(key, True, quiet)
            token = contexts.attach(quiet)
            try:
                yield span
            finally:
                contexts.detach(token)

    @staticmethod
    def ids_of(span: Span) -> tuple[str, str] | None:
        """Return the id of a span's trace, and the header that names the span; None where it has none."""
        found = span.get_span_context()
        if not found.is_valid:
            return None
        trace_id = trace.format_trace_id(found.trace_id)
        return trace_id, f"00-{trace_id}-{trace.format_span_id(found.span_id)}-{found.trace_flags:02x}"

    @staticmethod
    def describe(span: Span, event: TraceEvent | None, more: Mapping[str, str | int]) -> None:
        """Give a span the attributes of an event, and others."""
        span.set_attributes(dict(more))
        if event is None:
            return
        caller = event.caller
        given = {
            "skillroute.kind": event.kind,
            "skillroute.outcome": event.outcome,
            "skillroute.code": event.code,
            "skillroute.door": event.door,
            "skillroute.what": event.what,
            "skillroute.organisation": caller.org_id,
            "skillroute.actor": caller.name,
            "skillroute.agent": caller.agent,
            "skillroute.request_id": event.request_id,
            "skillroute.search_id": None if event.search_id is None else str(event.search_id),
            "skillroute.bytes_in": event.bytes_in,
            "skillroute.bytes_out": event.bytes_out,
            **{f"skillroute.target.{kind}": id_ for kind, id_ in event.targets.items()},
        }
        span.set_attributes({name: value for name, value in given.items() if value is not None})
        span.set_attribute("skillroute.roles", roles_of(caller))
        if event.outcome == "failed":
            span.set_status(trace.StatusCode.ERROR)

    def _parent(self, traceparent: str | None) -> Context | None:
        return None if traceparent is None else self._propagator.extract({"traceparent": traceparent})


def _provider() -> TracerProvider:
    """Return what makes tracers in this process."""
    found = trace.get_tracer_provider()
    if not isinstance(found, trace.ProxyTracerProvider):
        return found
    try:
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter  # noqa: PLC0415
        from opentelemetry.sdk.resources import SERVICE_NAME, OTELResourceDetector, Resource  # noqa: PLC0415
        from opentelemetry.sdk.trace import TracerProvider as SdkTracerProvider  # noqa: PLC0415
        from opentelemetry.sdk.trace.export import BatchSpanProcessor  # noqa: PLC0415
    except ImportError:
        raise ConfigurationError(_NO_SDK) from None
    named = OTELResourceDetector().detect()
    made = SdkTracerProvider(resource=Resource.create({SERVICE_NAME: "skillroute", **named.attributes}))
    made.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    trace.set_tracer_provider(made)
    return made
