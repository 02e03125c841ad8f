"""What groups of tools are about, in words."""

from __future__ import annotations

import doctest

import pytest
from skillroute_local.proposing import words
from skillroute_local.proposing.words import ToolText, examples_of, gist, keywords_of, spellings, terms

CALENDAR = [
    ToolText("create_event", "Creates a calendar event with attendees."),
    ToolText("list_events", "Lists the events of a calendar."),
    ToolText("find_free_time", "Finds a free time in the calendars of attendees."),
]
MAIL = [ToolText("send_email", "Sends an email."), ToolText("search_inbox", "Searches the inbox for an email.")]


def test_the_examples_in_the_docstrings_hold() -> None:
    assert doctest.testmod(words).failed == 0


@pytest.mark.parametrize(
    ("description", "first"),
    [
        ("Sends a mail. Then waits.", "Sends a mail"),
        ("Reads v1.2 files! All of them", "Reads v1.2 files"),
        ("两个词。更多", "两个词。更多"),  # no space after the sentence: one sentence
        ("First line\nsecond line", "First line"),
        ("  spaced \t out  ", "spaced out"),
        ("", ""),
        ("x" * 500, "x" * 200),
    ],
)
def test_a_gist_is_the_first_sentence(description: str, first: str) -> None:
    assert gist(description) == first


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("", []),
        ("Get the list of all items", []),  # nothing that another tool could not say
        ("Pull request review", ["pull", "request", "pull request", "review", "request review"]),
        ("PULL the Request", ["pull", "request"]),  # no pair across a word that says nothing
        ("id 42 x a1 ab", []),  # too short
        ("w" * 33, []),  # no word of any language
        ("天气 預報", ["天气", "預報"]),
        ("获取指定城市的天气预报", []),  # a clause, not a word
        ("прогноз погоды", ["прогноз", "погоды"]),
    ],
)
def test_terms_are_words_that_say_something_and_pairs_of_them(text: str, found: list[str]) -> None:
    assert list(terms(text)) == found


def test_keywords_tell_a_group_from_the_others() -> None:
    calendar, mail = keywords_of([CALENDAR, MAIL])
    assert calendar[:3] == ["event", "calendar", "attendees"]
    assert mail[0] == "email"
    assert not set(calendar) & set(mail)


def test_plurals_and_singulars_are_one_keyword() -> None:
    [found] = keywords_of([[ToolText("list_repositories"), ToolText("get_repository"), ToolText("delete_repository")]])
    assert found == ["repository"]


def test_words_of_one_tool_alone_are_no_keywords_of_its_group() -> None:
    # GIVEN a tool that repeats itself
    shouting = ToolText("zebra", "zebra zebra zebra zebra")
    [found] = keywords_of([[*CALENDAR, shouting]])
    assert "zebra" not in found


def test_a_group_whose_tools_share_no_word_has_keywords_all_the_same() -> None:
    [found] = keywords_of([[ToolText("roll_dice"), ToolText("draw_tarot")]])
    assert set(found) == {"roll dice", "draw tarot"}


def test_a_heavy_tool_counts_more_than_a_light_one() -> None:
    group = [
        ToolText("alpha", weight=9.0),
        ToolText("alpha_two", weight=9.0),
        ToolText("beta", weight=1.0),
        ToolText("beta_two"),
    ]
    [found] = keywords_of([group])
    assert found[0] == "alpha"


def test_there_are_keywords_for_no_groups_and_for_tools_that_say_nothing() -> None:
    assert keywords_of([]) == []
    assert keywords_of([[ToolText("get"), ToolText("list")]]) == [[]]


def test_words_are_spelled_as_descriptions_spell_them() -> None:
    group = [ToolText("a", "Reads a PDF from GitHub"), ToolText("b", "Writes a PDF"), ToolText("c", "A pdf")]
    assert spellings(group)["pdf"] == "PDF"
    assert spellings(group)["github"] == "GitHub"


def test_examples_are_the_nearest_with_no_server_and_no_name_in_the_way_of_others() -> None:
    def near(similarity: float, name: str, server: str) -> tuple[ToolText, float]:
        return ToolText(name, server=server), similarity

    members = [
        near(0.99, "a", "big"),
        near(0.98, "b", "big"),
        near(0.97, "c", "big"),
        near(0.96, "A", "small"),  # the name was there
        near(0.10, "e", "small"),
    ]
    assert [said.name for said in examples_of(members, most=3, of_a_server=2)] == ["a", "b", "e"]
    assert [said.name for said in examples_of(members, most=9, of_a_server=2)] == ["a", "b", "e", "c"]


def test_examples_do_not_depend_on_the_order_of_the_tools() -> None:
    members = [(ToolText(name), 0.5) for name in "cab"]
    assert examples_of(members) == examples_of(members[::-1]) == [ToolText("a"), ToolText("b"), ToolText("c")]
