"""A language model that classifies and writes requests, and what is stored of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from skillroute.core.caller import LAPTOP, Caller

from tests.builders import System
from tests.doubles import FakeChat

RAIN, PICNIC, NEED = "Will I need an umbrella in Oslo?", "Check for rain before the picnic", "know if it rains"
WRITTEN = [RAIN, PICNIC, NEED]
BY_MODEL = [(text, "llm") for text in WRITTEN]


def classified(requests: object = None, **confidences: float) -> dict[str, Any]:
    """Return a model's answer."""
    assignments = [{"skill_id": id_, "confidence": sure, "reasoning": "so"} for id_, sure in confidences.items()]
    answer = {"assignments": assignments, "primary_skill_id": None, "suggested_new_skill": None}
    return answer if requests is None else {**answer, "requests": requests}


class Model(FakeChat):
    """A language model that keeps the schemas that it was given."""

    def __init__(self) -> None:
        super().__init__(classified(WRITTEN, weather=0.9))
        self.schemas: list[Mapping[str, Any]] = []

    def answer(
        self, instructions: str, question: str, *, schema: Mapping[str, Any], timeout_s: float
    ) -> Mapping[str, Any]:
        self.schemas.append(schema)
        return super().answer(instructions, question, schema=schema, timeout_s=timeout_s)

    @property
    def asked_for_requests(self) -> list[bool]:
        return ["requests" in schema["properties"] for schema in self.schemas]


def requests_of(system: System, tool_id: int, caller: Caller = LAPTOP) -> list[tuple[str, str]]:
    requests = system.parts.catalogue.read.get(tool_id, caller).content.requests or ()
    return [(request.text, request.source) for request in requests]
