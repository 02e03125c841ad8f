"""Where logins are kept: the keyring where it works, else files that their owner alone can read."""

from __future__ import annotations

import json
import stat
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest
from skillroute.core.errors.model import SecretUnavailable
from skillroute.identity.model import Tokens
from skillroute_local.errors import LocalError
from skillroute_local.server_logins.model import ServerLogin, key_of
from skillroute_local.server_logins.store import LoginStore, default_folder

URL = "https://notes.test/mcp"
CLIENT = {"client_id": "c", "auth_method": "none", "issuer": "https://a.test", "redirect_uri": "http://127.0.0.1:1/"}
TOKENS = Tokens("access-1", "refresh-1", URL, "https://a.test", "https://a.test/token", "", CLIENT)
LOGIN = ServerLogin("notes", URL, CLIENT, TOKENS, ("read",), 10.0, 5.0)


class Keyring:
    """A keyring of the system's.

    Attributes
    ----------
    most : int
        The longest text that it keeps: a longer one is refused, as that of Windows does.
    """

    def __init__(self, most: int = 100_000) -> None:
        self.most = most
        self.kept: dict[tuple[str, str], str] = {}

    def set_password(self, service: str, name: str, text: str) -> None:
        if len(text) > self.most:
            raise OSError("too long")
        self.kept[service, name] = text

    def get_password(self, service: str, name: str) -> str | None:
        return self.kept.get((service, name))

    def delete_password(self, service: str, name: str) -> None:
        del self.kept[service, name]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "logins"


@pytest.fixture
def store(folder: Path) -> LoginStore:
    return LoginStore(folder)


@pytest.fixture
def keyring(monkeypatch: pytest.MonkeyPatch) -> Keyring:
    keyring = Keyring()
    monkeypatch.setitem(sys.modules, "keyring", keyring)
    return keyring


@pytest.fixture
def no_keyring(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "keyring", None)


@pytest.mark.usefixtures("no_keyring")
def test_without_a_keyring_a_login_is_in_a_file_of_its_owners_alone(store: LoginStore, folder: Path) -> None:
    store.put(LOGIN)
    assert store.get("notes", URL) == LOGIN
    [file] = folder.iterdir()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    file.chmod(0o640)
    with pytest.raises(SecretUnavailable, match=f"chmod 600 {file}"):
        store.get("notes", URL)


def test_with_a_keyring_no_file_has_a_token(store: LoginStore, folder: Path, keyring: Keyring) -> None:
    store.put(LOGIN)
    assert store.get("notes", URL) == LOGIN
    [file] = folder.iterdir()
    assert json.loads(file.read_text()) == {"server": "notes", "url": URL, "kept_in": "keyring", "login": None}
    [text] = keyring.kept.values()
    assert "access-1" in text
    store.delete(LOGIN)
    assert (keyring.kept, list(folder.iterdir()), store.get("notes", URL)) == ({}, [], None)


def test_what_a_keyring_does_not_take_is_in_a_file_and_an_older_login_not_in_it(
    store: LoginStore, keyring: Keyring
) -> None:
    store.put(LOGIN)
    keyring.most = 10
    newer = ServerLogin("notes", URL, CLIENT, TOKENS, ("read", "write"))
    store.put(newer)
    assert keyring.kept == {}
    assert store.get("notes", URL) == newer


def test_a_keyring_that_keeps_nothing_and_says_so_not_is_not_believed(
    store: LoginStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    null = SimpleNamespace(set_password=lambda *_: None, get_password=lambda *_: None)
    monkeypatch.setitem(sys.modules, "keyring", null)
    store.put(LOGIN)
    assert store.get("notes", URL) == LOGIN


def locked_away(keyring: Keyring) -> None:
    keyring.get_password = None  # type: ignore[assignment,method-assign]


def uninstalled(_: Keyring) -> None:
    sys.modules["keyring"] = None  # type: ignore[assignment]


@pytest.mark.parametrize(
    ("happens", "said"),
    [
        (lambda keyring: keyring.kept.clear(), r"is not in the system's keyring any more: delete .*json and log in"),
        (locked_away, r"cannot be read \(TypeError\): unlock it, or delete .*json and log in again"),
        (uninstalled, r"the package keyring is gone"),
    ],
)
def test_a_login_that_the_keyring_lost_is_told_with_the_remedy(
    store: LoginStore, keyring: Keyring, happens: Callable[[Keyring], object], said: str
) -> None:
    store.put(LOGIN)
    happens(keyring)
    with pytest.raises(LocalError, match=said):
        store.get("notes", URL)


@pytest.mark.usefixtures("no_keyring")
def test_a_file_that_is_no_login_is_named(store: LoginStore, folder: Path) -> None:
    store.put(LOGIN)
    [file] = folder.iterdir()
    for text in ("{", "[]", "{}", '{"kept_in": "file", "login": null}', '{"kept_in": "file", "login": {"scopes": 1}}'):
        file.write_text(text)
        with pytest.raises(LocalError, match=f"{file} is no login any more: delete it and log in again"):
            store.get("notes", URL)


@pytest.mark.usefixtures("no_keyring")
def test_a_login_that_is_too_large_leaves_the_one_before(store: LoginStore, folder: Path) -> None:
    store.put(LOGIN)
    with pytest.raises(LocalError, match="larger than 65536 bytes"):
        store.put(ServerLogin("notes", URL, CLIENT, TOKENS, ("x" * 70_000,)))
    assert store.get("notes", URL) == LOGIN
    assert len(list(folder.iterdir())) == 1


def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    store = LoginStore(tmp_path / "file")
    with pytest.raises(LocalError, match=r"cannot be written \(.*\): set SKILLROUTE_HOME"):
        store.put(LOGIN)
    with pytest.raises(LocalError, match=r"cannot be written \(.*\): set SKILLROUTE_HOME"), store.locked("notes", URL):
        pytest.fail("it was locked")


def test_the_folder_is_that_of_the_home_or_of_the_users_configuration(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SKILLROUTE_HOME", "/home-of-it")
    assert default_folder() == Path("/home-of-it/logins")
    monkeypatch.delenv("SKILLROUTE_HOME")
    monkeypatch.setenv("XDG_CONFIG_HOME", "/configuration")
    assert default_folder() == Path("/configuration/skillroute/logins")


def test_another_name_or_address_is_another_login() -> None:
    assert len({key_of(name, url) for name in ("a", "b") for url in ("https://a", "https://b")}) == 4
    assert "access-1" not in repr(LOGIN)
    assert "refresh-1" not in repr(LOGIN)
