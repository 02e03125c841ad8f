"""Sets for training/classification.py that show what is assigned where no skill may fit.

- servers: 24 subjects of public servers (Docker's catalogue and LiveMCPBench's) are skills, described as their server
  is; half of a server's tools are known of it, the other half are classified, without the server's name.
- strangers: tools of those fields of Seal-Tools that none of the example skills is about, against these skills.
- companies: made-up companies of 40 tools each (``companies/``) with the example skills that would be right, or none,
  written before anything was measured on them. Constants are never fitted on these.
"""

from __future__ import annotations

import json
import random
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from classification_sets import Measure, Measurements, centroid, field_tools, profiles, skill
from skillroute.core.embedding.port import Embedder
from skillroute.skills.classification.model import SkillProfile, ToolProfile
from skillroute_local.proposing.words import ToolText, keywords_of

from benchmarks.corpora.judged import load
from benchmarks.harness import ROOT

COMPANIES = ("logistics", "hospital", "university", "city")

_STRANGERS = 500
_MAX_PER_SERVER = 30
_FIELDS_WITHOUT_SKILL = """
Library Science, Agriculture, Forestry, Veterinary Science, Dentistry, Religious Studies, Philosophy, Ethics, \
Chemistry, Physics, Astronomy, Mechanical Engineering, Construction, Fashion, Dance, Political Science, \
Criminal Justice, Insurance, Geology, Anthropology, Nursing, Genetics, Biology, Microbiology, Zoology, Manufacturing, \
Interior Design, Law, Social Work, Gender Studies, Oceanography, Aerospace Engineering, Chemical Engineering, \
Electrical Engineering, Education, Retail, Supply Chain, Gaming, Sociology
"""
# Servers of one line are about the same: they never meet in a list.
_SUBJECTS = """
alfresco | Office-Word-MCP-Server | Simple Document Processing MCP Server
Office-PowerPoint-MCP-Server | MCP OKPPT Server
cylera-mcp-server | vectra-ai-rux-mcp-server | zscaler-mcp-server
simplechecklist | MCP TaskManager
notion-remote | Basic Memory | Knowledge Graph Memory Server
zerodha-kite | MCP Yahoo Finance | investor-agent: A Financial Analysis MCP Server | Web3 Research MCP
Trends Hub | Hacker News MCP Server
buildkite | sonarqube | mcp-server-git: A git MCP server | NPM Sentinel MCP
keboola-mcp | sqlite-mcp-server | MCP Server Chart
explorium
kubectl-mcp-server
maestro-mcp-server
okta-mcp-server
stripe-remote
webflow-remote
Playwright MCP Server
OP.GG MCP Server
Desktop Commander MCP
BioMCP: Biomedical Model Context Protocol
OpenStreetMap (OSM) MCP Server
Wikipedia MCP Server
magicuidesign_mcp
12306-mcp
MCP Music Analysis
"""
_SUBJECT_OF = {server: str(n) for n, line in enumerate(_SUBJECTS.strip().splitlines()) for server in line.split(" | ")}


def example_skills(embedder: Embedder) -> list[SkillProfile]:
    """Return the examples' skills with the centroids of all their tools."""
    judged = load("examples", ROOT)
    vectors = dict(
        zip(judged.tools, (np.array(tool.embedding) for tool in profiles(judged.tools, embedder)), strict=True)
    )
    return [
        replace(
            skill(s.name, s.description, s.keywords, s.examples, s.id),
            centroid=centroid(
                np.sum(
                    [
                        given.confidence * vectors[key]
                        for key, assigned in judged.assignments.items()
                        for given in assigned
                        if given.skill_id == s.id
                    ],
                    axis=0,
                )
            ),
        )
        for s in judged.skills
    ]


def company_measurements(skills: Sequence[SkillProfile], embedder: Embedder) -> Mapping[str, Measurements]:
    """Measure each company's tools against the example skills."""
    found = {}
    for name in COMPANIES:
        lines = _lines(Path(__file__).with_name("companies") / f"{name}.jsonl")
        tools = profiles(
            {
                f"{line['server']}/{line['name']}": {k: line[k] for k in ("server", "name", "description")}
                for line in lines
            },
            embedder,
        )
        belongs = np.array([[float(skill.id in line["skills"]) for skill in skills] for line in lines])
        found[name] = _of(tools, skills, belongs, embedder)
    return found


def stranger_measurements(data: Path, skills: Sequence[SkillProfile], embedder: Embedder) -> Measurements:
    """Measure tools of fields that no example skill is about."""
    tools, tops, _ = field_tools(data, embedder)
    fields = set(_FIELDS_WITHOUT_SKILL.strip().split(", "))
    of_fields = [tool for tool, top in zip(tools, tops, strict=True) if top in fields]
    drawn = random.Random(3).sample(of_fields, _STRANGERS)
    return _of(drawn, skills, np.zeros((len(drawn), len(skills))), embedder)


def _of(
    tools: Sequence[ToolProfile], skills: Sequence[SkillProfile], belongs: np.ndarray, embedder: Embedder
) -> Measurements:
    features = Measure(embedder)(tools, skills)
    return Measurements(
        features, belongs, [tool.server for tool in tools], [skill.id for skill in skills], as_it_is=True
    )


def server_measurements(data: Path, embedder: Embedder) -> Measurements:
    """Measure half of the tools of public servers against skills made of the other half."""
    described: dict[str, str] = {}
    by_server: dict[str, list[ToolProfile]] = {server: [] for server in _SUBJECT_OF}
    for folder in ("docker-mcp-catalog", "livemcp-catalog"):
        for line in _lines(data / folder / "servers.jsonl"):
            described |= dict.fromkeys((line["name"], line["path"].strip("/")), line["description"])
        lines = [line for line in _lines(data / folder / "tools.jsonl") if line["server"] in by_server]
        wanted = ("server", "name", "description", "input_schema")
        tools = {f"{line['server']}/{line['name']}": {k: line[k] for k in wanted if line.get(k)} for line in lines}
        for tool in profiles(tools, embedder):
            by_server[tool.server].append(tool)
    rng = random.Random(2)
    drawn = {server: rng.sample(tools, min(len(tools), _MAX_PER_SERVER)) for server, tools in by_server.items()}
    known = {server: tools[::2] for server, tools in drawn.items()}
    asked = [tool for tools in drawn.values() for tool in tools[1::2]]
    keywords = keywords_of(
        [[ToolText(tool.name, tool.description, server) for tool in tools] for server, tools in known.items()]
    )
    skills = [
        _server_skill(server, described.get(server, ""), terms, known[server])
        for server, terms in zip(known, keywords, strict=True)
    ]
    features = Measure(embedder)([replace(tool, server="") for tool in asked], skills)
    belongs = np.array([[float(tool.server == server) for server in known] for tool in asked])
    return Measurements(
        features, belongs, [_SUBJECT_OF[tool.server] for tool in asked], [_SUBJECT_OF[server] for server in known]
    )


def _server_skill(server: str, described: str, keywords: Sequence[str], known: Sequence[ToolProfile]) -> SkillProfile:
    name = server.replace("-mcp-server", "").replace(" MCP Server", "").replace("-remote", "")
    description = (described or ", ".join(keywords[:5]))[:600]
    made = skill(name, description, keywords, [tool.name for tool in known[:6]], server)
    return replace(made, centroid=centroid(np.sum([tool.embedding for tool in known], axis=0)))


def _lines(file: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in file.read_text("utf-8").splitlines()]
