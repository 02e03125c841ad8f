"""Whatever is in a catalogue: exported and imported into an empty Skillroute, it answers searches alike."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from fastapi.testclient import TestClient
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from skillroute.core.embedding.hashing import HashingEmbedder

from tests.api.one_app import app_over
from tests.builders import lent_system
from tests.conftest import Empty, reusable_database
from tests.doubles import EdgeIndexes
from tests.portable_lines import exported, imported, statuses

WORDS = ["water", "plant", "garden", "film", "encode", "letter", "send", "invoice", "weather", "map"]
EXAMPLES, SEARCHES = 5, 20
"""A hundred searches in all, of each of the two Skillroutes."""

NEAR = 1e-5

text = st.lists(st.sampled_from(WORDS), min_size=1, max_size=5).map(" ".join)
names = st.tuples(st.sampled_from(WORDS), st.sampled_from(WORDS)).map("_".join)
tools = st.lists(
    st.fixed_dictionaries(
        {
            "name": names,
            "type": st.sampled_from(["tool", "tool", "prompt"]),
            "server": st.sampled_from([None, "north", "south"]),
            "description": text,
            "tags": st.lists(st.sampled_from(WORDS), max_size=2),
            "input_schema": st.none() | st.fixed_dictionaries({"type": st.just("object"), "title": text}),
        }
    ),
    min_size=3,
    max_size=20,
    unique_by=lambda tool: (tool["server"], tool["type"], tool["name"]),
)
skills = st.lists(
    st.fixed_dictionaries(
        {
            "id": names,
            "name": text,
            "description": text.map(lambda said: f"All about {said}."),
            "keywords": st.lists(st.sampled_from(WORDS), max_size=3, unique=True),
        }
    ),
    max_size=5,
    unique_by=lambda skill: skill["id"],
)
assigned = st.lists(
    st.tuples(st.integers(0, 19), st.integers(0, 4), st.sampled_from([0.5, 0.7, 0.9, 1.0])), max_size=15
)
messages = st.lists(
    st.fixed_dictionaries({"subject": text, "body": text, "created_ts": st.integers(0, 10), "cc": st.booleans()}),
    max_size=5,
)
searches = st.lists(
    st.tuples(
        st.sampled_from(["search", "search", "search", "search/registry", "search/messages"]),
        text,
        st.sampled_from(["hybrid", "semantic", "lexical"]),
        st.sampled_from(["hierarchical", "direct", "hybrid"]),
    ),
    min_size=SEARCHES,
    max_size=SEARCHES,
)


@pytest.fixture(scope="module")
def databases(postgres_server: Any, migrated_template: str) -> Iterator[list[tuple[str, Empty]]]:
    with (
        reusable_database(postgres_server, migrated_template) as first,
        reusable_database(postgres_server, migrated_template) as second,
    ):
        yield [first, second]


@settings(
    max_examples=EXAMPLES if settings.default.max_examples <= 50 else 100,
    deadline=None,
    derandomize=True,
    database=None,
    phases=[Phase.explicit, Phase.generate],  # each example takes half a second: shrinking them takes minutes
    suppress_health_check=list(HealthCheck),
)
@given(tools, skills, assigned, messages, st.booleans(), searches)
def test_a_copy_answers_searches_as_the_original_does(
    databases: list[tuple[str, Empty]],
    edge_indexes: EdgeIndexes,
    tools: list[dict[str, Any]],
    skills: list[dict[str, Any]],
    assigned: list[tuple[int, int, float]],
    messages: list[dict[str, Any]],
    is_enabled: bool,
    searches: list[tuple[str, str, str, str]],
) -> None:
    for _, empty in databases:
        empty()
    (first, _), (second, _) = databases
    with (
        lent_system(first, edge_indexes, embedder=HashingEmbedder()) as system,
        lent_system(second, edge_indexes, embedder=HashingEmbedder()) as copy,
    ):
        # GIVEN any catalogue, its decisions and its mail
        client, other = (TestClient(app_over(each), raise_server_exceptions=False) for each in (system, copy))
        _fill(client, tools, skills, assigned, messages, is_enabled=is_enabled)
        # WHEN it is imported into an empty Skillroute
        lines = exported(client, limit=7)
        assert statuses(imported(other, lines)) <= {"created"}
        # THEN all that can be asked is answered alike
        assert exported(other) == lines
        for route, query, mode, strategy in searches:
            answers = [_answer(each, route, query, mode, strategy) for each in (client, other)]
            assert alike(*answers), (route, query, mode, strategy, answers)


def _fill(
    client: TestClient,
    tools: list[dict[str, Any]],
    skills: list[dict[str, Any]],
    assigned: list[tuple[int, int, float]],
    messages: list[dict[str, Any]],
    *,
    is_enabled: bool,
) -> None:
    for skill in skills:
        _done(client.post("/api/v1/skills", json=skill))
    ids: list[int] = []
    for start in range(0, len(tools), 4):
        results = _done(client.put("/api/v1/tools", json={"items": tools[start : start + 4]})).json()["results"]
        ids += [result["id"] for result in results]
    chosen: dict[int, dict[str, float]] = {}
    for tool, skill, confidence in assigned:
        if skills:
            chosen.setdefault(ids[tool % len(ids)], {})[skills[skill % len(skills)]["id"]] = confidence
    for tool, of in chosen.items():
        body = {"skills": [{"skill_id": skill, "confidence": sure} for skill, sure in of.items()]}
        _done(client.put(f"/api/v1/tools/{tool}/skills", json=body))
    north = {"name": "north", "description": "Weather and maps.", "is_enabled": is_enabled}
    _done(client.put("/api/v1/servers", json={"servers": [north]}))
    _done(client.put("/api/v1/mail/projects", json={"projects": [{"key": "p", "name": "Post"}]}))
    written = [
        {
            "key": f"m{number}",
            "project": "p",
            "from": "planner",
            "to": ["gardener"],
            "cc": ["keeper"] if message["cc"] else [],
            **{name: message[name] for name in ("subject", "body", "created_ts")},
        }
        for number, message in enumerate(messages)
    ]
    _done(client.put("/api/v1/mail/messages", json={"messages": written}))


def _answer(client: TestClient, route: str, query: str, mode: str, strategy: str) -> Any:
    bodies: dict[str, dict[str, Any]] = {
        "search": {"query": query, "mode": mode, "strategy": strategy, "limit": 50, "skill_limit": 10},
        "search/registry": {"query": query, "include_disabled": True},
        "search/messages": {"text": query, "mode": mode},
    }
    return _without_times(_done(client.post(f"/api/v1/{route}", json=bodies[route])).json())


def _without_times(value: Any) -> Any:
    """Return an answer without what differs from moment to moment and from copy to copy: times, and ids."""
    if isinstance(value, dict):
        hidden = {"id", "db_id", "project_id", "updated_at", "request_id", "index_position"}
        return {
            name: _without_times(inner)
            for name, inner in value.items()
            if name not in hidden and not name.endswith(("_ms", "_time"))
        }
    return [_without_times(inner) for inner in value] if isinstance(value, list) else value


def alike(one: Any, other: Any) -> bool:
    """Return whether two answers are the same but for the rounding of sums of 32 bits.

    Of hits whose scores are that near, one may come before the other.
    """
    if isinstance(one, float) and isinstance(other, float):
        return abs(one - other) <= NEAR
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(alike(one[name], other[name]) for name in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(alike, _in_groups(one), _in_groups(other)))
    return bool(one == other)


def _in_groups(values: list[Any]) -> list[Any]:
    """Return hits with nearly equal ones in the order of what they are; anything else as it is."""
    if not all(isinstance(value, dict) and isinstance(value.get("score"), float) for value in values):
        return values
    groups: list[list[dict[str, Any]]] = []
    for hit in values:
        if groups and abs(groups[-1][-1]["score"] - hit["score"]) <= NEAR:
            groups[-1].append(hit)
        else:
            groups.append([hit])
    return [hit for group in groups for hit in sorted(group, key=_name)]


def _name(hit: dict[str, Any]) -> str:
    texts = {name: value for name, value in hit.items() if isinstance(value, str | None)}
    return json.dumps(texts, sort_keys=True)


def _done(response: Any) -> Any:
    assert response.status_code in {200, 201}, response.text
    return response


def test_a_comparison_of_answers_can_fail() -> None:
    hits = [{"name": "a", "score": 0.5}, {"name": "b", "score": 0.5}, {"name": "c", "score": 0.4}]
    assert alike({"tools": hits}, {"tools": [hits[1], {"name": "a", "score": 0.500001}, hits[2]]})
    assert not alike({"tools": hits}, {"tools": [hits[0], hits[2], hits[1]]})
    assert not alike({"tools": hits}, {"tools": hits[:2]})
    assert not alike({"tools": hits}, {"tools": [*hits[:2], {"name": "d", "score": 0.4}]})
