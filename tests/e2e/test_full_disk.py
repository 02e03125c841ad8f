"""A disk that fills up under `skillroute up`: the process lives, says so, and catches up when there is room again."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

import pg8000.exceptions
import pg8000.native
import pytest

from tests.e2e.processes import HASHING, Processes, Up, answered, eventually
from tests.temporary import temporary_directory

MIB = 1024 * 1024


@pytest.fixture
def disk() -> Iterator[Callable[[int], Path]]:
    """What makes file systems of so many MiB, which only root may mount."""
    with ExitStack() as mounted:

        def mount(mib: int) -> Path:
            path = mounted.enter_context(temporary_directory("skillroute disk "))
            options = ["-t", "tmpfs", "-o", f"size={mib}m,mode=711", "none", path]
            if subprocess.run(
                [shutil.which("mount") or "mount", *options], check=False, capture_output=True
            ).returncode:
                pytest.skip("a small file system can only be mounted as root")
            mounted.callback(subprocess.run, [shutil.which("umount") or "umount", path], check=True)
            return Path(path)

        yield mount


@contextmanager
def full(disk: Path) -> Iterator[None]:
    """Leave nothing of a disk free, for a block."""
    filling = disk / "filling"
    with filling.open("wb", buffering=0) as file:
        try:
            while file.write(b"\0" * 65536):
                pass
        except OSError:
            pass
    try:
        yield
    finally:
        filling.unlink()


def tools(names: str) -> list[dict[str, str]]:
    return [
        {"server": "shed", "name": f"{names}{number}", "description": f"Mend {names} {number}. " + "word " * 200}
        for number in range(200)
    ]


def names(server: Up, query: str) -> tuple[set[str], list[str]]:
    answer = server.search(query, strategy="direct", limit=5)
    return {tool["name"].rstrip("0123456789") for tool in answer["tools"]}, answer["metadata"]["degraded"]


def test_where_there_is_no_room_for_an_index_it_says_so_and_builds_it_when_there_is(
    home: Path, disk: Callable[[int], Path], processes: Processes
) -> None:
    small = disk(300)
    with full(small):
        server = processes.up(home, "--no-examples", **HASHING, SKILLROUTE_INDEX_DIR=str(small / "index")).ready()
        server.put(*tools("pump"))
        assert names(server, "Mend pump 7") == (set(), ["index_unavailable"])
        health = answered(server.http.get("/health"))
        assert health["dependencies"]["index"] == {"ok": False, "detail": "the vector index has no room on its disk"}
        assert health["counts"]["IndexNoRoom"] >= 1
        assert "MB left, and the index needs" in server.output

    assert names(server, "Mend pump 7") == ({"pump"}, [])


def test_where_postgresql_can_be_searched_it_answers_instead(
    home: Path, disk: Callable[[int], Path], processes: Processes
) -> None:
    small = disk(300)
    with full(small):
        settings = HASHING | {"SKILLROUTE_INDEX": "auto", "SKILLROUTE_INDEX_DIR": str(small / "index")}
        server = processes.up(home, "--no-examples", **settings).ready()
        server.put(*tools("pump"))
        assert names(server, "Mend pump 7") == ({"pump"}, [])
        eventually(lambda: server.http.get("/health").json()["counts"].get("IndexNoRoom"), "it looks for room")
        answer = server.search("Mend pump 7", strategy="direct", limit=5)
        assert (answer["metadata"]["index"], answer["metadata"]["degraded"]) == ("postgres", [])
        assert answered(server.http.get("/health"))["status"] == "ok"


def test_an_index_that_cannot_grow_answers_without_what_is_new_and_never_with_what_is_switched_off(
    home: Path, disk: Callable[[int], Path], processes: Processes
) -> None:
    small = disk(300)
    server = processes.up(home, "--no-examples", **HASHING, SKILLROUTE_INDEX_DIR=str(small / "index")).ready()
    server.put(*tools("pump"))
    assert names(server, "Mend pump 7") == ({"pump"}, [])
    with full(small):
        for number in range(5):
            server.put(*tools(f"wheel {'abcde'[number]} "))
            assert names(server, "Mend pump 7") == ({"pump"}, ["index_stale"])
        assert answered(server.http.get("/health"))["status"] == "degraded"
        [pump] = server.http.get("/api/v1/tools", params={"server": "shed", "name": "pump7"}).json()
        answered(server.http.patch(f"/api/v1/tools/{pump['id']}", json={"is_active": False}))
        assert names(server, "Mend pump 7") == (set(), ["index_unavailable"])

    eventually(lambda: names(server, "Mend wheel a 7")[1] == [], "it catches up")
    assert answered(server.http.get("/health"))["status"] == "ok"


def test_postgresql_that_ends_on_a_full_disk_is_back_when_there_is_room(
    home: Path, disk: Callable[[int], Path], processes: Processes
) -> None:
    # GIVEN a home on a small disk, and an index elsewhere
    small = disk(400)
    index = home.with_name("index")
    server = processes.up(small / "home", "--no-examples", **HASHING, SKILLROUTE_INDEX_DIR=str(index)).ready()
    server.put(*tools("pump"))
    before = server.postmaster()
    run = server.home.running()
    assert before is not None
    assert run is not None
    with full(small):
        # WHEN its log can grow no more: PostgreSQL panics
        url = run.database_url.removeprefix("postgresql://")
        user, _, rest = url.partition(":")
        password, _, place = rest.partition("@")
        connection = pg8000.native.Connection(
            user, password=password, host="127.0.0.1", port=int(place.split(":")[1].split("/")[0]), database=user
        )
        try:
            with pytest.raises((pg8000.exceptions.DatabaseError, pg8000.exceptions.InterfaceError)):
                for _ in range(100):
                    connection.run("SELECT pg_logical_emit_message(true, 'x', repeat('x', 1000000))")
        finally:
            with suppress(pg8000.exceptions.InterfaceError, OSError):
                connection.close()
        eventually(lambda: server.http.get("/ready").status_code == 503, "searches are not answered")

    # THEN it is back, with all that was acknowledged
    eventually(lambda: server.http.get("/ready").status_code == 200, "PostgreSQL is back", within_s=90)
    assert names(server, "Mend pump 7") == ({"pump"}, [])
