"""What a skill is called that a name was suggested for."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from skillroute.skills.model import RESERVED_IDS
from skillroute.skills.suggestions.model import skill_id_of


@pytest.mark.parametrize(
    ("name", "skill_id"),
    [
        ("Video", "video"),
        ("Video Tools", "video_tools"),
        ("  Video -- Tools! ", "video_tools"),
        ("video_tools", "video_tools"),
        ("PDF & Documents", "pdf_documents"),
        ("3D models", "skill_3d_models"),
        ("_", "skill_828695af"),
        ("", "skill_af5570f5"),
        ("Классы", "skill_e6d6d3f9"),
        ("Café", "caf"),
        ("Classify", "classify_skill"),
        ("suggestions", "suggestions_skill"),
        ("a" * 64, "a" * 64),
        ("a" * 65, "a" * 64),
        (f"{'a' * 63} b", "a" * 63),
        (f"1{'a' * 300}", f"skill_1{'a' * 57}"),
    ],
)
def test_a_name_makes_an_id(name: str, skill_id: str) -> None:
    assert skill_id_of(name) == skill_id


@given(st.text())
def test_whatever_the_name_the_id_is_one_that_a_skill_may_have(name: str) -> None:
    skill_id = skill_id_of(name)
    assert re.fullmatch(r"[a-z][a-z0-9_]*", skill_id)
    assert 1 <= len(skill_id) <= 64
    assert skill_id not in RESERVED_IDS


@given(st.sampled_from(["Video Tools", "video-tools", "VIDEO_TOOLS", " video  tools "]))
def test_names_that_are_the_same_make_the_same_id(name: str) -> None:
    assert skill_id_of(name) == "video_tools"
