"""Home: one process at a time, and nothing that a killed one left counts."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from skillroute_local.errors import LocalError
from skillroute_local.home import Home, Run

HOLD = """
import os, sys
from pathlib import Path
from skillroute_local.home import Home, Run
home = Home(Path(sys.argv[1]))
held = home.locked()
held.__enter__()
home.announce(Run(os.getpid(), "http://localhost:3000", "postgresql://u:p@h/d", "http://localhost:4100", "now"))
(home.index_dir / f"replica-{os.getpid()}-0").mkdir()
print(os.getpid(), flush=True)
"""


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path / "home")


def a_run() -> Run:
    return Run(os.getpid(), "http://localhost:3000", "postgresql://u:p@h/d", "http://localhost:4100", "now")


def test_the_directory_is_named_by_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("SKILLROUTE_HOME", raising=False)
    assert Home.from_environment().path == tmp_path / ".skillroute"
    monkeypatch.setenv("SKILLROUTE_HOME", str(tmp_path / "elsewhere"))
    assert Home.from_environment().path == tmp_path / "elsewhere"


def test_what_is_announced_is_found_while_it_runs_and_only_then(home: Home) -> None:
    assert home.running() is None
    with home.locked():
        assert home.running() is None
        home.announce(a_run())
        assert home.running() == a_run()
    assert home.running() is None
    assert not home.run_file.exists()


def test_run_json_goes_also_when_it_ends_with_an_error(home: Home) -> None:
    with pytest.raises(KeyboardInterrupt), home.locked():
        home.announce(a_run())
        raise KeyboardInterrupt
    assert not home.run_file.exists()
    with home.locked():
        pass


def test_run_json_is_for_the_owner_only_and_replaced_whole(home: Home) -> None:
    with home.locked():
        home.announce(a_run())
        before = home.run_file.stat().st_ino
        home.announce(a_run())
        assert home.run_file.stat().st_ino != before
        assert stat.S_IMODE(home.run_file.stat().st_mode) == 0o600
        assert sorted(path.name for path in home.path.iterdir()) == ["index", "lock", "run.json"]


def test_the_password_is_not_shown() -> None:
    assert "u:p" not in repr(a_run())


def test_a_directory_that_another_process_holds_is_an_error_that_names_it(home: Home) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", f"{HOLD}\nsys.stdin.read()", str(home.path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as other:
        assert other.stdout is not None
        other.stdout.readline()
        who = rf"\(pid {other.pid}, http://localhost:3000\)"
        in_use = rf"^another Skillroute is using .*home {who}: stop it or set SKILLROUTE_HOME$"
        with pytest.raises(LocalError, match=in_use), home.locked():
            pytest.fail("two hold one directory")
        running = home.running()
        assert running is not None and running.pid == other.pid
        other.kill()


def test_what_a_killed_process_left_counts_for_nothing(
    home: Home, run_and_kill: Callable[..., tuple[int, str]]
) -> None:
    run_and_kill(HOLD, str(home.path))
    assert home.run_file.exists()

    assert home.running() is None
    with home.locked():
        assert not home.run_file.exists()


def test_run_json_with_a_pid_that_was_given_away_again_counts_for_nothing(home: Home) -> None:
    with home.locked():
        pass
    home.announce(a_run())  # of this living process, which does not hold the directory
    assert home.running() is None


def test_run_json_of_another_version_counts_for_nothing(home: Home) -> None:
    with home.locked():
        home.run_file.write_text('{"pid": 1}')
        assert home.running() is None


def test_replicas_of_dead_processes_are_removed_and_nothing_else(
    home: Home, run_and_kill: Callable[..., tuple[int, str]]
) -> None:
    pid, _ = run_and_kill(HOLD, str(home.path))
    dead = home.index_dir / f"replica-{pid}-0"
    reused = home.index_dir / f"replica-{os.getpid()}-0"
    alive = home.index_dir / f"replica-{os.getpid()}-1"
    other = home.index_dir / "notes"
    for path in (reused, alive, other):
        path.mkdir()
    os.utime(reused, (0, 0))  # older than the process that has its number now
    assert dead.exists()

    with home.locked():
        assert sorted(home.index_dir.iterdir()) == sorted([alive, other])


def test_a_directory_that_cannot_be_made_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    home = Home(tmp_path / "file" / "home")
    with pytest.raises(LocalError, match="set SKILLROUTE_HOME to another directory"), home.locked():
        pytest.fail("held a directory that does not exist")
