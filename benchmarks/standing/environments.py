"""What many environments of Lambda ask of one PostgreSQL: measured for one, held by a thousand, simulated by traffic.

*One*: round trips, PostgreSQL's processor time and milliseconds of a warm search, by index, and of a login. *Held*: a
thousand pools of this project against one real server: how long until all are logged in, what memory that takes, how
many looks at the feed a second it answers, how many connections are left once they were idle. *Simulated*: requests
come by chance, an environment serves one at a time, one that is free goes first, one that none is free for is started;
it keeps its connection until PostgreSQL ends it (`SKILLROUTE_DATABASE_IDLE_TIMEOUT_S`) or Lambda ends the environment
(after `--kept-s` without a request, which AWS does not promise). Durations are drawn from those measured.

    python -m benchmarks.standing.environments --tools 10000 --data DATA --json results/environments.json
"""

from __future__ import annotations

import argparse
import heapq
import random
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from itertools import count
from pathlib import Path
from typing import Any

import psutil
import skillroute_local.postgres as postgres_module
from skillroute.core.documents.feed import PostgresFeed
from skillroute.core.postgres.connection import Connection
from skillroute.core.postgres.pool import Pool
from skillroute.core.settings import LocalSettings
from skillroute.search.model import SearchRequest
from skillroute.wiring import Parts

from benchmarks.corpora.corpus import Corpus, Filler
from benchmarks.harness import arguments, fresh_database, numbers, percentiles, print_table, save
from benchmarks.standing.filled import fill_points
from benchmarks.standing.scale import ACME, owner_of, requests

_INDEXES = ("embedded", "postgres")
_LOGINS_AT_ONCE = 50

Row = dict[str, Any]


class Meter:
    """Round trips of this process, and processor time of all of PostgreSQL's."""

    def __init__(self) -> None:
        self.trips = 0

    @contextmanager
    def counting(self) -> Iterator[None]:
        """Count what connections send in this block."""
        exchange = Connection._exchange

        def counted(connection: Connection) -> Any:
            self.trips += 1
            return exchange(connection)

        Connection._exchange = counted  # type: ignore[method-assign]
        try:
            yield
        finally:
            Connection._exchange = exchange  # type: ignore[method-assign]


class Server:
    """The processes of one PostgreSQL server, told by that of a connection to it."""

    def __init__(self, url: str) -> None:
        pool = Pool(url, size=1)
        [[pid]] = pool.read(lambda connection: connection.script("SELECT pg_backend_pid()"))
        self._postmaster = psutil.Process(psutil.Process(pid).ppid())
        pool.close()

    def _processes(self) -> list[psutil.Process]:
        return [self._postmaster, *self._postmaster.children()]

    def cpu_s(self) -> float:
        """Return the processor time of those that live, and of the children of the first that ended."""
        times = self._postmaster.cpu_times()
        ended = times.children_user + times.children_system
        return ended + self._sum(lambda each: sum(each.cpu_times()[:2]))

    def memory_mib(self) -> float:
        """Return their memory, what processes share counted once."""
        return self._sum(lambda each: float(each.memory_full_info().pss)) / 2**20

    def _sum(self, of: Callable[[psutil.Process], float]) -> float:
        total = 0.0
        for each in self._processes():
            with suppress(psutil.NoSuchProcess):  # it ended meanwhile
                total += of(each)
        return total


def one(url: str, index: str, asked: Sequence[str]) -> tuple[Row, list[float]]:
    """Measure warm searches of one environment, and return them."""
    parts = Parts(LocalSettings(database_url=url, index=index, default_mode="hybrid"))  # type: ignore[arg-type]
    meter, server, times = Meter(), Server(url), []
    try:
        for query in asked[:10]:
            parts.tool_search.search(SearchRequest(query=query), ACME)
        with meter.counting():
            before = server.cpu_s()
            for query in asked:
                started = time.perf_counter()
                parts.tool_search.search(SearchRequest(query=query), ACME)
                times.append(time.perf_counter() - started)
            spent = server.cpu_s() - before
    finally:
        parts.close()
    row = {
        "index": index,
        "round trips": round(meter.trips / len(asked), 2),
        "PostgreSQL, ms of processor": round(1000.0 * spent / len(asked), 2),
        "ms": percentiles([1000.0 * each for each in times]),
    }
    return row, times


