"""Where logins are kept: in the system's keyring where it works, else in files that their owner alone can read.

    logins/
    ├── <key>.json   the server's name and address, and the login itself where the keyring does not have it
    └── <key>.lock   locked by the process that refreshes its tokens, or replaces them

Never in `connect.sqlite3`, which is a cache. The lock is the kernel's: it is released however the process ends.
"""

from __future__ import annotations

import json
import os
import secrets
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from skillroute.identity.private_file import MAX_BYTES, read_private

from skillroute_local.errors import LocalError
from skillroute_local.server_logins.model import ServerLogin, key_of

_SERVICE = "skillroute-logins"
_LOCK_WAIT_S, _LOCK_LOOK_S = 30.0, 0.05
"""A process that refreshes needs 8 s at most; one that was stopped meanwhile must not stop the others for ever."""


def default_folder() -> Path:
    """Return where logins are kept: in SKILLROUTE_HOME where that is set, else in the user's configuration."""
    if home := os.environ.get("SKILLROUTE_HOME"):
        return Path(home).expanduser() / "logins"
    return Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config") / "skillroute" / "logins"


class LoginStore:
    """Logins by the names and addresses of their servers. Safe to use from several threads and processes."""

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = default_folder() if folder is None else folder

    def has(self, server: str, url: str) -> bool:
        """Return whether something is kept of a server, without a look at what."""
        return self._path(key_of(server, url)).exists()

    def get(self, server: str, url: str) -> ServerLogin | None:
        """Return the login at a server. Raises `LocalError` and `SecretUnavailable`, naming file and remedy."""
        path = self._path(key := key_of(server, url))
        try:
            about = json.loads(_bytes_of(path))
            login = about["login"]
            if about["kept_in"] == "keyring":
                login = json.loads(_of_keyring(key, path))
            return ServerLogin.read(login)
        except FileNotFoundError:
            return None
        except (ValueError, TypeError, KeyError):
            raise LocalError(f"{path} is no login any more: delete it and log in again") from None

    def put(self, login: ServerLogin) -> None:
        """Keep a login in the place of what was kept of its server."""
        text = json.dumps(login.written())
        about: dict[str, Any] = {"server": login.server, "url": login.url, "kept_in": "keyring", "login": None}
        if not _into_keyring(login.key, text):
            about |= {"kept_in": "file", "login": login.written()}
        self._write(self._path(login.key), about)

    def delete(self, login: ServerLogin) -> None:
        """Delete a login, its registration as well."""
        _out_of_keyring(login.key)
        self._path(login.key).unlink(missing_ok=True)

    @contextmanager
    def locked(self, server: str, url: str) -> Iterator[None]:
        """Keep other processes, and threads, from a login for the length of a block. Raises `LocalError`."""
        path = self._folder / f"{key_of(server, url)}.lock"
        ends = time.monotonic() + _LOCK_WAIT_S
        try:
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
        except OSError as error:
            raise self._unwritable(error) from None
        with os.fdopen(descriptor, "r+b") as file:
            while not _lock(file.fileno()):
                if time.monotonic() > ends:
                    raise LocalError(f"another process has held {path} for {_LOCK_WAIT_S:g} s: end it and try again")
                time.sleep(_LOCK_LOOK_S)
            yield

    def _path(self, key: str) -> Path:
        return self._folder / f"{key}.json"

    def _write(self, path: Path, about: Mapping[str, Any]) -> None:
        """Write a file whole or not at all, closed to others from the first byte."""
        data = json.dumps(about).encode("utf-8")
        if len(data) > MAX_BYTES:
            raise LocalError(f"the login at {about['server']} is larger than {MAX_BYTES} bytes and cannot be kept")
        new = path.with_suffix(f".{secrets.token_hex(8)}")
        try:
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            with os.fdopen(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())  # a refresh token that is spent has this one alone to follow it
            new.replace(path)
        except OSError as error:
            with suppress(OSError):
                new.unlink(missing_ok=True)
            raise self._unwritable(error) from None

    def _unwritable(self, error: OSError) -> LocalError:
        return LocalError(f"{self._folder} cannot be written ({error.strerror}): set SKILLROUTE_HOME")


def _bytes_of(path: Path) -> bytes:
    if not path.exists() or sys.platform == "win32":  # there a file has no mode: its folder is the user's
        return path.read_bytes()
    return read_private(path)


def _of_keyring(key: str, path: Path) -> str:
    try:
        import keyring  # noqa: PLC0415 (an extra)

        found = keyring.get_password(_SERVICE, key)
    except Exception as error:  # noqa: BLE001 (its backends raise what they like)
        why = "the package keyring is gone" if isinstance(error, ImportError) else type(error).__name__
        raise LocalError(
            f"the login is in the system's keyring, which cannot be read ({why}): unlock it, or delete {path} and log "
            "in again"
        ) from None
    if not found:
        raise LocalError(f"the login is not in the system's keyring any more: delete {path} and log in again")
    return str(found)


def _into_keyring(key: str, text: str) -> bool:
    """Return whether the system's keyring has a text now: some take none, or none that long, and say so or not."""
    with suppress(Exception):
        import keyring  # noqa: PLC0415

        keyring.set_password(_SERVICE, key, text)
        if keyring.get_password(_SERVICE, key) == text:
            return True
    _out_of_keyring(key)
    return False


def _out_of_keyring(key: str) -> None:
    with suppress(Exception):  # there is none, or nothing in it
        import keyring  # noqa: PLC0415

        keyring.delete_password(_SERVICE, key)


def _lock(descriptor: int) -> bool:
    """Lock a file for this process, until it is closed; return whether no other one has it."""
    try:
        if sys.platform == "win32":
            import msvcrt  # noqa: PLC0415

            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        else:
            import fcntl  # noqa: PLC0415 (Windows has none)

            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
