"""The front matter of a SKILL.md, and what stands in for what it lacks."""

from __future__ import annotations

import pytest
from skillroute.agent_skills.schemas import read_agent_skill
from skillroute.agent_skills.skill_md import body_of
from skillroute_local.importing.skill_text import SkillText, read_skill_text


def text_of(text: str, folder: str = "odd") -> SkillText:
    """Read a SKILL.md, and see that the catalogue would take it."""
    found = read_skill_text(text.encode(), folder, "SKILL.md")
    read_agent_skill({"frontmatter": found.front, "files": [{"path": "SKILL.md", "text": text}]})
    return found


@pytest.mark.parametrize(
    ("front", "expected"),
    [
        ("description: Make pages ready: handle errors", {"description": "Make pages ready: handle errors"}),
        ("description: @mention people", {"description": "@mention people"}),
        ('description: "Use to "write docs" or edit"', {"description": 'Use to "write docs" or edit'}),
        ("description: Fix\nargument-hint: [a] [b]", {"description": "Fix", "argument-hint": "[a] [b]"}),
        (
            "description: Use `x`: it is good\n  for all\nversion: 1.2",
            {"description": "Use `x`: it is good for all", "version": 1.2},
        ),
        ("description: |\n  One: two\n  three\nmodel: %fast", {"description": "One: two\nthree", "model": "%fast"}),
        ("description: A: b\nmetadata:\n  tags: [x, y]", {"description": "A: b", "metadata": {"tags": ["x", "y"]}}),
        ("description: *all* of it", {"description": "*all* of it"}),
    ],
)  # fmt: skip
def test_front_matter_that_is_no_yaml_is_read_line_by_line(front: str, expected: dict[str, object]) -> None:
    found = text_of(f"---\nname: odd\n{front}\n---\nBody\n")
    values = {key: value.rstrip() if isinstance(value, str) else value for key, value in found.front.items()}
    assert values == {"name": "odd", **expected}
    assert found.notes[0].startswith("its front matter is not YAML, and was read line by line: ")


@pytest.mark.parametrize(
    ("text", "front", "note"),
    [
        ("description: Do it.", {"name": "odd", "description": "Do it."}, "has no name: that of its folder is taken"),
        (
            "name: odd\nx: 1",
            {"name": "odd", "description": "Do this and that.", "x": 1},
            "the first paragraph is taken",
        ),
        ("name: 7\ndescription: 8", {"name": "7", "description": "8"}, "its folder odd is called otherwise"),
        ("name: Odd One\ndescription: b", {"name": "odd", "description": "b"}, "its name 'Odd One' is none that"),
        ("name: other\ndescription: b", {"name": "other", "description": "b"}, "its path ends in the name"),
    ],
)
def test_what_stands_in_is_noted_and_all_else_is_as_it_was_written(
    text: str, front: dict[str, object], note: str
) -> None:
    found = text_of(f"---\n{text}\n---\n# Title\n\nDo this\nand that.\n\nMore.")
    assert (found.front, found.name) == (front, front["name"])
    assert len(found.notes) == 1
    assert note in found.notes[0]


def test_a_name_as_the_specification_has_it_in_a_folder_of_that_name_needs_no_note() -> None:
    found = text_of("\ufeff---\r\nname: odd\r\ndescription: b\r\n---\r\nBody.\r\n")
    assert found == SkillText("odd", {"name": "odd", "description": "b"}, [])


@pytest.mark.parametrize("end", ["\u2028", "\x0c", "\x85"], ids=["line separator", "form feed", "next line"])
def test_front_matter_ends_where_the_service_sees_its_end(end: str) -> None:
    found = text_of(f"---\nname: odd\ndescription: Use it.\n---\nBody{end}---{end}more\n---\n")
    assert found.front == {"name": "odd", "description": "Use it."}
    with_mark = f"---\nname: odd\n# a note{end}---{end}still the note\ndescription: Use it.\n---\nBody\n"
    assert body_of(with_mark) == "Body\n"
    assert read_skill_text(with_mark.encode(), "odd", "SKILL.md").front["description"] == "Use it."
