"""Long answers that are kept aside: nothing of them is lost, they are bounded, and each session has its own."""

from __future__ import annotations

import json
import re
import sys
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from skillroute.mcp.tool import ToolError
from skillroute_local.connect import kept
from skillroute_local.connect.kept import KEPT_S, MAX_ANSWERS, KeptAnswers

PICTURE = {"type": "image", "data": "AAAA", "mimeType": "image/png"}
LINK = {"type": "resource_link", "uri": "file:///a", "name": "a"}


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def answer(text: str, **more: Any) -> dict[str, Any]:
    return {"content": [{"type": "text", "text": text}], **more}


def id_of(shortened: dict[str, Any]) -> str:
    found = re.search(r'id "([^"]+)"', shortened["content"][-1]["text"])
    assert found
    return found[1]


def texts(result: dict[str, Any]) -> list[str]:
    return [block["text"] for block in result["content"]]


def whole(answers: KeptAnswers, shortened: dict[str, Any], session: str | None, limit: int | None) -> str:
    """Return what an agent puts together that reads on until the end."""
    text = texts(shortened)[0]
    while True:
        part, note = texts(answers.read({"id": id_of(shortened), "offset": len(text), "limit": limit}, session))
        text += part
        if note.endswith("this is the end.]"):
            return text
        assert note.endswith(f"read on at offset {len(text)}.]")


@given(st.text(min_size=11, max_size=200), st.none() | st.integers(1, 30))
def test_an_answer_is_read_to_its_end(text: str, limit: int | None) -> None:
    answers = KeptAnswers(10)
    shortened = answers.shortened(answer(text, isError=True), "a")
    assert texts(shortened)[0] == text[:10]
    assert shortened["isError"] is True
    assert f"has {len(text):,} characters" in texts(shortened)[1]
    assert whole(answers, shortened, "a", limit) == text


@pytest.mark.parametrize(
    ("result", "text"),
    [
        (answer("x" * 9, structuredContent={}), None),
        (answer("x" * 9 + "\n{}", structuredContent={}), "x" * 9 + "\n{}\n{}"),
        (answer('{"a": "b" }', structuredContent={"a": "b"}), '{"a": "b" }'),
        ({"content": [], "structuredContent": {"a": "b" * 9}}, '{"a":"bbbbbbbbb"}'),
        ({"content": [PICTURE, {"type": "text", "text": "x" * 10}, PICTURE]}, None),
        ({"content": [LINK]}, json.dumps(LINK, separators=(",", ":"))),
        ({"content": [{"type": "resource", "resource": {"uri": "file:a", "text": "x" * 9}}]}, f"file:a\n{'x' * 9}"),
        ({"content": [{"type": "resource", "resource": {"uri": "file:a", "blob": "x" * 99}}]}, None),
    ],
)
def test_text_and_structured_content_count_once_and_pictures_do_not(result: dict[str, Any], text: str | None) -> None:
    answers = KeptAnswers(12 if text is None else 10)
    shortened = answers.shortened(result, "a")
    if text is None:
        assert shortened is result
    else:
        assert "structuredContent" not in shortened
        assert whole(answers, shortened, "a", None) == text


def test_what_is_no_text_stays() -> None:
    shortened = KeptAnswers(10).shortened({"content": [*answer("x" * 11)["content"], PICTURE], "_meta": {"a": 1}}, "a")
    assert shortened["content"][1] == PICTURE
    assert shortened["_meta"] == {"a": 1}


@pytest.mark.parametrize(("owner", "reader"), [("a", "b"), ("a", None), (None, "a"), ("a", "")])
def test_no_session_reads_anothers_answers(owner: str | None, reader: str | None) -> None:
    answers = KeptAnswers(10)
    id_ = id_of(answers.shortened(answer("x" * 11), owner))
    with pytest.raises(ToolError, match="There is no answer") as others:
        answers.read({"id": id_}, reader)
    with pytest.raises(ToolError) as unknown:
        answers.read({"id": "none"}, reader)
    assert str(others.value).replace(id_, "none") == str(unknown.value)
    assert texts(answers.read({"id": id_, "offset": 10}, owner))[0] == "x"


def test_answers_are_forgotten_some_time_after_they_were_last_read() -> None:
    clock = Clock()
    answers = KeptAnswers(10, clock)
    first, second = (id_of(answers.shortened(answer("x" * 11), "a")) for _ in range(2))
    clock.now = KEPT_S - 1
    answers.read({"id": first}, "a")
    clock.now = KEPT_S + 1
    answers.read({"id": first}, "a")
    with pytest.raises(ToolError):
        answers.read({"id": second}, "a")
    clock.now = 3 * KEPT_S
    answers.shortened(answer("x" * 11), "b")
    assert list(answers._kept) == ["b"], "nothing is left of a session that is gone"


def test_a_session_keeps_so_many_and_takes_none_from_another() -> None:
    answers = KeptAnswers(10)
    other = id_of(answers.shortened(answer("o" * 11), "other"))
    ids = [id_of(answers.shortened(answer("x" * 11), "a")) for _ in range(MAX_ANSWERS + 1)]
    with pytest.raises(ToolError):
        answers.read({"id": ids[0]}, "a")
    answers.read({"id": ids[1]}, "a")
    answers.read({"id": other}, "other")


def test_memory_is_bounded_and_the_session_that_takes_most_gives(monkeypatch: pytest.MonkeyPatch) -> None:
    size = sys.getsizeof("x" * 1_000)
    monkeypatch.setattr(kept, "MAX_SESSION_BYTES", 5 * size)
    monkeypatch.setattr(kept, "MAX_BYTES", 8 * size)
    answers = KeptAnswers(10)
    small = id_of(answers.shortened(answer("s" * 1_000), "small"))
    for session in ("a", "b", "c"):
        for _ in range(7):
            answers.shortened(answer("x" * 1_000), session)
            held = [sum(one.size for one in own.values()) for own in answers._kept.values()]
            assert sum(held) <= 8 * size
            assert max(held) <= 5 * size
    answers.read({"id": small}, "small")


def test_of_an_answer_that_is_too_long_to_be_kept_the_beginning_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept, "MAX_SESSION_BYTES", 1_000)
    answers = KeptAnswers(10)
    shortened = answers.shortened(answer("x" * 5_000), "a")
    assert "has 5,000 characters" in texts(shortened)[1]
    with pytest.raises(ToolError, match=r"offset must be less than 9\d\d, the characters that are kept"):
        answers.read({"id": id_of(shortened), "offset": 4_000}, "a")
    part, note = texts(answers.read({"id": id_of(shortened), "offset": 990 - 50}, "a"))
    assert part == "x" * 10
    assert "of 5,000" in note


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ({}, "id"),
        ({"id": 5}, r"id must be text of 1\.\.100 characters"),
        ({"id": "a" * 101}, r"id must be text of 1\.\.100 characters"),
        ({"id": "a", "offset": -1}, "offset"),
        ({"id": "a", "limit": 0}, "limit"),
    ],
)
def test_wrong_arguments_are_named(arguments: dict[str, Any], problem: str) -> None:
    with pytest.raises(ToolError, match=problem):
        KeptAnswers(10).read(arguments, "a")
