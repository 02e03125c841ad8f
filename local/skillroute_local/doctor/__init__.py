"""Finds problems in a catalogue: rules over its tools and skills, without input or output.

`examination` has the steps that read a catalogue and ask its searches; `diagnose` says what it finds.
"""

from __future__ import annotations

from skillroute_local.doctor.diagnose import RULES, diagnose
from skillroute_local.doctor.model import AgentSkill, Asked, Catalogue, Code, Finding, Skill, Tool
from skillroute_local.doctor.report import report_of

__all__ = ["RULES", "AgentSkill", "Asked", "Catalogue", "Code", "Finding", "Skill", "Tool", "diagnose", "report_of"]
