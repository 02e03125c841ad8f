"""Skills to be created, within the limits of skill-contract BR-001; and which of a tool's skills is primary."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError
from skillroute.skills.model import (
    RESERVED_IDS,
    Assignment,
    NewSkill,
    id_in_key,
    in_rank_order,
    possible_keys,
    skill_key,
)

VALID: dict[str, Any] = {"id": "mail_2", "name": "Mail", "description": "0123456789"}


def test_the_least_that_is_needed() -> None:
    skill = NewSkill(**VALID)
    assert (skill.keywords, skill.examples, skill.parent_domain, skill.org_id) == ((), (), None, None)


@pytest.mark.parametrize(
    "fields",
    [
        {"id": "a"},
        {"id": "x" * 64},
        {"id": "classify_mail"},
        {"name": "x" * 255},
        {"description": "x" * 1000},
        {"keywords": ("k",) * 20},
        {"keywords": ["größe", "with space", "k-2"]},
        {"examples": ("e" * 256,) * 10},
        {"parent_domain": "d" * 64},
    ],
)
def test_what_is_just_within_the_limits_is_taken(fields: dict[str, Any]) -> None:
    assert NewSkill(**{**VALID, **fields})


@pytest.mark.parametrize(
    "fields",
    [
        {"id": ""},
        {"id": "Mail"},
        {"id": "1mail"},
        {"id": "_mail"},
        {"id": "ma-il"},
        {"id": "ma il"},
        {"id": "mail\n"},
        {"id": "mäil"},
        {"id": "x" * 65},
        {"id": None},
        {"id": 1},
        *({"id": reserved} for reserved in sorted(RESERVED_IDS)),
        {"name": ""},
        {"name": "  "},
        {"name": "x" * 256},
        {"description": "123456789"},
        {"description": " 12345678 "},
        {"description": "x" * 1001},
        {"keywords": ("k",) * 21},
        {"keywords": ("Upper",)},
        {"keywords": ("",)},
        {"keywords": ("k" * 65,)},
        {"keywords": "k"},
        {"examples": ("e",) * 11},
        {"examples": ("",)},
        {"examples": ("e" * 257,)},
        {"parent_domain": ""},
        {"parent_domain": "d" * 65},
        {"is_active": True},
        {"name": "\ud800"},
    ],
)
def test_what_is_outside_is_refused_by_the_name_of_the_field(fields: dict[str, Any]) -> None:
    with pytest.raises(ValidationError) as refused:
        NewSkill(**{**VALID, **fields})
    assert {error["loc"][0] for error in refused.value.errors()} == set(fields)


@pytest.mark.parametrize("missing", ["id", "name", "description"])
def test_what_is_required_must_be_there(missing: str) -> None:
    with pytest.raises(ValidationError):
        NewSkill(**{key: value for key, value in VALID.items() if key != missing})


def test_surrounding_space_is_no_part_of_a_name_or_description() -> None:
    skill = NewSkill(**{**VALID, "name": " Mail ", "description": "\n0123456789 "})
    assert (skill.name, skill.description) == ("Mail", "0123456789")


def test_the_surest_assignment_comes_first_and_a_tie_is_broken_by_id() -> None:
    given = [Assignment("c", 0.5), Assignment("b", 0.9), Assignment("a", 0.5), Assignment("d", 0.95)]
    assert [a.skill_id for a in in_rank_order(given)] == ["d", "b", "a", "c"]
    assert in_rank_order([]) == []


# Keys (decision 29)

ids = st.from_regex(r"[a-z][a-z0-9_]{0,5}", fullmatch=True)
organisations = st.none() | st.text(st.sampled_from("a/0_~ é\n"), min_size=1, max_size=4)


@given(st.lists(st.tuples(ids, organisations), min_size=2))
def test_no_two_skills_share_a_key_and_keys_sort_as_their_ids_do(skills: list[tuple[str, str | None]]) -> None:
    keys = {skill: skill_key(*skill) for skill in skills}
    assert len(set(keys.values())) == len(set(skills))
    assert all(id_in_key(key) == skill_id for (skill_id, _), key in keys.items())
    by_key = sorted(keys, key=lambda skill: keys[skill].encode())
    assert [skill_id for skill_id, _ in by_key] == sorted(skill_id for skill_id, _ in keys)


def test_an_id_may_mean_the_callers_own_skill_or_a_global_one() -> None:
    assert possible_keys(["email", "files"], "acme") == {"email", "email/acme", "files", "files/acme"}
    assert possible_keys(["email"], None) == {"email"}
    # What is no id leads to nobody's skill.
    assert possible_keys(["email/globex", "/", ""], "acme") == {"", "/acme"}
