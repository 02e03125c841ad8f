"""What a project, a product, an agent and a message may look like, and how what is wrong is named."""

from __future__ import annotations

import unicodedata
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from skillroute.core.errors.model import InvalidInput
from skillroute.mail.model import MAX_TS, MailAgent, MailKind, Message, Product, Project, agent_key
from skillroute.mail.schemas import MAIL_FIELDS, MailGiven, read_mail

NOW = 1_767_604_320_000_000
MESSAGE: dict[str, Any] = {"key": "m", "project": "p", "from": "BlueLake", "to": ["GreenHill"], "subject": "S"}
SMALLEST: dict[MailKind, dict[str, Any]] = {
    "project": {"key": "p", "name": "P"},
    "product": {"key": "p", "name": "P"},
    "agent": {"name": "BlueLake"},
    "message": MESSAGE,
}
EVERY = pytest.mark.parametrize("kind", list(SMALLEST))
KEYED = pytest.mark.parametrize("kind", ["project", "product", "message"])


def read(kind: MailKind, **said: Any) -> MailGiven:
    return read_mail(kind, SMALLEST[kind] | said, now_ts=NOW)


def refusal(kind: MailKind, **said: Any) -> tuple[str, str]:
    with pytest.raises(InvalidInput) as refused:
        read(kind, **said)
    return refused.value.field, refused.value.message


def test_a_project_is_read() -> None:
    assert read("project", name=" P ", description=" d ").content == Project("p", "P", "d")
    assert read("project", description=None).content == Project("p", "P")


def test_a_product_is_read_with_each_project_once() -> None:
    assert read("product", projects=["a", "b", "a"]).content == Product("p", "P", "", ("a", "b"))
    assert read("product", projects=None).content == Product("p", "P")


def test_an_agent_is_read() -> None:
    given = read("agent", name=" BlueLake ", description="d", contact=" c ", projects=["a"])
    assert given.content == MailAgent("BlueLake", "d", "c", ("a",))
    assert (given.key, given.shown_key) == ("bluelake", "BlueLake")


def test_a_message_is_read() -> None:
    said = {
        "to": ["A", "B"],
        "cc": ["C"],
        "bcc": ["D"],
        "subject": " S ",
        "body": " b ",
        "thread_id": " t",
        "importance": "urgent",
        "ack_required": True,
        "created_ts": 5,
    }
    assert read("message", **said).content == Message(
        key="m",
        project="p",
        sender="BlueLake",
        to=("A", "B"),
        cc=("C",),
        bcc=("D",),
        subject="S",
        body=" b ",
        created_ts=5,
        thread_id=" t",
        importance="urgent",
        ack_required=True,
    )


def test_a_message_without_a_time_is_of_now() -> None:
    given = read("message", created_ts=None, cc=None, bcc=None, thread_id=None)
    assert isinstance(given.content, Message)
    assert (given.content.created_ts, given.is_dated) == (NOW, False)
    assert read("message", created_ts=0).is_dated


def test_whoever_writes_a_message_may_get_it_too() -> None:
    assert read("message", to=["BlueLake"])


@EVERY
@pytest.mark.parametrize("raw", [None, 7, [], "x"])
def test_what_is_no_object_is_refused(kind: MailKind, raw: object) -> None:
    with pytest.raises(InvalidInput) as refused:
        read_mail(kind, raw, now_ts=NOW)
    assert (refused.value.field, refused.value.message) == (kind, "must be an object")


@EVERY
def test_what_is_not_known_is_left_out(kind: MailKind) -> None:
    assert read(kind, org_id="acme", threadid="t") == read(kind)
    assert [warning.field for warning in MAIL_FIELDS[kind].warnings({**SMALLEST[kind], "threadid": "t"})] == [
        "threadid"
    ]


@EVERY
def test_what_is_missing_is_named(kind: MailKind) -> None:
    for name in SMALLEST[kind]:
        with pytest.raises(InvalidInput) as refused:
            read_mail(kind, {key: value for key, value in SMALLEST[kind].items() if key != name}, now_ts=NOW)
        assert refused.value.field == name


@KEYED
@pytest.mark.parametrize("key", ["", "-a", ".a", "a b", "a\n", "ä", "a?", "x" * 129, 7, None])
def test_a_key_that_is_wrong_is_refused(kind: MailKind, key: object) -> None:
    assert refusal(kind, key=key)[0] == "key"


@KEYED
@pytest.mark.parametrize("key", ["a", "A.b_c-d/e", "7", "x" * 128])
def test_a_key_has_letters_digits_and_what_may_stand_between_them(kind: MailKind, key: str) -> None:
    assert read(kind, key=key).key == key


def test_colons_are_for_the_keys_of_messages() -> None:
    assert read("message", key="imap:12:7").key == "imap:12:7"
    assert refusal("project", key="imap:12")[0] == "key"


