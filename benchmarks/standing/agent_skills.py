"""Recall@5 of searching the bodies of Agent Skills, against searching names and descriptions alone.

The skills are those that ten packages of PyPI and npm ship, read with the importer's own code; their texts stay in the
cache folder and are no part of this project. Each request of `agent_skill_requests.tsv` is for the skill named before
it: written by an AI model from a passage of the skill's body, as a user would ask, without looking for words of the
description. It is served where a skill of that name is among the first five.

- default: names, descriptions and bodies, as the route searches. description: names and descriptions alone, and body.
- words N: the share of words in the default is N instead of 0.4. two: the mean of the cosines of a skill's two nearest
  pieces in place of the nearest one's. lift: 0.05 more for the piece with the description.

Differences are of pairs, with a 95 % interval of the means of 2,000 resamples of the requests.

    python -m benchmarks.standing.agent_skills --cache DIR --json results/agent_skills.json
"""

from __future__ import annotations

import hashlib
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from skillroute.agent_skills.collection import AGENT_SKILL_DOCUMENTS
from skillroute.agent_skills.model import AgentSkillFilter
from skillroute.agent_skills.search.model import AgentSkillSearchRequest, AgentSkillSearchResponse, Part
from skillroute.core.caller import LAPTOP
from skillroute.core.documents.model import IndexFilter
from skillroute.core.listing import Order
from skillroute.core.ranking.intervals import difference
from skillroute.core.settings import SearchSettings
from skillroute.wiring import Parts
from skillroute_local.importing.agent_skills import read_folder
from skillroute_local.importing.content import content_of
from skillroute_local.importing.model import Choices

from benchmarks.harness import STANDING, arguments, console, fresh_database, print_table, progress, save

PYPI = (
    "adclaw==1.0.33",
    "agent-skills-bundle==0.1.0",
    "arc-free-skills==1.0.0",
    "auditoria-skills-mcp==2.2.5",
    "skillforge-agent==1.0.1",
)
NPM = (
    "ai-labs-claude-skills@2.0.1",
    "@longtq2501/next-spring-skills@1.6.3",
    "@n8n-as-code/skills@2.3.0-next.150",
    "@plaited/development-skills@0.8.1",
    "@wednesday-solutions-eng/ai-agent-skills@1.1.0",
)
"""Packages that allow it by their licences: MIT, Apache-2.0, ISC, CC BY-SA 4.0."""

_NOT_SKILLS = re.compile(r"(system|tool|agent-prompt|data|skill|output)-")
"""Of skillforge-agent: prompts of a product that are no skills of their own."""

_FIRST = 5
_MANY = 4_000  # pieces: more than there are of those near to a request
_SHARES = (0.0, 0.2, 0.3, 0.4, 0.5, 0.7, 1.0)
_LIFT = 0.05

Found = dict[str, list[list[str]]]
"""The names of the skills that each way finds for each request, the best first."""


def fetch(cache: Path) -> list[Path]:
    """Download the packages that are not there yet, and return their files. Nothing of them is run."""
    cache.mkdir(parents=True, exist_ok=True)
    if not any(cache.iterdir()):
        pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary", ":all:"]
        subprocess.run([*pip, "--dest", str(cache), *PYPI], check=True)
        subprocess.run(["npm", "pack", "--silent", "--ignore-scripts", *NPM], cwd=cache, check=True)
    return sorted(file for file in cache.iterdir() if file.suffix in {".whl", ".tgz"})


def skills_of(files: list[Path]) -> Iterator[dict[str, Any]]:
    """Yield the skills of packages as the route takes them, each text once."""
    seen: set[str] = set()
    for file in files:
        package = re.split(r"-\d", file.name)[0]
        reading = read_folder(content_of(file), Choices(server=package), lambda *said: None)
        for row in reading.rows:
            name = row.value["path"].rpartition("/")[2]
            text = row.value["files"][0].get("text") or row.value["files"][0]["base64"]
            digest = hashlib.sha256(text.encode()).hexdigest()
            if digest in seen or (package.startswith("skillforge") and _NOT_SKILLS.match(name)):
                continue
            seen.add(digest)
            yield {**row.value, "files": row.value["files"][:1]}


@contextmanager
def imported(files: list[Path]) -> Iterator[tuple[Parts, int]]:
    """Write the skills into a fresh database, and yield what searches them, and how many they are."""
    with fresh_database() as url:
        parts = Parts(SearchSettings(database_url=url))
        try:
            count = 0
            with progress() as bar:
                skills = list(skills_of(files))
                for start in bar.track(range(0, len(skills), 25), description="writing"):
                    report = parts.agent_skills.sync(skills[start : start + 25], LAPTOP)
                    count += sum(outcome.status != "failed" for outcome in report.outcomes)
            with parts.replica.current():
                pass  # a search would wait for the first index no longer than a setting says
            yield parts, count
        finally:
            parts.close()


