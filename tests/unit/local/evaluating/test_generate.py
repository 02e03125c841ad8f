"""A first set of requests: which tools are drawn, and what becomes of what a model or a person says."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator

import pytest
from skillroute.core.errors.model import ClassifierAnswerInvalid, ClassifierUnavailable
from skillroute_local.evaluating.catalogue import Tool
from skillroute_local.evaluating.generate import Draft, by_chat, by_person, draw, names

from tests.doubles import FakeChat

CREATE = Tool("1", "calendar", "create_event", description="Creates an event.", arguments=("title", "start"))
SLEEP = Tool("2", "", "sleep")


def tools(**servers: int) -> list[Tool]:
    return [
        Tool(f"{server}{number}", server, f"n{number}") for server, count in servers.items() for number in range(count)
    ]


class TestDrawing:
    def test_every_server_gets_its_turn(self) -> None:
        # GIVEN a server with many tools beside two with few
        drawn = draw(tools(large=100, small=2, tiny=1), 7, seed=1)
        assert Counter(tool.server for tool in drawn) == {"large": 4, "small": 2, "tiny": 1}
        assert len({tool.id for tool in drawn}) == 7

    def test_fewer_than_there_are_servers_are_of_different_ones(self) -> None:
        assert len({tool.server for tool in draw(tools(a=9, b=9, c=9), 2, seed=1)}) == 2

    def test_no_more_are_drawn_than_there_are(self) -> None:
        assert len(draw(tools(a=2), 10, seed=1)) == 2
        assert draw([], 10, seed=1) == []

    def test_the_same_seed_draws_the_same_whatever_the_order(self) -> None:
        some = tools(a=20, b=20)
        assert draw(some, 5, seed=3) == draw(some[::-1], 5, seed=3)
        assert draw(some, 5, seed=3) != draw(some, 5, seed=4)


class TestByChat:
    def test_the_model_is_told_what_the_tool_does_and_its_request_is_kept(self) -> None:
        chat = FakeChat({"request": " put lunch with Ada\n into my diary "})
        assert list(by_chat(chat, [CREATE], timeout_s=1)) == [Draft(CREATE, "put lunch with Ada into my diary")]
        [(instructions, question)] = chat.asked
        assert "without the tool's name" in instructions
        assert json.loads(question) == {
            "name": "create_event",
            "server": "calendar",
            "description": "Creates an event.",
            "arguments": ["title", "start"],
        }

    @pytest.mark.parametrize(
        "answer",
        [
            {},
            {"request": 7},
            {"request": "  "},
            {"request": "a" * 1001},
            {"request": "please create_event for lunch"},
            {"request": "Create Event: lunch"},
            ClassifierAnswerInvalid("the language model answered with something that is not JSON"),
        ],
    )
    def test_an_answer_that_cannot_be_used_is_skipped_with_the_reason(self, answer: object) -> None:
        [draft] = by_chat(FakeChat(answer), [CREATE], timeout_s=1)  # type: ignore[arg-type]
        assert draft.query is None
        assert draft.problem

    def test_every_tool_is_asked_about_in_order(self) -> None:
        drawn = draw(tools(a=11), 11, seed=1)
        drafts = list(by_chat(FakeChat({"request": "do it"}), drawn, timeout_s=1))
        assert [draft.tool for draft in drafts] == drawn

    def test_a_model_that_goes_away_ends_it_and_what_was_made_is_there(self) -> None:
        chat = FakeChat({"request": "do it"})
        drafts = by_chat(chat, tools(a=8), timeout_s=1)
        made = [next(drafts) for _ in range(4)]
        chat.reply = ClassifierUnavailable("no answer")
        with pytest.raises(ClassifierUnavailable, match="no answer"):
            next(drafts)
        assert [draft.query for draft in made] == ["do it"] * 4


class TestByPerson:
    def worded(self, *lines: str) -> tuple[list[Draft], list[str], list[str]]:
        """Return the drafts, the tools that were shown, and what was refused; the input ends after the lines."""
        left: Iterator[str] = iter(lines)
        shown: list[str] = []
        refused: list[str] = []

        def read() -> str:
            try:
                return next(left)
            except StopIteration:
                raise EOFError from None

        drafts = list(by_person([CREATE, SLEEP], lambda tool: shown.append(tool.title), read, refused.append))
        return drafts, shown, refused

    def test_a_line_is_the_request_and_an_empty_one_skips_the_tool(self) -> None:
        drafts, shown, refused = self.worded("", "wait a bit")
        assert [(draft.tool, draft.query) for draft in drafts] == [(CREATE, None), (SLEEP, "wait a bit")]
        assert (shown, refused) == (["calendar/create_event", "sleep"], [])

    def test_the_end_of_the_input_keeps_what_was_written(self) -> None:
        drafts, shown, _ = self.worded("lunch with Ada at one")
        assert [draft.query for draft in drafts] == ["lunch with Ada at one"]
        assert shown == ["calendar/create_event", "sleep"]

    def test_a_request_with_the_tool_s_name_is_asked_for_again(self) -> None:
        drafts, shown, refused = self.worded("create event for lunch", "lunch with Ada", "nap")
        assert [draft.query for draft in drafts] == ["lunch with Ada", "nap"]
        assert shown == ["calendar/create_event", "sleep"]
        assert "create_event" in refused[0]


@pytest.mark.parametrize(
    ("text", "name", "is_there"),
    [
        ("use createEvent now", "create_event", True),
        ("use create-event now", "createEvent", True),
        ("CREATE EVENT", "create_event", True),
        ("re-create events", "create_event", False),
        ("recreate event", "create_event", False),
        ("create an event", "create_event", False),
        ("please fetch it", "fetch", True),
        ("the fetched page", "fetch", False),
        ("a (b) c", "(b)", True),
        ("ein Café suchen", "café", True),
    ],
)
def test_a_name_is_found_however_it_is_spelt(text: str, name: str, is_there: bool) -> None:
    assert names(text, name) == is_there