def held(url: str, environments: int) -> Row:
    """Log so many pools in, ask all of them about the feed, and let the server end them."""
    pools = [Pool(url, size=1, idle_timeout_s=20.0, connect_timeout_s=30.0) for _ in range(environments)]
    server = Server(url)
    empty_mib, before = server.memory_mib(), server.cpu_s()

    position = Pool(url, size=1).read(lambda c: c.script("SELECT pg_current_snapshot()::text"))[0][0]

    def look(pool: Pool) -> Any:
        return PostgresFeed(pool).poll(position)

    with ThreadPoolExecutor(_LOGINS_AT_ONCE) as threads:
        started = time.perf_counter()
        list(threads.map(look, pools))
        login_s = time.perf_counter() - started
        login_cpu_s = server.cpu_s() - before
        full_mib = server.memory_mib()
        before, started = server.cpu_s(), time.perf_counter()
        for _ in range(5):
            list(threads.map(look, pools))
        look_s = time.perf_counter() - started
        look_cpu_s = server.cpu_s() - before
    watcher = Pool(url, size=1)
    sessions = "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'skillroute' AND pid <> pg_backend_pid()"
    open_before = watcher.read(lambda c: c.script(sessions))[0][0]
    deadline = time.perf_counter() + 60.0
    while (left := watcher.read(lambda c: c.script(sessions))[0][0]) and time.perf_counter() < deadline:
        time.sleep(1.0)
    for pool in [*pools, watcher]:
        pool.close()
    return {
        "environments": environments,
        "all logged in, s": round(login_s, 2),
        "logins a second": round(environments / login_s),
        "PostgreSQL, ms of processor a login": round(1000.0 * login_cpu_s / environments, 2),
        "MiB a connection": round((full_mib - empty_mib) / environments, 2),
        "looks at the feed a second": round(5 * environments / look_s),
        "PostgreSQL, ms of processor a look": round(1000.0 * look_cpu_s / (5 * environments), 3),
        "connected": open_before,
        "connected after idling": left,
    }


def simulate(rate: float, times: Sequence[float], args: argparse.Namespace, idle_s: float) -> Row:
    """Simulate searches at a rate for `--minutes`, from nothing, and return what there was at most."""
    chance, order = random.Random(args.seed), count()
    now, end = 0.0, 60.0 * args.minutes
    free: list[tuple[float, int]] = []  # environments by when they last ended, as a stack: the latest goes first
    busy: list[tuple[float, int]] = []
    started = served = logins = most_busy = most_environments = most_connected = 0
    while now < end:
        now += chance.expovariate(rate)
        while busy and busy[0][0] <= now:
            done, which = heapq.heappop(busy)
            free.append((done, which))
        while free and now - free[0][0] > args.kept_s:  # the bottom of the stack was idle longest
            free.pop(0)
        if free:
            last, which = free.pop()
            is_connected = now - last <= idle_s
            took = chance.choice(times) + args.beside_s
        else:
            which, is_connected, started = next(order), False, started + 1
            took = args.cold_s
        logins += not is_connected
        served += 1
        heapq.heappush(busy, (now + took + (0.0 if is_connected else args.login_s), which))
        most_busy = max(most_busy, len(busy))
        most_environments = max(most_environments, len(busy) + len(free))
        if served % 50 == 0:
            open_now = len(busy) + sum(now - last <= idle_s for last, _ in free)
            most_connected = max(most_connected, open_now)
    return {
        "searches a second": rate,
        "idle timeout, s": "never" if idle_s > args.kept_s else idle_s,
        "environments": most_environments,
        "at work at once": most_busy,
        "connections": most_connected,
        "cold, %": round(100.0 * started / served, 3),
        "logins a second": round(logins / end, 2),
    }


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--tools", type=int, default=10_000)
    parser.add_argument("--data", type=Path, help="folder of folders with tools.jsonl; real tools come first")
    parser.add_argument("--queries", type=int, default=200)
    parser.add_argument("--environments", type=numbers, default=[100, 1000], help="held by real connections")
    parser.add_argument("--rates", type=numbers, default=[1, 10, 100, 1000, 5000], help="searches a second, simulated")
    parser.add_argument("--minutes", type=float, default=30.0)
    parser.add_argument("--kept-s", type=float, default=600.0, help="how long Lambda keeps an environment unused")
    parser.add_argument("--cold-s", type=float, default=1.1, help="of an environment's first answer")
    parser.add_argument("--login-s", type=float, default=0.02)
    parser.add_argument("--beside-s", type=float, default=0.005, help="of a request beside the search")
    args = parser.parse_args()
    corpus = Corpus(args.seed, args.data)
    asked = requests(args.data, corpus, args.queries)
    # Later settings of a server go before earlier ones.
    postgres_module._SETTINGS = (*postgres_module._SETTINGS, f"max_connections={max(args.environments) + 50}")
    with fresh_database() as url:
        filler = Filler(url, corpus, owner_of=owner_of)
        filler.fill(args.tools)
        filler.close()
        fill_points(url)
        measured = [one(url, index, asked) for index in _INDEXES]
        results: Row = {
            "one": [row for row, _ in measured],
            "held": [held(url, environments) for environments in args.environments],
        }
    results["simulated"] = [
        {"index": row["index"], **simulate(rate, times, args, idle_s)}
        for row, times in measured
        for rate in args.rates
        for idle_s in (float("inf"), 60.0)
    ]
    for name, rows in results.items():
        print_table(name, rows)
    save(args, "environments", results)


if __name__ == "__main__":
    main()
