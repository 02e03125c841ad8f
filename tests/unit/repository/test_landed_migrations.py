"""Migrations that have landed stay as they are: databases have applied them, and know them by their SHA-256."""

from __future__ import annotations

import hashlib
from importlib.resources import files
from pathlib import Path

MIGRATIONS = Path(str(files("skillroute.core.postgres").joinpath("migrations")))
LANDED = Path(__file__).parents[2] / "data" / "landed_migrations.sha256"


def complaints(landed: str, folder: Path) -> list[str]:
    """Say what is wrong with the migrations of a folder, given the lines of those that have landed."""
    known = {name: digest for digest, name in (line.split(maxsplit=1) for line in landed.splitlines())}
    found = {
        file.relative_to(folder).as_posix(): hashlib.sha256(file.read_bytes()).hexdigest()
        for file in sorted(folder.rglob("*.sql"))
    }
    wrong = [
        f"{name} has landed, and was {'edited' if name in found else 'taken away'}: databases that applied it could "
        "not be migrated any more. Put it back as it was, and write what it is to do into a new migration"
        for name, digest in known.items()
        if found.get(name) != digest
    ]
    new = [f"{digest}  {name}" for name, digest in found.items() if name not in known]
    return [*wrong, *(f"a new migration: add this line to {LANDED.name} when it lands: {line}" for line in new)]


def test_no_migration_that_has_landed_was_edited() -> None:
    assert complaints(LANDED.read_text("utf-8"), MIGRATIONS) == []


def test_an_edited_one_a_missing_one_and_a_new_one_are_named(tmp_path: Path) -> None:
    # GIVEN
    for name, sql in {"0001_a": "SELECT 1", "0002_b": "SELECT 2", "0003_c": "SELECT 3"}.items():
        (tmp_path / f"{name}.sql").write_text(sql)
    assert [line.partition(": add")[0] for line in complaints("", tmp_path)] == ["a new migration"] * 3
    landed = "\n".join(line.rpartition("lands: ")[2] for line in complaints("", tmp_path))
    assert complaints(landed, tmp_path) == []
    # WHEN
    (tmp_path / "0001_a.sql").write_text("SELECT 1 -- with a comment")
    (tmp_path / "0002_b.sql").unlink()
    (tmp_path / "0004_d.sql").write_text("SELECT 4")
    # THEN
    edited, missing, new = complaints(landed, tmp_path)
    assert edited.startswith("0001_a.sql has landed, and was edited")
    assert edited.endswith("write what it is to do into a new migration")
    assert missing.startswith("0002_b.sql has landed, and was taken away")
    assert new.endswith("  0004_d.sql")
