"""`skillroute export` and the import of what it wrote, against a Skillroute that runs."""

from __future__ import annotations

import json
from pathlib import Path

from tests.e2e.processes import Up, cli


def test_a_backup_is_written_compared_and_taken_back(running: Up, tmp_path: Path) -> None:
    written = cli(running.home.path, "export", "--all")
    assert written.returncode == 0, written.stderr
    *lines, end = (json.loads(line) for line in written.stdout.splitlines())
    kinds = {line["kind"] for line in lines}
    assert {"skill", "tool", "server", "agent", "project", "product", "mail_agent", "message"} <= kinds
    assert (end["kind"], sum(end["lines"].values()), end["changed"]) == ("end", len(lines), [])

    file = tmp_path / "backup.ndjson"
    file.write_text(written.stdout, encoding="utf-8")
    for options in (("--dry-run",), ()):
        taken = cli(running.home.path, "import", str(file), *options)
        assert taken.returncode == 0, taken.stderr
        # Tools may have been classified meanwhile; then the backup's decisions come back.
        for line in taken.stdout.splitlines():
            assert not line.startswith("+ "), line
            assert " 0 created" in line or line.startswith("~ tool "), line


def test_kinds_are_chosen_and_a_file_is_not_written_over(running: Up, tmp_path: Path) -> None:
    file = tmp_path / "skills.ndjson"
    assert cli(running.home.path, "export", "--kind", "skill", "-o", str(file)).returncode == 0
    assert {json.loads(line)["kind"] for line in file.read_text("utf-8").splitlines()} == {"skill", "end"}
    again = cli(running.home.path, "export", "--kind", "skill", "-o", str(file))
    assert (again.returncode, "is there already" in again.stderr) == (2, True)


def test_what_is_to_be_exported_must_be_said(running: Up) -> None:
    for args, reason in (((), "say what to export"), (("--kind", "tools"), "'tools' is not one of skill, tool")):
        refused = cli(running.home.path, "export", *args)
        assert (refused.returncode, reason in refused.stderr, refused.stdout) == (2, True, "")
