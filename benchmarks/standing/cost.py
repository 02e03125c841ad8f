"""Measures the largest and the most hostile request of every route against its bounds.

Each route is asked for the largest page, sent the largest body and the longest query that it takes, texts that were
made to be slow, and bodies that it must refuse, over a catalogue, a registry and a mailbox that are as large as one
answer can show. Measured are the processor time of the process and of PostgreSQL, how far memory rises, and what the
answer weighs on Lambda. A route that passes a bound, answers with a server error, or has no case ends this with
status 1.

The bounds are for finding what grows with the square of its input, or without end. They are generous, several times
what is measured on two busy cores, so they say nothing about speed; `latency.py` and its like do.

    python -m benchmarks.standing.cost --json results/cost.json
    python -m benchmarks.standing.cost --only /search/registry    # some of it, to look into
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from fastapi import FastAPI
from skillroute.core.answer_size import MAX_ANSWER_BYTES
from skillroute.core.http.app import create_app
from skillroute.core.settings import LocalSettings
from skillroute.wiring import Parts, make_embedder

from benchmarks.harness import arguments, console, fresh_database, print_table, progress, save, words
from benchmarks.standing.cost_case import Case, Route, Work
from benchmarks.standing.cost_cases import cases_of
from benchmarks.standing.cost_meter import Answer, Caller, Cost, Meter
from benchmarks.standing.cost_world import MadeUpVectors, World


@dataclass(frozen=True, slots=True)
class Bounds:
    """The largest cost of a request; processor time of the process and of PostgreSQL together."""

    cpu_s: float
    memory_mib: float


BOUNDS: Mapping[Work, Bounds] = {
    # The functions have 15 s and 29 s of one processor, and 1,769 MB.
    "one": Bounds(cpu_s=1.5, memory_mib=256.0),
    "bulk": Bounds(cpu_s=20.0, memory_mib=512.0),
    "table": Bounds(cpu_s=5.0, memory_mib=256.0),
    # For who runs the deployment alone: it cuts thousands of the longest texts into words once more.
    "check": Bounds(cpu_s=100.0, memory_mib=512.0),
}
ANSWER_MIB = MAX_ANSWER_BYTES / 2**20


@dataclass(frozen=True, slots=True)
class Measured:
    """A case and what came of it."""

    route: Route
    case: Case
    status: int
    cost: Cost
    broken: tuple[str, ...]

    @property
    def cpu_s(self) -> float:
        """All processor time."""
        return self.cost.cpu_s + self.cost.database_cpu_s


class _Describer:
    """Answers in the place of a language model, with all that it may say."""

    name = "describer"

    def answer(self, *_: Any, **__: Any) -> Mapping[str, Any]:
        return {"description": "Water. " * 10_000}


def routes_of(app: FastAPI) -> list[tuple[Route, bool]]:
    """Return every route of the application, and whether it takes a body; those that delete come last."""
    found = [
        ((method.upper(), path), "requestBody" in operation)
        for path, methods in app.openapi()["paths"].items()
        for method, operation in methods.items()
    ]
    return sorted(found, key=lambda route: (route[0][0] == "DELETE", route[0][1], route[0][0]))


def broken_bounds(case: Case, answer: Answer, cost: Cost) -> Iterator[str]:
    """Yield what is wrong with an answer, none of it for what is as it should be."""
    bounds = BOUNDS[case.work]
    cpu_s = cost.cpu_s + cost.database_cpu_s
    if answer.status not in case.statuses:
        yield f"answered {answer.status}, not {' or '.join(map(str, case.statuses))}"
    if case.work == "bulk" and answer.status == 200 and not case.may_fail:
        failed = [result["error"] for result in json.loads(answer.body)["results"] if result["error"]]
        if failed:  # a case that is refused measures nothing
            yield f"wrote less than it was given: {failed[0]}"
    if cpu_s > bounds.cpu_s:
        yield f"took {cpu_s:.1f} s of processor time, of {bounds.cpu_s:g}"
    if cost.memory_mib is not None and cost.memory_mib > bounds.memory_mib:
        yield f"took {cost.memory_mib:.0f} MiB of memory, of {bounds.memory_mib:.0f}"
    if cost.answer_mib >= ANSWER_MIB:
        yield f"answered {cost.answer_mib:.1f} MiB, of {ANSWER_MIB:.0f}"


def measure(ask: Caller, meter: Meter, world: World, route: Route, case: Case) -> Measured:
    """Ask once and return what it cost."""
    world.settle()
    body = case.sent()
    answer, cost = meter.measure(lambda: ask(route[0], case.target, body))
    return Measured(route, case, answer.status, cost, tuple(broken_bounds(case, answer, cost)))


def table(measured: list[Measured]) -> list[dict[str, Any]]:
    """Return a row for each route: its slowest case, and the most of everything else."""
    rows = []
    for route in dict.fromkeys(one.route for one in measured):
        of_route = [one for one in measured if one.route == route]
        slowest = max(of_route, key=lambda one: one.cpu_s)
        rows.append(
            {
                "route": " ".join(route),
                "cases": len(of_route),
                "cpu_s": round(slowest.cpu_s, 2),
                "of_postgresql_s": round(slowest.cost.database_cpu_s, 2),
                "slowest case": slowest.case.name,
                "memory_mib": round(max(one.cost.memory_mib or 0.0 for one in of_route)),
                "answer_mib": round(max(one.cost.answer_mib for one in of_route), 2),
            }
        )
    return rows


def run(only: Sequence[str]) -> tuple[list[Measured], list[str]]:
    """Measure the routes whose path has one of `only`; return what was measured and what is wrong."""
    measured: list[Measured] = []
    wrong: list[str] = []
    with fresh_database() as url:
        settings = LocalSettings(database_url=url)
        embedder = MadeUpVectors(make_embedder(settings))
        parts = Parts(settings, embedder=embedder, chat=_Describer())
        routers, use_cases = parts.served()
        app = create_app(routers, use_cases=use_cases, too_large=parts.mcp.too_large)
        ask = Caller(app)
        try:
            world = World(ask, parts)
            world.fill()
            meter = Meter(url)
            routes = [route for route in routes_of(app) if any(part in route[0][1] for part in only)]
            if not routes:
                wrong.append(f"the application has no route with {' or '.join(only)}")
            with progress() as bar:
                for route, has_body in bar.track(routes, description="measuring"):
                    before = len(measured)
                    for case in cases_of(route, world, has_body=has_body):
                        embedder.is_real = case.embeds
                        measured.append(measure(ask, meter, world, route, case))
                    if len(measured) == before:
                        wrong.append(f"{' '.join(route)} has no case in cost_cases.py")
        finally:
            ask.close()
            parts.close()
    wrong += [f"{' '.join(m.route)} [{m.case.name}] {why}" for m in measured for why in m.broken]
    return measured, wrong


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument(
        "--only", type=words, default=[""], metavar="TEXTS", help="only routes whose path has one of these"
    )
    parser.add_argument("--all", action="store_true", help="print every case, and not only the slowest of each route")
    args = parser.parse_args()
    measured, wrong = run(args.only)
    if args.all:
        for one in measured:
            console.print(one.route, one.case.name, one.status, one.cost, soft_wrap=True)
    rows = table(measured)
    if rows:
        print_table("The most that a request cost, by route", rows)
    bounds = [{"of": work, **asdict(bound), "answer_mib": ANSWER_MIB} for work, bound in BOUNDS.items()]
    save(args, "cost", {"bounds": bounds, "rows": rows, "broken": wrong})
    for problem in wrong:
        print(f"BROKEN: {problem}")
    print(json.dumps({"routes": len(rows), "cases": len(measured), "broken": len(wrong)}))
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
