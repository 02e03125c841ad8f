"""What a shell is offered: kinds, and the ids of what is there."""

from __future__ import annotations

import httpx
import pytest

from tests.builders import System
from tests.doubles import proposing
from tests.e2e.processes import answered
from tests.integration.local.commands.conftest import CommandLine


def offered(run: CommandLine, line: str) -> list[str]:
    """Return what bash is offered for the last word of a line."""
    words = line.split(" ")
    environment = {"COMP_WORDS": line, "COMP_CWORD": str(len(words) - 1)}
    return run(_SKILLROUTE_COMPLETE="complete_bash", **environment).stdout.split()


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("skillroute get se", ["server"]),
        ("skillroute list mail", ["mail-agents"]),
        ("skillroute get tool mail", ["mail/send_mail"]),
        ("skillroute delete tool cal", ["calendar/create_event", "calendar/list_events"]),
        ("skillroute get skill pla", ["planning"]),
        ("skillroute skills edit ", ["planning"]),
        ("skillroute suggestions merge 1 --into p", ["planning"]),
        ("skillroute get nothing x", []),
    ],
)
def test_kinds_and_ids_are_completed(run: CommandLine, api: httpx.Client, line: str, words: list[str]) -> None:
    body = {"id": "planning", "name": "Planning", "description": "Meetings and their times."}
    answered(api.post("/api/v1/skills", json=body), 201)
    assert offered(run, line) == words


def test_tools_beyond_the_first_are_found_by_their_server(
    run: CommandLine, api: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    answered(api.put("/api/v1/servers", json={"servers": [{"path": "/mail", "name": "Mail"}]}))
    monkeypatch.setattr("skillroute_local.commands.completion._MAX_COMPLETIONS", 1)  # that one is of the calendar
    assert offered(run, "skillroute get tool ma") == ["mail/"]
    assert offered(run, "skillroute get tool mail/s") == ["mail/send_mail"]


def test_suggestions_that_wait_are_completed(run: CommandLine, system: System) -> None:
    ids = system.put("encode")
    system.classifier.answers["encode"] = proposing("Video")
    system.classify(*ids)
    [suggestion] = system.suggestions()
    assert offered(run, "skillroute suggestions approve ") == [str(suggestion.id)]


@pytest.mark.parametrize("url", ["http://127.0.0.1:1", None], ids=["nobody answers", "nothing runs"])
def test_where_nobody_answers_nothing_is_offered(url: str | None) -> None:
    done = CommandLine(url)(_SKILLROUTE_COMPLETE="complete_bash", COMP_WORDS="skillroute get tool x", COMP_CWORD="3")
    assert (done.stdout.split(), done.stderr) == ([], "")
