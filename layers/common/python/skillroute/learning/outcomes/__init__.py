"""Outcomes: what callers report of the tools that a search showed them (docs/learning.md)."""
