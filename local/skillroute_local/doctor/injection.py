"""Texts that tell the model what to do: instructions, and what to do with the tools of other servers."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from skillroute.catalogue.trust.lint import instructions, texts_of, words_around

from skillroute_local.doctor.model import Catalogue, Code, Finding, Tool, in_order, listed

_SHOWN = 2
"""Places that a finding quotes."""
_MAX_TEXT = 20_000

# `send_mail`, `sendMail`: words of a language are none of these, so that who writes one means the tool.
_DISTINCTIVE = re.compile(r"\w[_.-]+[^\W\d_]|[a-z][A-Z]")
_TOKEN = re.compile(r"\w+(?:[.:-]+\w+)*")
_PARTS = re.compile(r"[.:]+|__+")
_SENTENCE_END = re.compile(r"[.!?;](?=\s)|\n\s*(?=[\n*•-])")
# What a text says that wants a tool used, left out, or used at another time.
_TELLS = re.compile(
    r"\b(?:before|after|prior\s+to|instead|rather\s+than|(?:recommended|preferred|better)\s+(?:over|than)|prefer|never|"
    r"do\s+not|don't|avoid|stop|must|always|first|deprecated|obsolete|replaces|supersedes|when(?:ever)?|every\s+time|"
    r"ignore|disregard)\b",
    re.IGNORECASE,
)


class _Mention(NamedTuple):
    name: str
    place: str
    words: str


def reads_as_instruction(catalogue: Catalogue) -> Iterator[Finding]:
    """Find items with texts that read as instructions to a model, in any of the fields that it reads."""
    for tool in catalogue.tools:
        found = list(instructions(tool.definition))
        if not found:
            continue
        quoted = [f"{each.place} {each.says}: {each.words!r}" for each in found[:_SHOWN]]
        yield Finding(
            Code.READS_AS_INSTRUCTION,
            95,
            f"{tool.title} tells the model what to do: {_joined(quoted, len(found))}",
            "look at who wrote it; switch the item off, or have its text say what the tool does and nothing else",
            (tool,),
        )


def shadows_tools(catalogue: Catalogue) -> Iterator[Finding]:
    """Find items whose texts tell the model how to use tools of other servers, or not to."""
    holders: dict[str, list[Tool]] = defaultdict(list)
    for tool in catalogue.tools:
        if tool.type == "tool" and _DISTINCTIVE.search(tool.name):
            holders[tool.name].append(tool)
    for tool in catalogue.tools:
        found = list(_mentions(tool, holders))
        if not found:
            continue
        others = in_order(other for name in {each.name for each in found} for other in holders[name])
        quoted = [f"{each.place}: {each.words!r}" for each in found[:_SHOWN]]
        yield Finding(
            Code.SHADOWS_TOOLS,
            85,
            f"{tool.title} says what to do with {listed([other.title for other in others], 2)}, in "
            f"{_joined(quoted, len(found))}",
            "look at who wrote it; a description has no say in tools of other servers: switch the item off, or take "
            "the sentence out",
            (tool, *others),
        )


def _mentions(tool: Tool, holders: Mapping[str, list[Tool]]) -> Iterator[_Mention]:
    """Yield the first sentence of each text that tells what to do with a tool which another server alone has."""
    properties = (tool.input_schema or {}).get("properties")
    own = set(properties) if isinstance(properties, Mapping) else set()
    for place, text in texts_of(tool.definition):
        told = (sentence for sentence in _SENTENCE_END.split(text[:_MAX_TEXT]) if _TELLS.search(sentence))
        tokens = ((sentence, token) for sentence in told for token in _TOKEN.finditer(sentence))
        for sentence, token in tokens:
            name = _named(token[0], holders)
            if name and name not in own and all(other.server != tool.server for other in holders[name]):
                yield _Mention(name, place, words_around(sentence, token))
                break


def _named(token: str, holders: Mapping[str, list[Tool]]) -> str | None:
    """Return the tool's name that a token is, or ends with behind its server's: ``mcp__mail__send_mail``.

    Capitals count, for `checkOut` is no checkout, but for those of a text that is in capitals whole.
    """
    spelt = token.lower() if token.isupper() else token
    return next((name for name in (token, spelt, _PARTS.split(spelt)[-1]) if name in holders), None)


def _joined(quoted: list[str], count: int) -> str:
    more = count - len(quoted)
    return "; ".join(quoted) + (f"; and {more} more" if more > 0 else "")
