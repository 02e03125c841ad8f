"""Places of secrets: which an organisation may name, and what is read there."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from skillroute.core.errors.model import InvalidInput, SecretUnavailable
from skillroute.identity.places import MAX_SECRETS, SecretPlaces, org_part

ARN = "arn:aws:secretsmanager:eu-central-1:123456789012:secret:"


class Managed:
    """A secret of Secrets Manager that says where it was read."""

    made: list[tuple[str, str | None]]

    def __init__(self, arn: str, key: str | None) -> None:
        self.text = f"{arn.rpartition(':')[2]}#{key}"

    def read(self, *, again: bool = False) -> str:
        return self.text + "!" * again


CLOUD = SecretPlaces(prefix="s/", allows_local=False, managed=Managed)
LAPTOP = SecretPlaces(prefix="s/", allows_local=True)


@pytest.mark.parametrize(("org", "name"), [("acme", "s/acme/n-AbC"), (None, "s/+global/n"), ("a/b", "s/a=2Fb/n")])
def test_an_organisation_names_its_own_secrets(org: str | None, name: str) -> None:
    assert CLOUD.read(f"{ARN}{name}", org) == f"{name}#None"
    assert CLOUD.read(f"{ARN}{name}#key", org, again=True) == f"{name}#key!"


@pytest.mark.parametrize(
    "name", ["s/globex/n", "s/acme", "s/acmeX/n", "database", "s/+global/n", "../s/acme/n", "S/acme/n", "s/acme/n\n"]
)
def test_no_organisation_names_those_of_another_or_of_the_deployment(name: str) -> None:
    with pytest.raises(InvalidInput):
        CLOUD.check(f"{ARN}{name}", "acme", "secret")
    with pytest.raises(SecretUnavailable):
        CLOUD.read(f"{ARN}{name}", "acme")


@pytest.mark.parametrize("org", ["+global", "=2Bglobal", "global", "%2Bglobal"])
def test_no_organisation_is_spelt_as_what_is_global(org: str) -> None:
    assert org_part(org) != org_part(None)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("\u0100", "\x100"),
        ("\u20ac", " AC"),
        ("\U0001f600", "\u1f600"),
        ("a=2Fb", "a/b"),
        ("é", "e\u0301"),
        ("\ud800", "?"),
    ],
)
def test_no_two_organisations_are_spelt_alike(one: str, other: str) -> None:
    """Digits that follow an escaped letter are not taken for its own."""
    assert org_part(one) != org_part(other)
    assert re.fullmatch(r"(?:[A-Za-z0-9._@-]|=[0-9A-F]{2})+", org_part(one))


@pytest.mark.parametrize("place", ["keyring:n", "file:/etc/passwd", "file:relative", "n", "", "arn:aws:s3:::x"])
def test_in_a_shared_deployment_only_secrets_manager_is_asked(place: str) -> None:
    with pytest.raises(InvalidInput, match="secret: must say where the secret is: the ARN"):
        CLOUD.check(place, "acme", "secret")


def test_a_file_must_be_its_owners_alone(tmp_path: Path) -> None:
    path = tmp_path / "s"
    path.write_text(" hunter2\n")
    path.chmod(0o600)
    assert LAPTOP.read(f"file:{path}", None) == "hunter2"
    path.chmod(0o604)
    with pytest.raises(SecretUnavailable, match=f"chmod 600 {path}"):
        LAPTOP.read(f"file:{path}", None)


@pytest.mark.parametrize("text", ["", "a\nb", "é", "\xff"])
def test_a_secret_must_fit_into_a_header_and_is_not_quoted(tmp_path: Path, text: str) -> None:
    path = tmp_path / "s"
    path.write_bytes(text.encode("latin-1"))
    path.chmod(0o600)
    with pytest.raises(SecretUnavailable) as refused:
        LAPTOP.read(f"file:{path}", None)
    assert not text.strip() or text not in str(refused.value)


def test_the_keyring_is_asked_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    kept = {("skillroute", "notes"): "hunter2"}
    monkeypatch.setitem(
        sys.modules, "keyring", SimpleNamespace(get_password=lambda service, name: kept.get((service, name)))
    )
    assert LAPTOP.read("keyring:notes", None) == "hunter2"
    with pytest.raises(SecretUnavailable, match="keyring set skillroute other"):
        LAPTOP.read("keyring:other", None)
    monkeypatch.setitem(sys.modules, "keyring", None)
    with pytest.raises(SecretUnavailable, match=r"pip install 'skillroute\[keyring\]'"):
        LAPTOP.read("keyring:notes", None)


def test_as_many_secrets_are_remembered_as_are_bounded() -> None:
    for n in range(MAX_SECRETS + 5):
        CLOUD.read(f"{ARN}s/acme/{n}", "acme")
    assert len(CLOUD._made) == MAX_SECRETS
