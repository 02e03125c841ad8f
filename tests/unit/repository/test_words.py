"""Docstrings, comments and error texts use the terms of CONTRIBUTING.md; words that are not used only get fewer."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
SOURCES = ("layers/common", "local", "clients/python/skillroute_client", "functions")
PAGES = ROOT / "local" / "skillroute_local" / "console" / "static"

# How often each word that is not used still occurs. Record a smaller count when you remove some; never a larger one.
COUNTS = {
    "nobody": 63,
    "somebody": 26,
    "everybody": 12,
    "whoever": 19,
    "beside": 50,
    "things?": 117,
    "told": 24,
    "said": 30,
    "whatever": 69,
    "by what": 31,
    "what is none": 1,
}
# Docstrings that still begin with a question word, by file.
BEGUN: set[str] = set()
QUESTION = re.compile(r"(What|Whatever|Whose|By what)\b")


def python_files() -> list[Path]:
    """Return the source files, of the packages only."""
    return sorted(
        path for folder in SOURCES for path in (ROOT / folder).rglob("*.py") if "site-packages" not in path.parts
    )


def docstrings(tree: ast.AST) -> Iterator[str]:
    """Yield the docstrings of a module, its classes and functions, and of attributes."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            for statement in node.body:
                match statement:
                    case ast.Expr(value=ast.Constant(value=str(text))):
                        yield text


def texts(source: str) -> Iterator[str]:
    """Yield the string literals and the comments of a Python source, docstrings among them."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            yield token.string


@cache
def counted() -> Counter[str]:
    """Count the words that are not used in all texts of Python, and in the console's pages."""
    found: Counter[str] = Counter()
    all_texts = [text for path in python_files() for text in texts(path.read_text(encoding="utf-8"))]
    all_texts += [path.read_text(encoding="utf-8") for path in PAGES.iterdir() if path.suffix in {".js", ".html"}]
    for text in all_texts:
        for word in COUNTS:
            found[word] += len(re.findall(rf"\b{word}\b", text, re.IGNORECASE))
    return found


def test_no_docstring_begins_with_a_question_word() -> None:
    begun = {
        path.relative_to(ROOT).as_posix()
        for path in python_files()
        for text in docstrings(ast.parse(path.read_text(encoding="utf-8")))
        if QUESTION.match(text)
    }
    assert begun <= BEGUN


@pytest.mark.parametrize("word", COUNTS)
def test_a_word_that_is_not_used_occurs_as_often_as_recorded(word: str) -> None:
    assert counted()[word] == COUNTS[word], f"{word!r}: use another word, or record the smaller count in COUNTS"
