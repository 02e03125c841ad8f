"""EmbeddedPostgres: a real server is started, stopped, killed and adopted."""

from __future__ import annotations

import fcntl
import os
import socket
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pg8000.native
import psutil
import pytest
from skillroute_local import postgres_programs
from skillroute_local.errors import LocalError
from skillroute_local.loopback import free_port, listen, port_free
from skillroute_local.postgres import EmbeddedPostgres

Query = Callable[..., list[list[Any]]]

START = """
import sys
from pathlib import Path
from skillroute_local.postgres import EmbeddedPostgres
server = EmbeddedPostgres(Path(sys.argv[1]), durable=False).start()
print(server.pid, server.port, flush=True)
"""


def start_and_be_killed(data_dir: Path, run_and_kill: Callable[..., tuple[int, str]]) -> tuple[int, int]:
    """Return the pid and the port of a server whose starter was killed."""
    pid, port = run_and_kill(START, str(data_dir))[1].split()
    return int(pid), int(port)


def test_it_is_postgresql_18_with_a_database_of_its_own(postgres_server: EmbeddedPostgres, query: Query) -> None:
    rows = query(postgres_server.url, "SELECT current_user::text, current_database()::text, version()")
    assert rows[0][:2] == ["skillroute", "skillroute"]
    assert rows[0][2].startswith("PostgreSQL 18.")


def test_it_listens_on_loopback_only_and_on_no_unix_socket(postgres_server: EmbeddedPostgres, query: Query) -> None:
    assert query(postgres_server.url, "SHOW listen_addresses") == [["127.0.0.1"]]
    assert query(postgres_server.url, "SHOW unix_socket_directories") == [[""]]


def test_it_lets_nobody_in_without_the_password(postgres_server: EmbeddedPostgres) -> None:
    with pytest.raises(pg8000.native.DatabaseError) as refused:
        pg8000.native.Connection("skillroute", host="127.0.0.1", port=postgres_server.port, password="a guess")
    assert refused.value.args[0]["C"] == "28P01"


def test_the_data_and_the_port_and_the_password_stay_from_start_to_start(
    data_dir: Path, query: Query, has_ended: Callable[[psutil.Process], bool]
) -> None:
    with EmbeddedPostgres(data_dir) as first:
        url, process = first.url, psutil.Process(first.pid)
        query(url, "CREATE TABLE kept (n int)")

    assert has_ended(process)
    with EmbeddedPostgres(data_dir) as second:
        assert second.url == url
        assert not second.adopted
        assert query(second.url, "SELECT count(*) FROM kept") == [[0]]
        assert query(second.url, "SHOW fsync") == [["on"]]


def test_the_password_is_for_the_owner_only(data_dir: Path) -> None:
    with EmbeddedPostgres(data_dir, durable=False):
        assert stat.S_IMODE((data_dir / "password").stat().st_mode) == 0o600
        assert stat.S_IMODE(data_dir.stat().st_mode) == 0o700


def test_another_port_is_chosen_when_the_last_one_is_taken(data_dir: Path) -> None:
    with EmbeddedPostgres(data_dir, durable=False) as first:
        port = first.port
    with listen(port), EmbeddedPostgres(data_dir, durable=False) as second:
        assert second.port != port


def test_a_port_that_is_asked_for_and_taken_is_an_error_that_names_who_has_it(data_dir: Path) -> None:
    with listen() as taken:
        port = taken.getsockname()[1]
        with pytest.raises(LocalError, match=rf"^port {port} is in use by .+ \(pid {os.getpid()}\): stop it or "):
            EmbeddedPostgres(data_dir, port, durable=False).start()


def test_a_server_whose_starter_was_killed_is_adopted_and_stopped(
    data_dir: Path, query: Query, run_and_kill: Callable[..., tuple[int, str]]
) -> None:
    pid, port = start_and_be_killed(data_dir, run_and_kill)

    with EmbeddedPostgres(data_dir, durable=False) as server:
        assert server.adopted
        assert (server.pid, server.port) == (pid, port)
        assert query(server.url, "SELECT 1") == [[1]]

    assert port_free(port)


def test_a_server_left_on_another_port_than_asked_for_is_started_anew(
    data_dir: Path, run_and_kill: Callable[..., tuple[int, str]]
) -> None:
    pid, left_on = start_and_be_killed(data_dir, run_and_kill)
    port = free_port()

    with EmbeddedPostgres(data_dir, port, durable=False) as server:
        assert (server.port, server.adopted) == (port, False)
        assert server.pid != pid
        assert port_free(left_on)


