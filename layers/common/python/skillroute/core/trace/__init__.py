"""The trace: searches, calls, refusals and changes as structured events (docs/trace.md)."""
