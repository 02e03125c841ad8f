"""Archives: `.zip` and `.tar.gz`, unpacked into a folder of their own within bounds. Nothing gets out of it."""

from __future__ import annotations

import gzip
import lzma
import shutil
import tarfile
import tempfile
import weakref
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any, cast

from skillroute_local.importing.content import SKILL_FILE
from skillroute_local.importing.model import Unreadable
from skillroute_local.importing.skill_folders import LEFT_OUT

MAX_MEMBERS = 50_000
"""Files and folders of an archive."""

MAX_UNPACKED_BYTES = 512 * 1024 * 1024
"""Of all files together, counted while they are unpacked: the sizes that an archive claims are not trusted."""

_ENDINGS = (".tar.gz", ".tgz", ".zip", ".skill", ".whl")
_DAMAGE = (zipfile.BadZipFile, tarfile.TarError, zlib.error, lzma.LZMAError, EOFError)


class Unpacked:
    """A temporary folder with what an archive holds; it is deleted when nothing refers to this any more.

    Parameters
    ----------
    archive : Path

    Attributes
    ----------
    root : Path
        The folder: that of the archive, or the only one in it, as archives of repositories have.
    left_out : list of str
        Links and devices, which are not unpacked.

    Raises
    ------
    Unreadable
        It is none, is damaged or encrypted, names files outside itself, or has more than the bounds.
    """

    def __init__(self, archive: Path) -> None:
        folder = tempfile.mkdtemp(prefix="skillroute-import-")
        weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)
        self._archive = archive
        self.left_out: list[str] = []
        top = Path(folder).resolve() / _stem(archive.name)
        top.mkdir()
        try:
            self._unpack(top)
        except FileExistsError as error:
            raise Unreadable(archive.name, f"has a file twice: {Path(error.filename).relative_to(top)}") from None
        except (*_DAMAGE, OSError, NotImplementedError, RuntimeError, ValueError) as error:
            raise Unreadable(archive.name, f"cannot be unpacked: {error}") from None
        inner = list(top.iterdir())
        is_wrapped = len(inner) == 1 and inner[0].is_dir() and inner[0].name != SKILL_FILE
        self.root = inner[0] if is_wrapped else top

    def _unpack(self, top: Path) -> None:
        left = MAX_UNPACKED_BYTES
        for nth, (name, file) in enumerate(_members(self._archive)):
            if nth >= MAX_MEMBERS:
                raise Unreadable(self._archive.name, f"has more than {MAX_MEMBERS} files: name one that holds skills")
            parts = _parts(self._archive, name)
            if file is None:
                self.left_out.append(f"{self._archive.name}: left out: {name[:200]!r}: is a link or no file")
            elif parts and not LEFT_OUT.intersection(parts):
                path = top.joinpath(*parts)
                path.parent.mkdir(parents=True, exist_ok=True)
                with path.open("xb") as to:
                    left = self._copied(file, to, left)

    def _copied(self, file: IO[bytes], to: IO[bytes], left: int) -> int:
        """Copy a file, and return how many bytes may follow."""
        while block := file.read(1 << 16):
            left -= len(block)
            if left < 0:
                most = f"{MAX_UNPACKED_BYTES >> 20} MB"
                raise Unreadable(self._archive.name, f"has more than {most} unpacked: name one that holds skills")
            to.write(block)
        return left


def _members(archive: Path) -> Iterator[tuple[str, IO[bytes] | None]]:
    """Yield the names of files with their contents, None in place of what is no file."""
    if zipfile.is_zipfile(archive):
        with zipfile.ZipFile(archive) as zipped:
            for entry in zipped.infolist():
                kind = entry.external_attr >> 28
                if entry.is_dir():
                    continue
                if kind not in {0, 0o10}:  # what is no regular file in Unix
                    yield entry.filename, None
                    continue
                with zipped.open(entry) as file:
                    yield entry.filename, file
        return
    with (
        gzip.open(archive) as unzipped,
        tarfile.open(fileobj=cast("Any", _Bounded(unzipped, archive)), mode="r|") as packed,
    ):
        for member in packed:
            if not member.isdir():
                yield member.name, packed.extractfile(member) if member.isreg() else None


class _Bounded:
    """A stream that ends with an error where it has more than the bound: headers of an archive may claim any length."""

    def __init__(self, file: gzip.GzipFile, archive: Path) -> None:
        self._file = file
        self._archive = archive
        self._left = MAX_UNPACKED_BYTES + MAX_MEMBERS * 1024

    def read(self, size: int = -1) -> bytes:
        """Return the next bytes. Raises `Unreadable`."""
        block = self._file.read(min(size, 1 << 20) if size >= 0 else 1 << 20)
        self._left -= len(block)
        if self._left < 0:
            raise Unreadable(self._archive.name, f"has more than {MAX_UNPACKED_BYTES >> 20} MB unpacked")
        return block


def _parts(archive: Path, name: str) -> tuple[str, ...]:
    """Return the segments of a member's name. Raises `Unreadable` where it leads out of the archive."""
    parts = tuple(part for part in name.split("/") if part not in {"", "."})
    if name.startswith("/") or ".." in parts or "\\" in name or "\0" in name or ":" in "".join(parts[:1]):
        raise Unreadable(archive.name, f"names a file outside itself, {name[:200]!r}: nothing of it is read")
    return parts


def _stem(name: str) -> str:
    return next((name[: -len(ending)] for ending in _ENDINGS if name.lower().endswith(ending)), name) or "skills"
