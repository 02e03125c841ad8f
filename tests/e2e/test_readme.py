"""What README.md and other pages tell people to type works, and what they show is what they get."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from tests.e2e.processes import Up, answered, cli

ROOT = Path(__file__).parents[2]
_BLOCK = re.compile(r"^```(bash|json)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_PAGES = ("README.md", "docs/skills.md", "docs/registry.md", "docs/mail.md")
_BLOCKS = [(match[1], match[2]) for page in _PAGES for match in _BLOCK.finditer((ROOT / page).read_text("utf-8"))]


def requests() -> list[tuple[int, str, str, Any]]:
    """Return every curl to a Skillroute: its block's place, method, path and body.

    Those with a token are for a Skillroute that asks for one (tests/e2e/test_token.py).
    """
    found = []
    for place, (kind, text) in enumerate(_BLOCKS):
        if kind == "bash" and text.startswith("curl ") and "authorization:" not in text:
            words = shlex.split(text)
            [url] = [word for word in words if word.startswith("localhost:3000/")]
            method = words[words.index("-X") + 1] if "-X" in words else "POST"
            assert "content-type: application/json" in words
            found.append((place, method, url.removeprefix("localhost:3000"), json.loads(words[words.index("-d") + 1])))
    return found


def assert_shows(shown: Any, answer: Any, where: str = "answer") -> None:
    """A page may leave fields and elements out, and times differ; all else that it shows is so."""
    if isinstance(shown, dict):
        assert isinstance(answer, dict), where
        for key, value in shown.items():
            assert key in answer, f"{where} has no {key}"
            if key.endswith("_time_ms"):
                assert isinstance(answer[key], float), f"{where}.{key}"
            elif key == "search_id":
                assert UUID(answer[key]) != UUID(value), f"{where}.{key}"
            elif key == "stage2_candidate_count":
                # Fewer while examples are being classified, more where other tests have written tools, and a tool whose
                # similarity lies at the threshold counts on one processor and not on another.
                assert answer[key] == pytest.approx(value, abs=10), f"{where}.{key}"
            else:
                assert_shows(value, answer[key], f"{where}.{key}")
    elif isinstance(shown, list):
        assert len(answer) >= len(shown), where
        for place, value in enumerate(shown):
            assert_shows(value, answer[place], f"{where}.{place}")
    elif isinstance(shown, float):
        assert answer == pytest.approx(shown, abs=0.02), where  # another processor rounds the model otherwise
    elif isinstance(shown, str) and shown.endswith("..."):
        assert answer.startswith(shown.removesuffix("...").rstrip()), where
    else:
        assert answer == shown, where


def test_the_first_search_answers_as_shown(running: Up) -> None:
    place, method, path, body = next(request for request in requests() if request[2] == "/api/v1/search")
    shown = next(json.loads(text) for kind, text in _BLOCKS[place + 1 :] if kind == "json")

    answer = answered(running.http.request(method, path, json=body))

    assert_shows(shown, answer)
    assert shown["metadata"].keys() == answer["metadata"].keys()
    assert shown["tools"][0].keys() == answer["tools"][0].keys()


def test_the_registry_answers_as_shown(running: Up) -> None:
    place, method, path, body = next(request for request in requests() if request[2] == "/api/v1/search/registry")
    shown = next(json.loads(text) for kind, text in _BLOCKS[place + 1 :] if kind == "json")

    answer = answered(running.http.request(method, path, json=body))

    assert_shows(shown, answer)
    assert shown["servers"][0].keys() == answer["servers"][0].keys()


def test_mail_is_found_as_shown(running: Up) -> None:
    place, method, path, body = next(request for request in requests() if request[2] == "/api/v1/search/messages")
    shown = next(json.loads(text) for kind, text in _BLOCKS[place + 1 :] if kind == "json")

    answer = answered(running.http.request(method, path, json=body))

    assert_shows(shown, answer)
    assert shown.keys() == answer.keys()


def test_every_other_request_is_accepted(running: Up) -> None:
    for _, method, path, body in requests():
        creates = (method, path) == ("POST", "/api/v1/skills")
        answer = answered(running.http.request(method, path, json=body), 201 if creates else 200)
        if method == "PUT":
            assert answer["failed"] == 0
            assert found(running, body)


def found(running: Up, written: dict[str, Any]) -> bool:
    """Tell whether what was written is the first that its description finds."""
    if "items" in written:
        [item] = written["items"]
        [tool, *_] = running.search(item["description"], strategy="direct")["tools"]
        return bool(tool["name"] == item["name"])
    if "projects" in written:
        [project] = written["projects"]
        request = {"text": project["name"], "doc_kind": "project"}
        return project["key"] in [each["key"] for each in mail_found(running, request)]
    if "messages" in written:
        [message] = written["messages"]
        return [each["key"] for each in mail_found(running, {"text": message["body"]})][:1] == [message["key"]]
    [server] = written["servers"]
    request = {"query": server["description"]}
    [hit, *_] = answered(running.http.post("/api/v1/search/registry", json=request))["servers"]
    return bool(hit["path"] == server["path"])


def mail_found(running: Up, request: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the results of a search of mail."""
    results: list[dict[str, Any]] = answered(running.http.post("/api/v1/search/messages", json=request))["results"]
    return results


def test_every_command_of_the_command_line_works(running: Up) -> None:
    lines = [line for kind, text in _BLOCKS if kind == "bash" for line in text.splitlines()]
    # What needs containers is done by `make test-sam`.
    ours = [line for line in lines if line.startswith(".venv/bin/skillroute ") and " sam-env " not in line]
    commands = [shlex.split(line, comments=True)[1:] for line in ours]

    assert len(commands) >= 3
    for args in commands:
        # Somebody at a terminal is asked instead.
        unasked = ["--yes"] if "--apply" in args else []
        done = cli(running.home.path, *args, *unasked)
        assert done.returncode == 0, f"{args}: {done.stderr}"


def test_every_make_target_is_there() -> None:
    text = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = set(re.findall(r"^([a-z-]+):", text, re.MULTILINE))
    named = {
        word
        for kind, block in _BLOCKS
        if kind == "bash"
        for word in re.findall(r"^make ([a-z-]+)", block, re.MULTILINE)
    }

    assert {"run", "test"} <= named <= targets
