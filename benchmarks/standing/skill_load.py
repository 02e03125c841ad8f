"""Skills over HTTP: a mixed load on connections that each work on a skill of their own, and reading alone."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from skillroute.core.settings import SearchSettings
from skillroute.skills.model import MAX_SKILLS
from skillroute.wiring import Parts

from benchmarks.corpora.skill_corpus import SkillCorpus, made_up_skill
from benchmarks.harness import Server, drive, fresh_database, percentiles, progress, serving, write_requests
from benchmarks.standing.report import median_of

_SKILLS = "/api/v1/skills"
_SESSIONS = 2000  # connections take them in turn, so one that is taken again has long been ended
_TOOLS_EACH = 10
_READS = ("get", "list", "tools")
_MIXED = ("create", "get", "list", "patch", "delete")
_ROOM = 20  # below the limit of skills, for those that the mixed load creates

Row = dict[str, Any]


def _request(kind: str, method: str, path: str, body: object = None) -> Row:
    return {"kind": kind, "method": method, "path": f"{_SKILLS}{path}", "body": body}


def session(run: str, number: int) -> list[Row]:
    """Return the five requests of a mixed session, a fifth each: create, get, list, patch, delete.

    Every other patch changes the description, which is embedded anew; the others change keywords.
    """
    id_ = f"{run}_{number}"
    created = made_up_skill(id_, number).model_dump(mode="json", exclude={"org_id"})
    changed = made_up_skill(id_, number, changed=1).description
    return [
        _request("create", "POST", "", created),
        _request("get", "GET", f"/{id_}"),
        _request("list", "GET", "?limit=100"),
        _request("patch", "PATCH", f"/{id_}", {"description": changed} if number % 2 else {"keywords": ["other"]}),
        _request("delete", "DELETE", f"/{id_}"),
    ]


def reads(kind: str, ids: Sequence[str]) -> list[list[Row]]:
    """Return requests of one kind: getting each skill in turn, its tools, or the first 100 of the list."""
    if kind == "list":
        return [[_request(kind, "GET", "?limit=100")]]
    return [[_request(kind, "GET", f"/{id_}" + ("/tools" if kind == "tools" else ""))] for id_ in ids]


@dataclass(frozen=True, slots=True)
class SkillLoad:
    """How skills over HTTP are measured.

    Attributes
    ----------
    sizes : sequence of int
        Numbers of skills, each with ten tools.
    connections : sequence of int
    seconds : float
        Of each round, after a second of warm-up.
    rounds : int
        Of which medians are taken.
    """

    sizes: Sequence[int]
    connections: Sequence[int]
    seconds: float
    rounds: int
    folder: Path

    def measure(self, seed: int) -> tuple[list[Row], list[Row]]:
        """Return the rows of the mixed load and of reading."""
        mixed: list[Row] = []
        reading: list[Row] = []
        with fresh_database() as url:
            parts = Parts(SearchSettings(database_url=url))
            corpus = SkillCorpus(parts, seed)
            ids: list[str] = []
            for size in sorted(self.sizes):
                # Room for what the mixed load creates; reading needs none.
                ids += corpus.add([_TOOLS_EACH] * (min(size, MAX_SKILLS - _ROOM) - len(ids)))
                with serving(url) as server:
                    mixed += self._mixed(server, len(ids))
                    ids += corpus.add([_TOOLS_EACH] * (size - len(ids)))
                    reading += self._reading(server, ids)
            parts.close()
        return mixed, reading

    def _mixed(self, server: Server, skills: int) -> list[Row]:
        rows = []
        with progress() as bar:
            for connections in bar.track(self.connections, description=f"mixed load, {skills} skills"):
                runs = [f"run{connections}_{number}" for number in range(self.rounds)]
                about = {"skills": skills, "connections": connections}
                rows.append(median_of([about | self._mixed_round(server, run, connections) for run in runs]))
        return rows

    def _mixed_round(self, server: Server, run: str, connections: int) -> Row:
        sessions = (session(run, number) for number in range(_SESSIONS))
        requests = write_requests(self.folder / "mixed.jsonl", sessions)
        measured = drive(server, requests, connections, self.seconds)
        for skill in server.request("GET", f"{_SKILLS}?limit=1000"):
            if skill["id"].startswith(f"{run}_"):  # of a session that the end cut off
                server.request("DELETE", f"{_SKILLS}/{skill['id']}")
        times = measured["whole_ms"]
        return {
            "requests/s": round(sum(len(taken) for taken in times.values()) / self.seconds, 1),
            "errors": measured["errors"],
            **{f"{kind} ms": _two(times.get(kind, [])) for kind in _MIXED},
            "server_cpu_s": measured["server_cpu_s"],
        }

    def _reading(self, server: Server, ids: Sequence[str]) -> list[Row]:
        rows = []
        runs = list(itertools.product(self.connections, _READS))
        with progress() as bar:
            for connections, kind in bar.track(runs, description=f"reading, {len(ids)} skills"):
                about = {"skills": len(ids), "connections": connections, "request": kind}
                requests = write_requests(self.folder / "reads.jsonl", reads(kind, ids))
                rounds = [self._reading_round(server, requests, connections, kind) for _ in range(self.rounds)]
                rows.append(about | median_of(rounds))
        return rows

    def _reading_round(self, server: Server, requests: Path, connections: int, kind: str) -> Row:
        measured = drive(server, requests, connections, self.seconds / 2)
        times = measured["whole_ms"].get(kind, [])
        rate = round(len(times) / measured["seconds"], 1)
        return {"requests/s": rate, "errors": measured["errors"], "ms": _two(times)}


def _two(times: Sequence[float]) -> dict[str, float]:
    """Return p50 and p95."""
    found = percentiles(times)
    return {name: found[name] for name in ("p50", "p95")}
