"""Count how common words are, and write the table that `skillroute.core.documents.term_weights` reads.

What is counted: of how many texts a word is part, in tools (name, description, arguments, server, as they are searched
by words) and in requests for tools. Both count one half, for a word that is common in requests alone ("please") says
as little as one that is common in tools alone ("retrieve"); each set of requests counts alike, however large it is.

    cd layers/common/python/skillroute/core/documents
    python ../../../../../../../training/term_counts.py --data /path/to/data --output term_counts.json

With `--asked FILE` it writes the words that people ask with, which the doctor tells jargon by: those that occur in the
requests of two sets or more, without the words of the table. Requests that were written for the tools of
`more/mcp-catalogue` do not count, so that the doctor's false alarms can be counted on these.
"""

from __future__ import annotations

import json
import re
import sys
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

sys.path.append(str(Path(__file__).resolve().parents[1]))
from skillroute.catalogue.rows import indexed_text
from skillroute.catalogue.schemas import read_item
from skillroute.core.documents import term_weights

from benchmarks.harness import arguments, console, words

SETS = ("metatool", "sealtools", "bfcl", "tool-requests", "docker-mcp-catalog", "livemcp-catalog")
TEXTS = 100_000
"""Counts are of so many texts, whatever was counted in."""

_FIELDS = ("type", "name", "description", "server", "input_schema", "output_schema", "annotations", "tags")
_WORD = re.compile(r"[^\W_]+")
_LETTERS = re.compile(r"[^\W\d_]{2,}")

Counts = dict[str, int]


def lexical_texts(tools: Iterable[dict[str, Any]]) -> list[str]:
    """Return what tools are searched by."""
    kept = ({name: tool[name] for name in _FIELDS if tool.get(name)} for tool in tools)
    return [indexed_text(read_item(tool)).lexical_text for tool in kept]


def counted(sets: Sequence[tuple[Sequence[str], Sequence[str]]], size: int) -> Counts:
    """Return the commonest words with their counts; a set is the texts of its tools, and its requests if it has any."""
    shares: Counter[str] = Counter()
    tools = [text for texts, _ in sets for text in texts]
    requests = [queries for _, queries in sets if queries]
    for texts, weight in ((tools, 0.5), *((queries, 0.5 / len(requests)) for queries in requests)):
        for word, count in _having(texts).items():
            shares[word] += weight * count / len(texts)  # type: ignore[assignment]
    best = sorted(shares, key=lambda word: (-shares[word], word))[:size]
    return {word: max(1, round(TEXTS * shares[word])) for word in best}


def load(folder: Path) -> tuple[list[str], list[str]]:
    """Return the texts of the tools of a set and its requests."""
    queries = folder / "queries.jsonl"
    asked = [line["query"] for line in _lines(queries)] if queries.exists() else []
    return lexical_texts(_lines(folder / "tools.jsonl")), asked


def asked_words(data: Path) -> list[str]:
    """Return the words that requests of at least two sets have, of two letters or more, but for those of the table."""
    sets: Counter[str] = Counter()
    for file in sorted([*data.glob("*/queries.jsonl"), *data.glob("more/*/queries.jsonl")]):
        if file.parent.name != "mcp-requests":
            sets.update({word for line in _lines(file) for word in _LETTERS.findall(line["query"].lower())})
    return sorted(word for word, count in sets.items() if count > 1 and word not in term_weights.counts())


def _having(texts: Iterable[str]) -> Counter[str]:
    return Counter(
        word for text in texts for word in set(_WORD.findall(unicodedata.normalize("NFKC", text).casefold()))
    )


def _lines(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder with a folder for each set")
    parser.add_argument("--sets", type=words, default=list(SETS))
    parser.add_argument("--size", type=int, default=4000, help="so many words, the commonest")
    parser.add_argument("--output", type=Path, help="write the table there")
    parser.add_argument("--asked", type=Path, help="write the words that people ask with there")
    args = parser.parse_args()
    if args.asked:
        found = asked_words(args.data)
        args.asked.write_text(f"{' '.join(found)}\n", encoding="utf-8")
        console.print(f"written: {args.asked} ({len(found)} words)")
    if not args.output:
        return
    counts = counted([load(args.data / name) for name in args.sets], args.size)
    args.output.write_text(f"{json.dumps(counts, ensure_ascii=False, separators=(',', ':'))}\n", encoding="utf-8")
    console.print(f"written: {args.output} ({len(counts)} words, the rarest in {min(counts.values())} of {TEXTS})")


if __name__ == "__main__":
    main()
