"""Which tests are kept in one process where they run side by side."""

from __future__ import annotations

from tests.scheduling import scope_of


def test_files_that_ask_the_running_server_are_kept_together_and_others_alone() -> None:
    assert scope_of("tests/e2e/test_cli.py") == scope_of("tests/e2e/test_mcp.py") == "running"
    assert scope_of("tests/e2e/test_kill.py") == "tests/e2e/test_kill.py"
