"""The hints that rules go by, of all kinds of annotations."""

from __future__ import annotations

from typing import Any

import pytest
from skillroute.core.rights.hints import hints_of, only_reads

ANNOTATED: list[tuple[Any, set[str]]] = [
    (None, {"not_read_only", "destructive"}),
    ({}, {"not_read_only", "destructive"}),
    ({"readOnlyHint": True}, {"read_only"}),
    ({"readOnlyHint": True, "destructiveHint": None}, {"read_only"}),
    ({"readOnlyHint": True, "destructiveHint": False}, {"read_only"}),
    ({"readOnlyHint": True, "destructiveHint": True}, {"not_read_only", "destructive"}),
    ({"readOnlyHint": "true"}, {"not_read_only", "destructive"}),
    ({"readOnlyHint": 1}, {"not_read_only", "destructive"}),
    ({"readOnlyHint": False, "destructiveHint": False}, {"not_read_only"}),
    ({"destructiveHint": False}, {"not_read_only"}),
    ({"destructiveHint": "false"}, {"not_read_only", "destructive"}),
    ({"readOnlyHint": True, "destructiveHint": 0}, {"not_read_only", "destructive"}),
]


@pytest.mark.parametrize(("annotations", "hints"), ANNOTATED)
def test_a_tool_has_the_hints_that_it_declares_and_else_those_of_the_worst(annotations: Any, hints: set[str]) -> None:
    assert hints_of("tool", annotations) == hints
    assert only_reads("tool", annotations) is (hints == {"read_only"})


@pytest.mark.parametrize("kind", ["prompt", "resource"])
def test_prompts_and_resources_only_read(kind: str) -> None:
    assert hints_of(kind, {"destructiveHint": True}) == {"read_only"}


@pytest.mark.parametrize("annotations", [[], "x", 1])
def test_what_is_no_object_declares_nothing(annotations: object) -> None:
    assert not only_reads("tool", annotations)