def test_it_starts_after_the_server_itself_was_killed(
    data_dir: Path, query: Query, kill: Callable[[int], None]
) -> None:
    killed = EmbeddedPostgres(data_dir, durable=False).start()
    query(killed.url, "CREATE TABLE kept AS SELECT 7 AS n")
    kill(killed.pid)
    assert (data_dir / "cluster" / "postmaster.pid").exists()

    with EmbeddedPostgres(data_dir, durable=False) as server:
        assert not server.adopted
        assert query(server.url, "SELECT n FROM kept") == [[7]]
        killed.stop()  # the one that was killed has nothing to stop
        assert query(server.url, "SELECT 1") == [[1]]


def test_it_starts_when_the_pid_of_a_killed_server_belongs_to_another_program_now(
    data_dir: Path, kill: Callable[[int], None]
) -> None:
    killed = EmbeddedPostgres(data_dir, durable=False).start()
    kill(killed.pid)
    pid_file = data_dir / "cluster" / "postmaster.pid"
    # Of the same user as the cluster: PostgreSQL itself takes such a process for a server and refuses to start.
    with subprocess.Popen(
        [sys.executable, "-c", "input()"] if os.geteuid() else ["/bin/cat"],
        stdin=subprocess.PIPE,
        cwd="/",
        user=pid_file.stat().st_uid if os.geteuid() == 0 else None,
    ) as other:
        lines = pid_file.read_text().splitlines()
        pid_file.write_text("\n".join([str(other.pid), *lines[1:], ""]))

        with EmbeddedPostgres(data_dir, durable=False) as server:
            assert not server.adopted
        assert other.poll() is None, "a process that is not ours was stopped"
        other.kill()


def test_stop_leaves_a_server_alone_that_somebody_else_started(data_dir: Path, query: Query) -> None:
    with EmbeddedPostgres(data_dir, durable=False) as server:
        EmbeddedPostgres(data_dir, durable=False).stop()
        assert query(server.url, "SELECT 1") == [[1]]


def test_a_first_start_that_was_cut_short_is_done_again(data_dir: Path) -> None:
    unfinished = data_dir / "cluster.new"
    unfinished.mkdir(parents=True)
    (unfinished / "PG_VERSION").write_text("18\n")
    (data_dir / "password").write_text("of the start that was cut short")

    with EmbeddedPostgres(data_dir, durable=False) as server:
        assert "cut" not in server.url
    assert not unfinished.exists()


def test_why_it_does_not_start_is_one_line_from_its_log(data_dir: Path) -> None:
    with EmbeddedPostgres(data_dir, durable=False):
        pass
    (data_dir / "cluster" / "postgresql.conf").write_text("no_such_setting = 1\n")

    with pytest.raises(LocalError, match=r"^PostgreSQL did not start: .*configuration file.* \(see .*server\.log\)$"):
        EmbeddedPostgres(data_dir, durable=False).start()


def test_a_cluster_of_another_version_is_left_alone(data_dir: Path) -> None:
    (data_dir / "cluster").mkdir(parents=True)
    (data_dir / "cluster" / "PG_VERSION").write_text("16\n")

    with pytest.raises(LocalError, match="is of PostgreSQL 16, this is 18: move it away"):
        EmbeddedPostgres(data_dir, durable=False).start()


def test_a_path_that_is_a_file_is_an_error(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.touch()
    with pytest.raises(LocalError, match="cannot be used"):
        EmbeddedPostgres(file, durable=False).start()


def test_each_test_gets_a_database_of_its_own_without_rows(database_url: str, query: Query) -> None:
    assert query(database_url, "SELECT count(*) > 0 FROM mcp.migrations") == [[True]]
    query(database_url, "CREATE TABLE mine (n int)")


def test_nothing_of_one_test_is_in_the_database_of_the_next(database_url: str, query: Query) -> None:
    assert query(database_url, "SELECT to_regclass('mine')::text") == [[None]]


def test_nothing_listens_on_the_other_addresses_of_this_machine(postgres_server: EmbeddedPostgres) -> None:
    with socket.socket() as sock:
        assert sock.connect_ex(("127.0.0.2", postgres_server.port)) != 0


def test_processes_that_start_together_make_one_system_user(monkeypatch: pytest.MonkeyPatch) -> None:
    """The wheel looks for the user and makes one: nobody else may do the same meanwhile."""
    asked = []

    def ensure(name: str) -> None:
        asked.append(name)
        other = os.open("/etc", os.O_RDONLY)
        try:
            with pytest.raises(BlockingIOError):
                fcntl.flock(other, fcntl.LOCK_EX | fcntl.LOCK_NB)
        finally:
            os.close(other)

    monkeypatch.setattr(postgres_programs, "ensure_user_exists", ensure)
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    postgres_programs._account_for(Path("/"))  # root's own directory
    assert asked == ["pgserver"]
