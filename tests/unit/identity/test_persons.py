"""The words that a stranger reads of a person."""

from __future__ import annotations

import pytest
from skillroute.identity.model import Person
from skillroute.identity.persons import Persons


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("ann", ("“ann”", None)),
        ("ann@acme.test", ("“ann@acme.test”", None)),
        ("104857600000000000001", ("a person", "104857600000000000001")),
        ("5F7C8EC7C33C6C004BBAFE82", ("a person", "5F7C8EC7C33C6C004BBAFE82")),
        ("google-oauth2|1048576", ("a person", "google-oauth2|1048576")),
    ],
)
def test_a_subject_that_is_no_name_is_not_shown_as_one(name: str, words: tuple[str, str | None]) -> None:
    assert Persons().words(Person(None, name)) == words


def test_on_a_laptop_it_is_whoever_uses_it() -> None:
    assert Persons("laptop").words(Person(None, "laptop")) == ("all who use this Skillroute", None)
    assert Persons().words(Person(None, "laptop")) == ("“laptop”", None)
