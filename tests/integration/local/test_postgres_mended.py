"""EmbeddedPostgres where something was lost or the disk was full: mended, or begun anew; data are never given up."""

from __future__ import annotations

import shutil
import stat
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from skillroute_local.errors import LocalError, ProgramError
from skillroute_local.postgres import EmbeddedPostgres
from skillroute_local.postgres_programs import Programs

from tests.temporary import temporary_directory

Query = Callable[..., list[list[Any]]]
MIB = 1024 * 1024


@pytest.fixture
def kept(data_dir: Path, query: Query) -> str:
    """A cluster with a row in it, and the URL that it had."""
    with EmbeddedPostgres(data_dir, durable=False) as server:
        query(server.url, "CREATE TABLE kept AS SELECT 7 AS n")
        return server.url


class TestTheLostPassword:
    @pytest.mark.parametrize("found", [None, "", "that of another cluster"])
    def test_a_new_one_is_set_and_the_data_stay(
        self, data_dir: Path, kept: str, query: Query, found: str | None
    ) -> None:
        password = data_dir / "password"
        password.unlink()
        if found is not None:
            password.write_text(found)

        with EmbeddedPostgres(data_dir, durable=False) as server:
            assert query(server.url, "SELECT n FROM kept") == [[7]]
            assert server.url.partition("@")[0] != kept.partition("@")[0]
            assert stat.S_IMODE(password.stat().st_mode) == 0o600
            url = server.url
        with EmbeddedPostgres(data_dir, durable=False) as again:
            assert again.url.partition("@")[0] == url.partition("@")[0], "it is kept from then on"

    def test_of_a_server_that_was_left_running_it_is_set_as_well(self, data_dir: Path, kept: str, query: Query) -> None:
        left = EmbeddedPostgres(data_dir, durable=False).start()
        (data_dir / "password").unlink()
        with pytest.raises(LocalError, match="start again, which sets a new one"):
            _ = left.url

        with EmbeddedPostgres(data_dir, durable=False) as server:
            assert not server.adopted
            assert query(server.url, "SELECT n FROM kept") == [[7]]

    def test_of_a_server_that_was_killed_it_is_set_as_well(
        self, data_dir: Path, kept: str, query: Query, kill: Callable[[int], None]
    ) -> None:
        kill(EmbeddedPostgres(data_dir, durable=False).start().pid)
        (data_dir / "password").unlink()

        with EmbeddedPostgres(data_dir, durable=False) as server:
            assert query(server.url, "SELECT n FROM kept") == [[7]]

    def test_where_none_can_be_set_the_old_file_stays_and_it_says_why(
        self, data_dir: Path, kept: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        (data_dir / "password").write_text("a guess")
        with monkeypatch.context() as patch:
            patch.setattr("skillroute_local.postgres_cluster.NAME", "nobody_of_this_name")
            with pytest.raises(ProgramError, match='role "nobody_of_this_name" does not exist'):
                EmbeddedPostgres(data_dir, durable=False).start()
        assert (data_dir / "password").read_text() == "a guess"


class TestTheFirstStart:
    def test_a_database_that_was_not_created_is_an_error_and_the_next_start_begins_anew(
        self, data_dir: Path, query: Query, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        # GIVEN a cluster in which nothing can be created: `postgres --single` goes on after errors, and ends with 0
        run = Programs.run

        def in_a_closed_folder(self: Programs, name: str, *args: str, text: str | None = None) -> list[str]:
            printed = run(self, name, *args, text=text)
            if name == "initdb":
                (data_dir / "cluster.new" / "base").chmod(0o500)
            return printed

        with monkeypatch.context() as patch:
            patch.setattr(Programs, "run", in_a_closed_folder)
            # WHEN, THEN
            with pytest.raises(ProgramError, match=r"^postgres failed: could not create directory .*Permission denied"):
                EmbeddedPostgres(data_dir, durable=False).start()
        assert not (data_dir / "cluster").exists()

        with EmbeddedPostgres(data_dir, durable=False) as server:
            assert query(server.url, "SELECT current_database()::text") == [["skillroute"]]

    def test_a_cluster_that_an_earlier_version_left_without_a_database_gets_one(
        self, data_dir: Path, query: Query
    ) -> None:
        with EmbeddedPostgres(data_dir, durable=False) as server:
            query(server.url_of("template1"), "DROP DATABASE skillroute")

        with EmbeddedPostgres(data_dir, durable=False) as server:
            assert query(server.url, "SELECT current_database()::text") == [["skillroute"]]

    def test_a_folder_that_is_no_whole_cluster_is_left_alone(self, data_dir: Path, kept: str) -> None:
        (data_dir / "cluster" / "PG_VERSION").unlink()
        with pytest.raises(LocalError, match=r"PG_VERSION is missing: put back .* or move .* away to begin anew"):
            EmbeddedPostgres(data_dir, durable=False).start()
        assert (data_dir / "cluster" / "base").exists()


class TestAFullDisk:
    @pytest.fixture
    def disk(self) -> Iterator[Path]:
        """A file system of 400 MiB, which only root may mount."""
        with temporary_directory("skillroute disk ") as path:
            mount = [shutil.which("mount") or "mount", "-t", "tmpfs", "-o", "size=400m,mode=711", "none", path]
            if subprocess.run(mount, check=False, capture_output=True).returncode != 0:
                pytest.skip("a small file system can only be mounted as root")
            yield Path(path)
            subprocess.run([shutil.which("umount") or "umount", path], check=True)

    @pytest.mark.parametrize("free_mib", [0, 30, 40])
    def test_at_the_first_start_keeps_no_later_one_from_working(self, disk: Path, query: Query, free_mib: int) -> None:
        # GIVEN a disk with room for a part of a cluster
        data_dir, filling = disk / f"with {free_mib}", disk / "filling"
        left = shutil.disk_usage(disk).free - free_mib * MIB
        with filling.open("wb") as file:
            file.write(b"\0" * left)
        # WHEN a first start fails, or just gets by
        said = ""
        try:
            EmbeddedPostgres(data_dir).start().stop()
        except LocalError as error:
            said = str(error)
        # AND there is room again
        filling.unlink()
        # THEN
        with EmbeddedPostgres(data_dir) as server:
            assert query(server.url, "SELECT current_database()::text") == [["skillroute"]]
        assert not (data_dir / "cluster.new").exists()
        assert "No space left on device" in said or free_mib >= 40, said
