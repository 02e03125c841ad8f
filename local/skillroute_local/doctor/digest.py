"""The identity of a finding in a few characters: another one where the texts that it is about are others."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict

from skillroute_local.doctor.model import Catalogue, Finding


def digest_of(finding: Finding, catalogue: Catalogue) -> str:
    """Return the digest of a finding: its code, and the texts of the tools, skills and Agent Skills concerned.

    Which skills a tool is in, and how heavy the finding is, are no part of it.
    """
    skills = {skill.id: skill for skill in catalogue.skills if skill.id in finding.skills}
    agent_skills = {skill.path: skill for skill in catalogue.agent_skills if skill.path in finding.agent_skills}
    about = {
        "code": finding.code.value,
        "tools": [[tool.id, tool.server, tool.type, tool.name, tool.definition] for tool in finding.tools],
        "skills": [asdict(skills[id_]) if id_ in skills else id_ for id_ in finding.skills],
        "agent_skills": [asdict(agent_skills[path]) if path in agent_skills else path for path in finding.agent_skills],
    }
    text = json.dumps(about, sort_keys=True, ensure_ascii=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:32]
