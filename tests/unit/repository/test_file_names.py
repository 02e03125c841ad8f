"""Files that pages, comments and docstrings name are in the repository."""

from __future__ import annotations

import ast
import io
import re
import subprocess
import tokenize
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[3]
CODE = ("benchmarks/", "clients/", "functions/", "layers/", "local/", "tests/")
# Not what follows or precedes a placeholder, an address or a pattern: `{name}.md`, `http://host/a.json`, `*.sql`.
NAME = re.compile(
    r"(?<![\w./:@{}*<>~$-])(?!/)[\w./-]+\.(?:py|sql|md|ya?ml|toml|jsonl?|lock|html|css|js)(?![\w*{/<(:-]|\.gz)"
)
GENERATED = (".bench/", "results/", "run.json")
OF_USERS = {
    *("SKILL.md", "server.json", "baseline.json", "listed.json", "requests.jsonl", "petstore.yaml"),
    *("EVENT.json", "REQUESTS.jsonl", "requests.NAME.DIGEST.jsonl", "requests.WHAT.jsonl"),
    *("requests.dismissed.jsonl", "requests.history.jsonl", "requests.missed.jsonl"),
    # Settings of agents, which docs/import.md and docs/connect.md name.
    *(
        "mcp.json",
        ".mcp.json",
        ".claude.json",
        ".cursor/mcp.json",
        ".vscode/mcp.json",
        "mcp-config.json",
        "mcp_config.json",
        "mcp_settings.json",
    ),
    *("claude_desktop_config.json", "cline_mcp_settings.json", "gemini-extension.json", "settings.json"),
    *("config.toml", "config.yaml", "crush.json", "librechat.yaml", "opencode.json"),
}


def test_files_that_pages_and_modules_name_exist() -> None:
    """By their path, or by its last parts."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    )
    files = [file for file in listed.stdout.splitlines() if (ROOT / file).exists()]
    known = {"/".join(parts[start:]) for parts in (file.split("/") for file in files) for start in range(len(parts))}
    missing = {
        f"{file}: {name}"
        for file in files
        if (file.endswith(".md") and file.startswith(("README", "CONTRIBUTING", "docs/")))
        or (file.endswith(".py") and file.startswith(CODE))
        for name in unknown((ROOT / file).read_text("utf-8"), known)  # most files name none, and need no parser
        if any(name in unknown(text, known) for text in prose(ROOT / file))
    }
    assert sorted(missing) == []


def unknown(text: str, known: set[str]) -> set[str]:
    names = {re.sub(r"^(\.\.?/)+", "", name) for name in NAME.findall(text)}
    return {name for name in names - known - OF_USERS if not name.startswith(GENERATED)}


def prose(file: Path) -> Iterator[str]:
    """Yield a page without its blocks of code, or the comments and docstrings of a module."""
    source = file.read_text("utf-8")
    if file.suffix == ".md":
        yield re.sub(r"^ *```.*?^ *```$", "", source, flags=re.MULTILINE | re.DOTALL)
        return
    yield from (t.string for t in tokenize.generate_tokens(io.StringIO(source).readline) if t.type == tokenize.COMMENT)
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            yield node.value.value
