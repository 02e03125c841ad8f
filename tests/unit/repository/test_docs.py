"""What the documents name is there: settings, parameters and outputs of the stack, files, headings, commands."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import typer
from cfnlint.decode import cfn_yaml
from skillroute.core import observability
from skillroute.core.settings import LocalSettings
from skillroute.core.settings.base import REMOVED
from skillroute_local.cli import app
from skillroute_local.evaluating.requests import read_requests
from skillroute_local.importing.formats import FORMATS

from tests.settings_page import OF_THE_COMMAND_LINE
from tests.settings_page import PAGE as SETTINGS

ROOT = Path(__file__).parents[3]
DOCUMENTS = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    *sorted((ROOT / "docs").glob("*.md")),
    *sorted((ROOT / "docs" / "adr").glob("*.md")),
    *sorted((ROOT / "docs" / "rules").glob("*.md")),
    *sorted((ROOT / "docs" / "studies").glob("*.md")),
]
DECISIONS = sorted((ROOT / "docs" / "adr").glob("0*.md"))
# Not the decisions as they were once taken, and not what benchmarks/standing/report.py writes.
WRAPPED = [page for page in DOCUMENTS if page.parent.name not in {"adr", "studies"} and page.name != "benchmarks.md"]
TEMPLATE = cfn_yaml.load(str(ROOT / "template.yaml"))
OF_THE_LAPTOP = {f"SKILLROUTE_{name}" for name in (*OF_THE_COMMAND_LINE, "SAM_IMAGE")}
OF_THE_TESTS = {"SKILLROUTE_SOAK", "SKILLROUTE_CATALOGUES", "SKILLROUTE_MCP_1_PYTHON", "SKILLROUTE_ADAPTERS_PYTHON"}


def text(document: Path) -> str:
    return document.read_text("utf-8")


def anchors(document: Path) -> set[str]:
    headings = re.findall(r"^#+ (.+)$", text(document), flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_settings_that_a_document_names_exist(document: Path) -> None:
    known = {f"SKILLROUTE_{name.upper()}" for name in LocalSettings.model_fields} | OF_THE_LAPTOP | OF_THE_TESTS
    known |= set(REMOVED) if document == SETTINGS else set()
    named = set(re.findall(r"\bSKILLROUTE_[A-Z_]*[A-Z]\b", text(document)))
    assert named - known == set()


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_links_lead_somewhere(document: Path) -> None:
    broken = []
    for target in re.findall(r"\]\(([^)\s]+)\)", text(document)):
        if target.startswith(("http:", "https:")):
            continue
        path, _, anchor = target.partition("#")
        file = (document.parent / path) if path else document
        if not file.exists() or (anchor and anchor not in anchors(file)):
            broken.append(target)
    assert broken == []


def test_the_index_of_decisions_has_every_one_with_its_title_and_state() -> None:
    rows = re.findall(
        r"^\| (\d+) \| \[(.+)\]\((\d{4}.+\.md)\) \| (.+) \|$", text(DECISIONS[0].parent / "README.md"), re.M
    )
    expected = []
    for page in DECISIONS:
        title, state = text(page).split("\n")[:2]
        found = re.match(r"(Superseded by|In part overtaken by) \[ADR (\d+)\]", state)
        assert bool(found) == bool(state), f"{page.name}: the second line is empty or says which decision came later"
        number, name = re.fullmatch(r"# (\d+)\. (.+)", title).groups()  # type: ignore[union-attr]
        assert int(number) == int(page.name[:4])
        expected.append((number, name, page.name, f"{found[1].lower()} {found[2]}" if found else "accepted"))
    assert rows == expected


@pytest.mark.parametrize("page", DECISIONS, ids=lambda path: path.name)
def test_decisions_have_the_same_headings_in_the_same_order(page: Path) -> None:
    headings = re.findall(r"^## (.+)$", text(page), flags=re.MULTILINE)
    assert headings[:2] == ["Problem", "Choice"]
    assert headings[2:] == [each for each in ("Figures", "What it costs", "Rejected") if each in headings]


def test_parameters_and_outputs_that_the_operators_pages_name_exist() -> None:
    # In backticks, in camel case, alone or with a value behind.
    pages = "".join(text(ROOT / "docs" / f"{name}.md") for name in ("operations", "deployment", "registry", "mail"))
    named = set(re.findall(r"`([A-Z][a-z]+(?:[A-Z][a-z]*)+)(?:=[^`]*)?`", pages))
    metrics = set(re.findall(r"= \"([A-Z]\w+)\"", text(Path(observability.__file__))))
    known = set(TEMPLATE["Parameters"]) | set(TEMPLATE["Outputs"]) | metrics
    of_aws = {"DatabaseConnectionsCurrentlySessionPinned"}
    assert "DatabaseReaderSecretArn" in named
    assert named - known - of_aws == set()


@pytest.mark.parametrize(
    "document",
    [ROOT / "README.md", ROOT / "docs" / "operations.md", ROOT / "docs" / "deployment.md"],
    ids=lambda path: path.name,
)
def test_make_targets_that_a_document_names_exist(document: Path) -> None:
    targets = set(re.findall(r"^([a-z-]+):", text(ROOT / "Makefile"), flags=re.MULTILINE))
    named = set(re.findall(r"(?:^|`)(?:[A-Z_]+=\S+ )*make ([a-z][a-z-]+)", text(document), flags=re.MULTILINE))
    assert named
    assert named - targets == set()


def options() -> set[str]:
    commands = typer.main.get_command(app).commands.values()  # type: ignore[attr-defined]
    return {option for command in commands for each in command.params for option in (*each.opts, *each.secondary_opts)}


def test_options_and_formats_that_the_page_of_importing_names_exist() -> None:
    page = text(ROOT / "docs" / "import.md")
    named = set(re.findall(r"--[a-z][a-z-]*", page))
    assert {"--prune", "--dry-run", "--register"} <= named
    assert named - options() == set()

    table = page.partition("| source |")[2].partition("\n\n")[0]
    assert {name for row in table.splitlines() for name in re.findall(r"^\|[^|]*\| `([a-z-]+)` \|", row)} == set(
        FORMATS
    )


def test_options_and_requests_that_the_page_of_evaluation_names_exist() -> None:
    page = text(ROOT / "docs" / "evaluation.md")
    named = set(re.findall(r"--[a-z][a-z-]*", page))
    assert {"--queries", "--generate", "--fail-under"} <= named
    assert named - options() == set()

    [block] = re.findall(r"^```jsonl\n(.*?)^```$", page, flags=re.MULTILINE | re.DOTALL)
    problems: list[str] = []
    assert len(list(read_requests(block.encode().splitlines(), "evaluation.md", problems.append))) == 6
    assert problems == []


def test_the_readme_is_short_and_leads_to_every_page() -> None:
    readme = text(ROOT / "README.md")
    assert len(readme.splitlines()) <= 200
    pages = [f"docs/{page.name}" for page in (ROOT / "docs").glob("*.md")]
    assert [page for page in [*pages, "docs/adr/README.md", "docs/rules/README.md"] if f"]({page})" not in readme] == []


def test_the_readme_names_what_an_idle_deployment_costs() -> None:
    """As the table of costs does: all of it, and what is neither database nor network."""
    [idle] = re.findall(r"^\| \*\*together, some\*\* \| \*\*(\d+)\*\*", text(ROOT / "docs/operations.md"), re.MULTILINE)
    rows = re.findall(r"^\| (\w+).+? \| (\d+(?:\.\d+)?)[^|]* \| [^|]+ \| [^|]+ \|$", costs(), re.MULTILINE)
    rest = sum(float(amount) for service, amount in rows if service not in {"Aurora", "Interface"})
    assert len(rows) == 9
    assert idle == str(round(sum(float(amount) for _, amount in rows)))
    assert re.search(rf"about {round(rest)} dollars\s+a month.+ about {idle} with", text(ROOT / "README.md"), re.DOTALL)


@pytest.mark.parametrize("page", ["README.md", "docs/mcp.md"])
def test_tokens_that_a_page_names_are_those_that_were_counted(page: str) -> None:
    """By `make bench-tokens`, which writes its section of docs/benchmarks.md."""
    counted = text(ROOT / "docs/benchmarks.md").partition("## Tokens in an agent's context")[2].partition("\n## ")[0]
    cells = {cell.strip() for row in re.findall(r"^\|(.+)\|$", counted, re.MULTILINE) for cell in row.split("|")}
    table = re.split(r"^\| in the context .*\n", text(ROOT / page), flags=re.MULTILINE)[1].partition("\n\n")[0]
    tokens = [cell.replace(",", "") for row in table.splitlines() for cell in re.split("[|;]", row.split("|", 2)[2])]
    named = {cell.strip() for cell in tokens if cell.strip().isdigit()}
    assert len(named) >= 5
    assert named - cells == set()


def costs() -> str:
    """Return the table of what a deployment costs, but for its last row."""
    section = text(ROOT / "docs/operations.md").partition("## What it costs")[2]
    return section.partition("|---")[2].partition("| **together")[0]


@pytest.mark.parametrize("document", WRAPPED, ids=lambda path: path.name)
def test_lines_are_of_120_characters_at_most(document: Path) -> None:
    """Rows of tables excepted, which cannot be wrapped."""
    lines = enumerate(text(document).splitlines(), start=1)
    assert [number for number, line in lines if len(line) > 120 and not line.startswith("|")] == []
