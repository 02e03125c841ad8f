"""Each rule on Agent Skills, on shapes that real ones have."""

from __future__ import annotations

import itertools

import pytest
from skillroute_local.doctor import AgentSkill, Catalogue, Code, Finding, Tool, diagnose, report_of

_ids = itertools.count(1)
PDF = "Fill in forms of PDF files and merge pages. Use when a PDF is mentioned."


def skill(path: str, description: str = PDF, body: str | None = "# Steps\nDo it.", allowed: str = "") -> AgentSkill:
    return AgentSkill(path, path.rpartition("/")[2], description, allowed, body)


def tool(title: str) -> Tool:
    server, _, name = title.rpartition("/")
    return Tool(next(_ids), server, name, description="Draws a map of a coast.")


def found(code: Code, *skills: AgentSkill, tools: tuple[Tool, ...] = ()) -> list[Finding]:
    return [finding for finding in diagnose(Catalogue(tools, agent_skills=skills)) if finding.code is code]


def paths(findings: list[Finding]) -> list[tuple[str, ...]]:
    return [finding.agent_skills for finding in findings]


def test_skills_of_one_name_shadow_each_other() -> None:
    same = found(Code.AGENT_SKILLS_SHADOW, skill("b/pdf", "Reads invoices."), skill("a/pdf"), skill("xlsx", "Sums up."))
    assert paths(same) == [("a/pdf", "b/pdf")]
    assert same[0].weight == 60


@pytest.mark.parametrize(
    ("other", "is_alike"),
    [
        (PDF, True),
        ("Fills in a form of a PDF file, merging pages. Use it when PDFs are mentioned", True),
        ("Fill in forms of spreadsheets. Use when a workbook is mentioned.", False),
    ],
)
def test_descriptions_that_say_the_same_shadow_each_other(other: str, is_alike: bool) -> None:
    same = found(Code.AGENT_SKILLS_SHADOW, skill("pdf"), skill("forms", other), skill("pages", "Counts."))
    assert paths(same) == ([("forms", "pdf")] if is_alike else [])


@pytest.mark.parametrize(
    ("description", "body", "weight"),
    [
        (PDF, "", None),
        ("This skill should be used for tax returns.", "", None),
        ("Audita controles. Activar siempre que se pida una auditoría.", "", None),
        ("处理 PDF 文件，当用户需要时使用", "", None),
        ("Merges PDF files.", "## When to use\nFor scans.", 25),
        ("Merges PDF files.", None, 25),
        ("Merges PDF files.", "# Steps\nDo it.", 40),
    ],
)
def test_a_skill_says_when_to_use_it(description: str, body: str | None, weight: int | None) -> None:
    without = found(Code.AGENT_SKILL_WITHOUT_WHEN, skill("pdf", description, body))
    assert [finding.weight for finding in without] == ([] if weight is None else [weight])


@pytest.mark.parametrize(
    ("allowed", "body", "missing"),
    [
        ("Read Bash(git:*) mcp__github__create_issue", "", ""),
        ("mcp__github__delete_repository", "", "github/delete_repository"),
        ("", "Call `mcp__my-files__read_file` first.", "my-files/read_file"),
        ("", "Call `GitHub:create_issue`, then `BigQuery:run`, with `key:value`.", ""),
        ("", "Call `github:close_issue`.", "github/close_issue"),
        ("", "At last mcp__github__close.", "github/close"),
        ("", "Call `createIssue()` or `create-issue`.", "createIssue (it is called create_issue)"),
        ("", "Call `create_issue` with `some_argument`, and `search`.", ""),
    ],
)
def test_tools_that_a_skill_names_are_in_the_catalogue(allowed: str, body: str, missing: str) -> None:
    tools = (tool("github/create_issue"), tool("GitHub/search"))
    findings = found(Code.AGENT_SKILL_TOOLS_MISSING, skill("a", PDF, body, allowed), tools=tools)
    assert len(findings) == bool(missing)
    if findings:
        assert missing in findings[0].reason
        assert findings[0].reason[-1] != "."


def test_the_report_has_how_many_there_are_and_their_paths() -> None:
    catalogue = Catalogue((), agent_skills=(skill("a/pdf"), skill("b/pdf")))
    report = report_of(catalogue, diagnose(catalogue))
    assert report["checked"]["agent_skills"] == 2
    assert report["findings"][0]["agent_skills"] == ["a/pdf", "b/pdf"]
