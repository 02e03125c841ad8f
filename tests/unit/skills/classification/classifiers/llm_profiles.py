"""Tools and skills as a language model is asked about them, and a language model that says what it is told to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from skillroute.skills.classification.model import SkillProfile, ToolProfile


def tool(
    name: str = "create_event", description: str = "Create a new event on the calendar", **others: Any
) -> ToolProfile:
    return ToolProfile(
        **{
            "id": 7,
            "org_id": None,
            "name": name,
            "description": description,
            "server": "",
            "input_schema": {"properties": {"title": {"type": "string"}}},
            "embedding_texts": (name,),
            "embedding": None,
            **others,
        }
    )


def skill(skill_id: str, description: str = "", **others: Any) -> SkillProfile:
    return SkillProfile(
        **{
            "id": skill_id,
            "org_id": None,
            "name": skill_id.replace("_", " ").title(),
            "description": description or f"Tools for {skill_id.replace('_', ' ')}",
            "keywords": (),
            "examples": (),
            "description_embedding": None,
            "centroid": None,
            "fingerprint": skill_id,
            **others,
        }
    )


CALENDAR = skill("calendar_management", keywords=("calendar", "event"), examples=("create_event",))
EMAIL = skill("email", keywords=("mail",), examples=("send_email",))
FILES = skill("files", keywords=("file",), examples=("read_file",))


@dataclass
class FakeChat:
    """Answers the same every time, and remembers what it was asked."""

    says: Mapping[str, Any] = field(default_factory=lambda: {"assignments": []})
    name: str = "fake/model"
    questions: list[str] = field(default_factory=list)
    instructions: list[str] = field(default_factory=list)
    timeouts_s: list[float] = field(default_factory=list)
    schemas: list[Mapping[str, Any]] = field(default_factory=list)

    def answer(
        self, instructions: str, question: str, *, schema: Mapping[str, Any], timeout_s: float
    ) -> Mapping[str, Any]:
        self.instructions.append(instructions)
        self.questions.append(question)
        self.schemas.append(schema)
        self.timeouts_s.append(timeout_s)
        return self.says
