"""Marks of judged sets that parts of this project were trained or tuned on.

`report.py` marks what it writes. After a change of the marks the page can be made anew without measuring:

    python -m benchmarks.standing.marks docs/benchmarks.md
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

FITTED, CHOSEN = "†", "‡"
MARKS = {
    "tool-requests": FITTED,
    "metatool": FITTED + CHOSEN,
    "bfcl": FITTED + CHOSEN,
    "sealtools": FITTED + CHOSEN,
    "examples": CHOSEN,
    "docker-mcp-catalog": CHOSEN,
    "livemcp-catalog": CHOSEN,
}
HEAD = "**Fitted or chosen on what is measured:**"
_OF_SETS = f"""\
{FITTED} the encoder `tool-minilm-l6` and the fusion learned from other requests of this set. {CHOSEN} something was
chosen with this set in view: the text of tools, BM25's parameters and the weight of the hybrid strategy with
`examples`, `metatool`, `sealtools` and `bfcl`, the form of the fusion and the bound of `no_match` with the two
catalogues (ADR [3](adr/0003-what-text-is-embedded.md), [38](adr/0038-learned-fusion.md),
[41](adr/0041-confidence-and-no-match.md))."""
_WEIGHTS = "[ADR 67](adr/0067-requests-of-a-tool.md), [69](adr/0069-what-a-server-says-of-itself.md)"
_COVERAGE = "the constants of {what} were chosen on these queries ([ADR {adr}](adr/{page}.md))."
SECTIONS = {
    "Compared with others": _OF_SETS,
    "Among real tools with ordinary names": _OF_SETS,
    "Every way of asking": f"{_OF_SETS} So were the weights of requests and of server texts ({_WEIGHTS}).",
    "Retrieval quality": f"{_OF_SETS} All requests are asked, those that training saw as well.",
    "Whether scores are right as often as they say": f"{_OF_SETS} What is held out was not fitted on.",
    "The weights of words in lexical search": _OF_SETS,
    "The weight of the hybrid strategy": f"{_OF_SETS} The weight is chosen on the sets that it is measured on.",
    "How much of a skill is its description": f"{_OF_SETS} The share is chosen on the sets that it is measured on.",
    "Registry search: quality": _COVERAGE.format(what="`coverage`", adr=17, page="0017-fusing-by-coverage"),
    "Message search: quality": _COVERAGE.format(what="`hybrid`", adr=40, page="0040-fusion-by-coverage-is-the-default"),
}
"""Sections of docs/benchmarks.md that measure what learned or was chosen so, and what is said there beside it."""

_NAMES = re.compile(rf"(### |\| )({'|'.join(MARKS)})(?: [{FITTED}{CHOSEN}]+)?(?=,| \||$)", re.MULTILINE)


def marked(name: str) -> str:
    """Return a set's name with its marks."""
    return f"{name} {MARKS[name]}" if name in MARKS else name


def with_marks(page: str) -> str:
    """Return the page with every set's name marked where `SECTIONS` has the section, and what the marks mean there."""
    return "".join(_with_marks(section) for section in re.split(r"^(?=## )", page, flags=re.MULTILINE))


def _with_marks(section: str) -> str:
    said = SECTIONS.get(section.partition("\n")[0].removeprefix("## "))
    if said is None:
        return section
    section = re.sub(rf"^{re.escape(HEAD)}.*?\n\n", "", section, flags=re.MULTILINE | re.DOTALL)
    section = _NAMES.sub(lambda found: found[1] + marked(found[2]), section)
    return re.sub(
        r"^(Options: .*\n\n)", lambda found: f"{found[1]}{HEAD} {said}\n\n", section, count=1, flags=re.MULTILINE
    )


if __name__ == "__main__":
    file = Path(sys.argv[1])
    file.write_text(with_marks(file.read_text(encoding="utf-8")), encoding="utf-8")
