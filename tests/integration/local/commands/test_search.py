"""`skillroute search --need`: what a task needs, one by one."""

from __future__ import annotations

import pytest
from skillroute_local.commands.search_shown import show_tools

from tests.integration.local.commands.conftest import CommandLine

NEEDS = ("--need", "schedule a meeting with people", "--need", "write a letter")


def test_each_tool_is_shown_with_the_needs_that_it_serves(run: CommandLine) -> None:
    done = run("search", *NEEDS, "--mode", "lexical", "--strategy", "direct", "--limit", "2")
    assert done.exit_code == 0, done.output
    lines = [line.split() for line in done.stdout.splitlines()]
    assert "need 1: schedule a meeting with people (served)" in done.stdout
    assert ["score", "needs", "server", "name", "description"] in lines
    assert sorted(line[1:4] for line in lines if line[0] == "1.000") == [
        ["1", "calendar", "create_event"],
        ["2", "mail", "send_mail"],
    ]


def test_a_need_that_nothing_serves_is_named(run: CommandLine) -> None:
    done = run("search", "--need", "peel potatoes", *NEEDS, "--mode", "lexical")
    assert "need 1: peel potatoes (nothing seems to fit)" in done.stdout
    done = run("search", "--need", "peel potatoes", "--mode", "lexical")
    assert "no tool has a word of this" in done.stdout


def test_as_json_the_answer_is_the_apis(run: CommandLine) -> None:
    answer = run.json("search", *NEEDS, "--mode", "lexical", "--strategy", "direct")
    assert [need["need"] for need in answer["metadata"]["needs"]] == list(NEEDS[1::2])
    assert answer["query"] is None


def test_a_search_for_nothing_says_what_to_give(run: CommandLine) -> None:
    error = run.error("search")
    assert error["exit_code"] == 2
    assert "--need" in str(error)
    error = run.error("search", "x", "--mail", "--need", "y")
    assert "--need" in str(error)


def test_a_request_in_a_language_that_the_model_does_not_know_is_said(
    run: CommandLine, capsys: pytest.CaptureFixture[str]
) -> None:
    answer = run.json("search", "enviar un correo", "--mode", "lexical")
    assert answer["metadata"]["language"] == "es"
    show_tools(answer, schemas=False)
    assert "seems to be in" not in capsys.readouterr().out
    answer["metadata"]["language_unknown_to_model"] = True
    show_tools(answer, schemas=False)
    assert "the request seems to be in Spanish; the packaged model knows English" in capsys.readouterr().out
