"""Agent Skills as their owners send them: what is taken, and what is refused by which name."""

from __future__ import annotations

import base64
import hashlib
from typing import Any

import pytest
from skillroute.agent_skills.schemas import MAX_FILE_BYTES, MAX_FILES, MAX_SKILL_BYTES, read_agent_skill
from skillroute.agent_skills.skill_md import MAX_PIECES, Piece
from skillroute.core.errors.model import InvalidInput

from tests.worlds.agent_skills import agent_skill


def changed(**fields: Any) -> dict[str, Any]:
    return {**agent_skill("refunds"), **fields}


def with_file(**fields: Any) -> dict[str, Any]:
    skill = agent_skill("refunds")
    return {**skill, "files": [*skill["files"], {"path": "a.txt", "text": "", **fields}]}


def refused(raw: object) -> dict[str, str]:
    with pytest.raises(InvalidInput) as caught:
        read_agent_skill(raw)
    return {problem.field or "": problem.message for problem in caught.value.problems}


def test_a_skill_is_its_front_matter_and_the_bytes_of_its_files() -> None:
    # GIVEN
    skill = agent_skill("acme/billing/refunds", "# Refunds\nPay.", license="MIT", metadata={"version": "1"})
    skill["files"].append({"path": "assets/logo.png", "base64": base64.b64encode(b"\x89PNG\x00").decode()})
    # WHEN
    given = read_agent_skill(skill)
    # THEN
    content = given.content
    assert (content.path, content.name) == ("acme/billing/refunds", "refunds")
    assert content.frontmatter == skill["frontmatter"]
    [skill_md, logo] = content.files
    raw = skill["files"][0]["text"].encode()
    assert skill_md == ("SKILL.md", len(raw), f"sha256:{hashlib.sha256(raw).hexdigest()}", "text/markdown")
    assert (logo.path, logo.size, logo.mime_type) == ("assets/logo.png", 5, "image/png")
    assert content.contents[logo.digest] == b"\x89PNG\x00"
    assert given.pieces == [Piece("", "Processes refund requests."), Piece("Refunds", "# Refunds\nPay.")]


def test_without_a_path_the_name_is_the_path() -> None:
    skill = agent_skill("refunds")
    del skill["path"]
    assert read_agent_skill(skill).content.path == "refunds"


def test_what_only_answers_have_is_left_aside() -> None:
    shown = {"id": 7, "org_id": None, "name": "refunds", "description": "x", "is_active": True, "content_hash": "h"}
    assert read_agent_skill(changed(**shown)).content == read_agent_skill(changed()).content


@pytest.mark.parametrize(
    ("raw", "field", "words"),
    [
        ([], "agent skill", "must be an object"),
        (changed(path="Acme/refunds"), "path", "small letters"),
        (changed(path="acme//refunds"), "path", "single slashes"),
        (changed(path="../refunds"), "path", "segments"),
        (changed(path="/refunds"), "path", "segments"),
        (changed(path="acme/billing"), "path", "must end in the name of the skill, refunds"),
        (changed(path="a/" * 130 + "refunds"), "path", "1 to 256"),
        (changed(frontmatter={"name": "refunds"}), "frontmatter.description", "1 to 1024"),
        (changed(frontmatter={"name": "refunds", "description": "x" * 1025}), "frontmatter.description", "1 to 1024"),
        (changed(frontmatter={"description": "x"}), "frontmatter.name", "small letters"),
        (changed(frontmatter={"name": "a--b", "description": "x"}), "frontmatter.name", "single hyphens"),
        (changed(frontmatter={"name": "a" * 65, "description": "x"}), "frontmatter.name", "1 to 64"),
        (changed(frontmatter={"name": "refunds", "description": "x", "a": "\x00"}), "frontmatter.a", "NUL"),
        (changed(frontmatter={"name": "refunds", "description": "x", "a": "y" * 70_000}), "agent skill", "65536"),
        (changed(files=[]), "files", "must not be empty"),
        (changed(files=[{"path": "a", "text": ""}]), "files", "has no SKILL.md"),
        (changed(files=[{"path": "SKILL.md", "text": "# Refunds"}]), "files.0", "must begin with front matter"),
        (changed(files=[{"path": "SKILL.md", "base64": "/w=="}]), "files.0", "must be UTF-8"),
        (changed(files=[{"path": "SKILL.md", "text": "---\n---\n\x00"}]), "files.0", "NUL"),
        (changed(files=[{"path": "f", "text": ""}] * (MAX_FILES + 1)), "files", str(MAX_FILES)),
        (with_file(path="../a"), "files.1.path", "without . and .. segments"),
        (with_file(path="/a"), "files.1.path", "relative"),
        (with_file(path="a\\b"), "files.1.path", "single slashes"),
        (with_file(path="SKILL.md"), "files.1.path", "another file"),
        (with_file(base64=""), "files.1.text", "either text or base64"),
        (with_file(text="half a pair: \ud800"), "files.1.text", "lone surrogates"),
        (with_file(text=None), "files.1.text", "either text or base64"),
        (with_file(text=None, base64="a"), "files.1.base64", "is not base64"),
        (with_file(mime_type="text"), "files.1.mime_type", ""),
        (with_file(mime_type="text/plain\r\nX: y"), "files.1.mime_type", ""),
        (with_file(text="x" * (MAX_FILE_BYTES + 1)), "files.1.path", f"at most {MAX_FILE_BYTES}"),
    ],
)
def test_what_is_wrong_is_named_with_the_remedy(raw: object, field: str, words: str) -> None:
    problems = refused(raw)
    assert field in problems
    assert words in problems[field]


def test_all_files_together_have_a_bound() -> None:
    skill = agent_skill("refunds", files={f"{nth}.txt": "x" * MAX_FILE_BYTES for nth in range(3)})
    assert f"at most {MAX_SKILL_BYTES}" in refused(skill)["files"]


def test_a_body_of_more_pieces_than_are_found_is_warned_of() -> None:
    # GIVEN
    body = "".join(f"# Part {nth}\n{'word ' * 150}\n" for nth in range(MAX_PIECES + 1))
    # WHEN
    given = read_agent_skill(agent_skill("refunds", body))
    # THEN
    assert len(given.pieces) == MAX_PIECES + 1
    [warning] = given.warnings
    assert (warning.field, warning.type) == ("files.0", "not_all_indexed")


def test_invisible_characters_are_warned_of_and_in_no_text_that_is_searched() -> None:
    given = read_agent_skill(agent_skill("refunds", "Pay\u200b.", description="Pays\u200b."))
    assert (given.description, [warning.type for warning in given.warnings]) == ("Pays.", ["hidden_characters"])
    assert all("\u200b" not in piece.content for piece in given.pieces)