WRONG: list[tuple[MailKind, str, object, str]] = [
    ("project", "name", "", "name"),
    ("project", "name", " ", "name"),
    ("project", "name", "x" * 257, "name"),
    ("project", "name", 7, "name"),
    ("project", "description", "x" * 50_001, "description"),
    ("product", "projects", "p", "projects"),
    ("product", "projects", ["p", "?"], "projects.1"),
    ("product", "projects", ["p"] * 1001, "projects"),
    ("agent", "name", "a\tb", "name"),
    ("agent", "name", "a\u0085b", "name"),
    ("agent", "contact", "x" * 1025, "contact"),
    ("agent", "projects", [7], "projects.0"),
    ("message", "project", "a b", "project"),
    ("message", "from", "", "from"),
    ("message", "from", ["A"], "from"),
    ("message", "to", [], "to"),
    ("message", "to", "GreenHill", "to"),
    ("message", "to", ["A", ""], "to.1"),
    ("message", "to", ["A", "B", 7], "to.2"),
    ("message", "to", [f"a{number}" for number in range(101)], "to"),
    ("message", "cc", [f"a{number}" for number in range(101)], "cc"),
    ("message", "bcc", ["x" * 257], "bcc.0"),
    ("message", "subject", "", "subject"),
    ("message", "subject", " \n", "subject"),
    ("message", "subject", "x" * 1001, "subject"),
    ("message", "body", "x" * 100_001, "body"),
    ("message", "body", None, "body"),
    ("message", "thread_id", "", "thread_id"),
    ("message", "thread_id", "x" * 257, "thread_id"),
    ("message", "importance", "High", "importance"),
    ("message", "importance", None, "importance"),
    ("message", "ack_required", "yes", "ack_required"),
    ("message", "ack_required", 1, "ack_required"),
    ("message", "created_ts", 1.5, "created_ts"),
    ("message", "created_ts", True, "created_ts"),
    ("message", "created_ts", "2026-01-01", "created_ts"),
    ("message", "created_ts", MAX_TS + 1, "created_ts"),
    ("message", "created_ts", -MAX_TS - 1, "created_ts"),
    ("message", "body", "a\0b", "body"),
    ("message", "to", ["a\ud800"], "to.0"),
]


@pytest.mark.parametrize(
    ("kind", "name", "value", "field"),
    WRONG,
    ids=[f"{kind}-{name}-{str(value)[:12]}" for kind, name, value, _ in WRONG],
)
def test_what_is_wrong_is_named(kind: MailKind, name: str, value: object, field: str) -> None:
    assert refusal(kind, **{name: value})[0] == field


LIMITS: list[tuple[MailKind, dict[str, Any]]] = [
    ("project", {"name": "x" * 256}),
    ("message", {"subject": "x" * 1000, "body": "x" * 100_000, "thread_id": "x" * 256}),
    ("message", {"to": [f"a{n}" for n in range(100)], "cc": [f"b{n}" for n in range(100)], "bcc": ["c"]}),
    ("message", {"created_ts": MAX_TS}),
    ("message", {"created_ts": -MAX_TS}),
    ("message", {"body": ""}),
]


@pytest.mark.parametrize(("kind", "said"), LIMITS)
def test_what_is_just_within_the_limits_is_taken(kind: MailKind, said: dict[str, Any]) -> None:
    assert read(kind, **said)


@pytest.mark.parametrize(
    ("said", "field", "first"),
    [
        ({"to": ["A", "b", "a"]}, "to.2", "to.0"),
        ({"to": ["A"], "cc": ["B", "a"]}, "cc.1", "to.0"),
        ({"to": ["A"], "cc": ["B"], "bcc": ["\uff22"]}, "bcc.0", "cc.0"),
    ],
)
def test_each_agent_gets_a_message_once(said: dict[str, Any], field: str, first: str) -> None:
    assert refusal("message", **said) == (field, f"is the same agent as {first}: name each recipient once")


def test_a_name_that_grows_when_names_are_compared_is_refused() -> None:
    # One character that NFKC makes eighteen of.
    field, why = refusal("agent", name="\ufdfa" * 20)
    assert (field, "360 characters as names are compared; at most 256" in why) == ("name", True)


@pytest.mark.parametrize("invisible", ["\u200b", "\u00ad", "\u202e", "\ufeff", "\U000e0041"])
def test_a_name_with_a_character_that_cannot_be_seen_is_refused(invisible: str) -> None:
    told = f"invisible characters are not allowed: U+{ord(invisible):04X}"
    for kind, name, value, place in (
        ("agent", "name", f"Blue{invisible}Lake", "name"),
        ("message", "from", f"BlueLake{invisible}", "from"),
        ("message", "cc", ["A", f"{invisible}BlueLake"], "cc.1"),
    ):
        field, why = refusal(kind, **{name: value})  # type: ignore[arg-type]
        assert (field, told in why) == (place, True)


def test_a_message_nested_without_end_is_refused() -> None:
    nested: list[Any] = []
    for _ in range(100):
        nested = [nested]
    assert "nested deeper" in refusal("message", to=nested)[1]


@given(st.text(max_size=20))
def test_a_name_that_is_taken_is_one_that_can_be_stored(name: str) -> None:
    try:
        content = read("agent", name=name).content
    except InvalidInput as error:
        assert error.field == "name"
        return
    assert isinstance(content, MailAgent)
    content.name.encode()
    assert content.name.strip()
    assert agent_key(content.name)
    assert "\0" not in content.name
    assert all(unicodedata.category(character) not in {"Cc", "Cf"} for character in content.name)
