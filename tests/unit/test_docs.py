"""What the documents name is there: settings, parameters and outputs of the stack, files, headings, commands."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from cfnlint.decode import cfn_yaml
from skillroute.core.settings import LocalSettings

ROOT = Path(__file__).parents[2]
DOCUMENTS = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    *sorted((ROOT / "docs").glob("*.md")),
    *sorted((ROOT / "docs" / "adr").glob("*.md")),
    *sorted((ROOT / "docs" / "rules").glob("*.md")),
]
TEMPLATE = cfn_yaml.load(str(ROOT / "template.yaml"))
# Read by the command line, not by a settings model.
OF_THE_LAPTOP = {f"SKILLROUTE_{name}" for name in ("HOME", "RELAY_EVERY_S", "TOKEN", "URL", "SIGN_REGION", "SAM_IMAGE")}
OF_THE_TESTS = {"SKILLROUTE_SOAK", "SKILLROUTE_CATALOGUES"}


def text(document: Path) -> str:
    return document.read_text("utf-8")


def anchors(document: Path) -> set[str]:
    headings = re.findall(r"^#+ (.+)$", text(document), flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_settings_that_a_document_names_exist(document: Path) -> None:
    known = {f"SKILLROUTE_{name.upper()}" for name in LocalSettings.model_fields} | OF_THE_LAPTOP | OF_THE_TESTS
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


def test_parameters_and_outputs_that_the_operators_page_names_exist() -> None:
    # In backticks, in camel case, alone or with a value behind.
    named = set(re.findall(r"`([A-Z][a-z]+(?:[A-Z][a-z]*)+)(?:=[^`]*)?`", text(ROOT / "docs" / "operations.md")))
    metrics = set(
        re.findall(r"= \"([A-Z]\w+)\"", (ROOT / "layers/common/python/skillroute/observability.py").read_text("utf-8"))
    )
    known = set(TEMPLATE["Parameters"]) | set(TEMPLATE["Outputs"]) | metrics
    of_aws = {"DatabaseConnectionsCurrentlySessionPinned"}
    assert "DatabaseReaderSecretArn" in named
    assert named - known - of_aws == set()


@pytest.mark.parametrize("document", [ROOT / "README.md", ROOT / "docs" / "operations.md"], ids=lambda path: path.name)
def test_make_targets_that_a_document_names_exist(document: Path) -> None:
    targets = set(re.findall(r"^([a-z-]+):", text(ROOT / "Makefile"), flags=re.MULTILINE))
    named = set(re.findall(r"(?:^|`)(?:[A-Z_]+=\S+ )*make ([a-z][a-z-]+)", text(document), flags=re.MULTILINE))
    assert named
    assert named - targets == set()
