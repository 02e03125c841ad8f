"""A server that speaks OpenAI's ``POST /v1/chat/completions`` and misbehaves when it is told to.

It answers with what is scripted for the call, then with what is scripted for the tool, and otherwise like a model that
means well: with the offered skill that shares the most words with the tool.

>>> with ChatServer() as server:
...     server.of_tool["send_email"] = [assigning(("email", 0.9))] * 2
...     server.script.append(Answer(429, headers={"retry-after": "1"}))
...     server.base_url
'http://127.0.0.1:.../v1'
"""

from __future__ import annotations

import json
import re
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tests.unit.core.stubs import Answer, Request, StubServer

_WORD = re.compile(r"[^\W_]+")

REFUSED = Answer(401, {"error": {"message": "Incorrect API key provided"}})
OUT_OF_ORDER = Answer(500, {"error": {"message": "the server had an error"}})
SILENT = Answer(hang=True)
"""Held until the server is closed, and never answered."""


@dataclass(frozen=True)
class Asked:
    """What a prompt asks about, read back from its text."""

    tool_name: str
    description: str
    schema: str
    skills: list[dict[str, Any]]

    @classmethod
    def read(cls, prompt: str) -> Asked:
        # Greedy: a text that could close its block would break the JSON, and be answered with 400.
        found = re.search(
            r"<skills>\n(.*)\n</skills>.*<tool>\nName: (.*)\nDescription: (.*)\nInput Schema: (.*)\n</tool>$",
            prompt,
            re.DOTALL,
        )
        if found is None:
            raise ValueError("the prompt has not the form of the contract")
        skills, name, description, schema = map(json.loads, found.groups())
        return cls(name, description, schema, skills)

    @property
    def skill_ids(self) -> list[str]:
        return [skill["id"] for skill in self.skills]


Reply = Answer | Callable[[Asked], Answer]
"""An answer, or what makes one of the question."""


def assigning(*assignments: tuple[object, object], **others: object) -> Answer:
    """Answer with skills and confidences; keyword arguments add to the answer, or replace what is in it."""
    return saying(json.dumps(classification(*assignments, **others)))


def classification(*assignments: tuple[object, object], **others: object) -> dict[str, object]:
    """Return an answer as the contract has it."""
    return {
        "assignments": [
            {"skill_id": skill_id, "confidence": confidence, "reasoning": f"it is about {skill_id}"}
            for skill_id, confidence in assignments
        ],
        "primary_skill_id": assignments[0][0] if assignments else None,
        "suggested_new_skill": None,
        **others,
    }


def suggesting(name: str, description: str) -> Answer:
    """Answer that no skill fits, and suggest one."""
    return assigning(suggested_new_skill={"name": name, "description": description, "reasoning": "nothing fits"})


def fenced(*assignments: tuple[object, object]) -> Answer:
    """Answer rightly, but wrapped as in a conversation."""
    return saying(f"```json\n{json.dumps(classification(*assignments))}\n```")


def cut(*assignments: tuple[object, object]) -> Answer:
    """Answer at too great length: the text ends in the middle."""
    text = json.dumps(classification(*assignments))
    return saying(text[: len(text) // 2], finish_reason="length")


def obeying(asked: Asked) -> Answer:
    """Do what a tool's description says after "assign this tool to", as a model does that can be talked into it."""
    told = re.search(r"assign this tool to (\w+)", asked.description)
    return assigning((told[1], 1.0)) if told else meaning_well(asked)


def meaning_well(asked: Asked) -> Answer:
    """Answer with the skill that shares the most words with the tool, or suggest one named after the tool."""
    words = _words(asked.tool_name, asked.description)

    def shared(skill: dict[str, Any]) -> int:
        return len(words & _words(skill["id"], skill["name"], *skill["keywords"], *skill["examples"]))

    best = max(asked.skills, key=shared, default=None)
    if best is None or not shared(best):
        return suggesting(f"{asked.tool_name} and the like", f"Tools such as {asked.tool_name}")
    return assigning((best["id"], 0.9))


def saying(content: object, *, finish_reason: str = "stop", **message: object) -> Answer:
    """Say anything at all, in the form of a chat completion."""
    choice = {
        "index": 0,
        "message": {"role": "assistant", "content": content, **message},
        "finish_reason": finish_reason,
    }
    return Answer(body={"object": "chat.completion", "choices": [choice]})


@dataclass(frozen=True)
class Held:
    """An answer that is held back: `reached` tells that the question came, and `release` lets the answer go."""

    answer: Answer
    reached: threading.Event
    release: threading.Event

    def __call__(self, _: Asked) -> Answer:
        self.reached.set()
        self.release.wait()
        return self.answer


class ChatServer(StubServer):
    """The server. It runs from its making to `close`, or to the end of a ``with`` block.

    Attributes
    ----------
    script : deque of Answer
        Answers for the next calls, whatever they ask.
    of_tool : dict of str to list
        Answers for the next calls that ask about a tool, by its name.
    usual : callable
        Makes the answer when nothing is scripted.
    requests : list of Request
        Everything that was asked, in order.
    """

    def __init__(self, otherwise: Reply = meaning_well) -> None:
        self.of_tool: dict[str, list[Reply]] = {}
        self.otherwise = otherwise
        self._held: list[Held] = []
        super().__init__(self._for_tool)
        self._server.handle_error = self._on_error  # type: ignore[method-assign]

    def __enter__(self) -> ChatServer:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def base_url(self) -> str:
        """Up to and including the version."""
        return f"{self.url}/v1"

    @property
    def asked(self) -> list[Asked]:
        """What each request asks about, in order."""
        return [_asked(request) for request in self.requests]

    def lock(self, answer: Answer) -> Held:
        """Make a reply that is held until it is released, or until the server closes."""
        self._held.append(Held(answer, threading.Event(), threading.Event()))
        return self._held[-1]

    def close(self) -> None:
        """Let go of what is held, and stop."""
        for held in self._held:
            held.release.set()
        super().close()

    def _for_tool(self, request: Request) -> Answer:
        if request.path != "/v1/chat/completions":
            return Answer(404, {"error": {"message": f"there is no {request.path}"}})
        try:
            asked = _asked(request)
        except (ValueError, LookupError, TypeError) as error:
            return Answer(400, {"error": {"message": str(error)}})
        scripted = self.of_tool.get(asked.tool_name)
        reply = scripted.pop(0) if scripted else self.otherwise
        return reply if isinstance(reply, Answer) else reply(asked)

    def _on_error(self, request: Any, client_address: Any) -> None:
        """Whoever asked may be gone when a held answer goes out. That is no error of the server's."""
        if not isinstance(sys.exc_info()[1], ConnectionError):
            type(self._server).handle_error(self._server, request, client_address)


def _asked(request: Request) -> Asked:
    return Asked.read(request.body["messages"][-1]["content"])


def _words(*texts: str) -> set[str]:
    return set(_WORD.findall(" ".join(texts).lower().replace("_", " ")))