def requests() -> list[tuple[str, str]]:
    """Return the names of skills with the requests for them."""
    lines = (STANDING / "agent_skill_requests.tsv").read_text(encoding="utf-8").splitlines()
    return [(name, text) for name, _, text in (line.partition("\t") for line in lines)]


def searched(parts: Parts, queries: list[str]) -> Found:
    """Return what the search finds in all parts of skills, and in each of them alone."""
    ways: Mapping[str, list[Part] | None] = {"default": None, "description": ["description"], "body": ["body"]}
    found: Found = {}
    for way, some in ways.items():
        answers = (
            parts.agent_skill_search(AgentSkillSearchRequest(query=query, limit=_FIRST), LAPTOP, parts=some)
            for query in queries
        )
        found[way] = [_names(answer) for answer in answers]
    return found


def _names(answer: AgentSkillSearchResponse) -> list[str]:
    if answer.search_mode != "hybrid":
        raise RuntimeError(f"searched {answer.search_mode}: {answer.metadata.degraded}")
    return [skill.name for skill in answer.agent_skills]


def reckoned(parts: Parts, queries: list[str]) -> Found:
    """Return what other ways of counting the same pieces would find."""
    stored = parts.agent_skills.read.listed(AgentSkillFilter(), LAPTOP, Order("path"), limit=_MANY, offset=0).rows
    name_of = {skill.id: skill.name for skill in stored}
    found: Found = {}
    for query in queries:
        with parts.replica.current() as index:
            vector = parts.query_embedder.embed(query, index.model)
            where = IndexFilter()
            cosines = dict(index.search(AGENT_SKILL_DOCUMENTS, vector, where=where, limit=_MANY))
            words = dict(index.search_text(AGENT_SKILL_DOCUMENTS, query, where=where, limit=_MANY))
            payloads = index.payloads(AGENT_SKILL_DOCUMENTS, sorted({*cosines, *words}))
        most = max(words.values(), default=1.0)
        of: dict[int, tuple[list[float], list[float], list[float]]] = {}
        for key, payload in payloads.items():
            near, lifted, worded = of.setdefault(int(payload["agent_skill_id"]), ([], [], []))
            cosine = max(cosines.get(key, 0.0), 0.0)
            near.append(cosine)
            lifted.append(cosine + (_LIFT if payload["part"] == "description" else 0.0))
            worded.append(words.get(key, 0.0) / most)
        for way, score in _ways().items():
            best = sorted(of, key=lambda skill: -score(*of[skill]))
            found.setdefault(way, []).append([name_of[skill] for skill in best[:_FIRST]])
    return found


def _ways() -> dict[str, Any]:
    def of_share(share: float) -> Any:
        return lambda near, lifted, worded: max(near) + share * max(worded)

    return {
        **{f"words {share:g}": of_share(share) for share in _SHARES},
        "two": lambda near, lifted, worded: sum(sorted(near)[-2:]) / len(near[:2]) + 0.4 * max(worded),
        "lift": lambda near, lifted, worded: max(lifted) + 0.4 * max(worded),
    }


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--cache", type=Path, help="the packages are kept here (default: a temporary folder)")
    args = parser.parse_args()
    judged = requests()
    with tempfile.TemporaryDirectory() as folder, imported(fetch(args.cache or Path(folder))) as (parts, count):
        queries = [text for _, text in judged]
        found = searched(parts, queries) | reckoned(parts, queries)
    served = {
        way: [float(name in first) for (name, _), first in zip(judged, names, strict=True)]
        for way, names in found.items()
    }
    rows = []
    for way, values in served.items():
        more = difference(served["description"], values, seed=args.seed)
        rows.append({
            "way": way, "recall@5": sum(values) / len(values), "more than description": more.mean,
            "from": more.low, "to": more.high,
        })  # fmt: skip
    console.print(f"{count} skills, {len(judged)} requests")
    print_table("Found among the first five", rows)
    missed = [text for (_, text), value in zip(judged, served["default"], strict=True) if not value]
    console.print("not found:", *missed, sep="\n  ")
    save(args, "agent_skills", {"skills": count, "requests": len(judged), "recall": rows, "missed": missed})


if __name__ == "__main__":
    main()
