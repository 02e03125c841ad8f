"""Findings for programs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from skillroute_local.doctor.model import Catalogue, Code, Finding, Tool


def counts_of(findings: Sequence[Finding]) -> dict[Code, int]:
    """Return how many findings there are of every code, zeros included."""
    counted = Counter(found.code for found in findings)
    return {code: counted[code] for code in Code}


def report_of(
    catalogue: Catalogue, findings: Sequence[Finding], not_asked: Mapping[int, str] | None = None
) -> dict[str, Any]:
    """Return findings as JSON has them; `docs/doctor.md` describes the shape.

    Parameters
    ----------
    not_asked : mapping of int to str
        Why searches could not be asked, by the ids of tools.
    """
    tools = {tool.id: tool for tool in catalogue.tools}
    return {
        "checked": {
            "tools": len(catalogue.tools),
            "skills": len(catalogue.skills),
            "agent_skills": len(catalogue.agent_skills),
            "searches": len(catalogue.asked),
        },
        "counts": {code.value: number for code, number in counts_of(findings).items()},
        "findings": [_shown(found) for found in findings],
        "not_asked": [
            {**_named(tools[id_]), "reason": reason}
            for id_, reason in sorted((not_asked or {}).items())
            if id_ in tools
        ],
    }


def _shown(found: Finding) -> dict[str, Any]:
    return {
        "code": found.code.value,
        "weight": found.weight,
        "reason": found.reason,
        "help": found.help,
        "tools": [_named(tool) for tool in found.tools],
        "skills": list(found.skills),
        "agent_skills": list(found.agent_skills),
    }


def _named(tool: Tool) -> dict[str, Any]:
    return {"tool_id": tool.id, "server": tool.server or None, "type": tool.type, "name": tool.name}
