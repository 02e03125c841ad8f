"""Where the logs of `skillroute up` go."""

from __future__ import annotations

import io
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from skillroute.core.observability import logger
from skillroute_local import logs


@pytest.fixture(autouse=True)
def as_it_was(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    handler, level = logger.registered_handler, logger.log_level
    stream = handler.stream  # type: ignore[attr-defined]
    monkeypatch.setenv("SKILLROUTE_LOG_LEVEL", "")
    monkeypatch.delenv("SKILLROUTE_LOG_LEVEL")
    yield
    handler.stream = stream  # type: ignore[attr-defined]
    logger.setLevel(level)


class Terminal(io.StringIO):
    """Standard output that is a terminal."""

    def isatty(self) -> bool:
        return True


def shown_and_kept(
    monkeypatch: pytest.MonkeyPatch, file: Path, stdout: io.StringIO, *, verbose: bool
) -> tuple[str, str]:
    monkeypatch.setattr(sys, "stdout", stdout)
    with logs.logs_of_server(file, verbose=verbose):
        logger.warning("No skills matched")
        logger.info("a detail")
    return stdout.getvalue(), file.read_text("utf-8") if file.exists() else ""


def test_a_terminal_shows_none_and_a_file_keeps_them(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    shown, kept = shown_and_kept(monkeypatch, tmp_path / "log", Terminal(), verbose=False)
    assert shown == ""
    assert "No skills matched" in kept
    assert "a detail" not in kept


def test_verbose_shows_all_in_the_terminal(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    shown, kept = shown_and_kept(monkeypatch, tmp_path / "log", Terminal(), verbose=True)
    assert "No skills matched" in shown
    assert "a detail" in shown
    assert kept == ""


def test_what_is_no_terminal_gets_them(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    shown, kept = shown_and_kept(monkeypatch, tmp_path / "log", io.StringIO(), verbose=False)
    assert "No skills matched" in shown
    assert kept == ""


def test_a_file_that_has_grown_large_begins_again(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(logs, "_LARGEST_BYTES", 10)
    file = tmp_path / "log"
    file.write_text("what was long ago\n", "utf-8")
    _, kept = shown_and_kept(monkeypatch, file, Terminal(), verbose=False)
    assert "long ago" not in kept
    assert "No skills matched" in kept
