"""Selects the part of the judged sets that neither training nor tuning saw; the rule is that of training/data.py."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from typing import Any

TRAINED_ON = frozenset({"tool-requests", "metatool", "bfcl", "sealtools"})
_SHARE = 0.12


def held_out_tools(name: str, tools: Iterable[Mapping[str, Any]]) -> set[str]:
    """Return the ids of a set's tools that were held out; queries for one of them were never seen."""
    return {tool["id"] for tool in tools if _is_held_out(f"{name}/{_group(name, tool)}")}


def _group(name: str, tool: Mapping[str, Any]) -> str:
    """Return what a tool is held out with: its server or its field, itself where it has none."""
    if name == "tool-requests":
        return str(tool.get("server") or tool["id"])
    return str(tool.get("category") or tool["id"]).partition("/")[0]


def _is_held_out(group: str) -> bool:
    return int.from_bytes(hashlib.sha256(group.encode()).digest()[:4]) / 2**32 < _SHARE
