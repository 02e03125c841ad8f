"""Words that tools and skills have in common, and what a skill could be called that is made for a tool."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable

from skillroute.catalogue.text import ToolText, embedding_views, split_name
from skillroute.skills.classification import SkillDraft, ToolProfile

_WORD = re.compile(r"[^\W_]+")
_LONGEST_DESCRIPTION = 2000  # of what a tool says of itself (skill-contract EC-006)
_SHORTEST_NAME, _LONGEST_NAME = 3, 60
_LONGEST_TEXT = 1000
# What servers are called beside what they are about.
# fmt: off
_SERVER_NOISE = frozenset({
    "a", "ai", "an", "any", "api", "by", "com", "context", "docs", "for", "io", "mcp", "model", "of", "official",
    "prompt", "protocol", "remote", "server", "servers", "service", "the", "to", "via", "with",
})
# Words without a subject: that a description has them says nothing.
_STOP = frozenset({
    "a", "an", "and", "are", "as", "at", "be", "by", "can", "for", "from", "if", "in", "is", "it", "its", "of", "on",
    "or", "that", "the", "their", "this", "to", "use", "used", "using", "was", "when", "which", "with", "you", "your",
})
# fmt: on


def stem(word: str) -> str:
    """Take the plural off an English word, roughly: both sides of a comparison are treated alike.

    Examples
    --------
    >>> [stem(word) for word in ("invoices", "queries", "status", "access", "k8s")]
    ['invoice', 'query', 'status', 'access', 'k8s']
    """
    if len(word) > 4 and word.endswith("ies"):
        return word[:-3] + "y"
    if len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")):
        return word[:-1]
    return word


def stems(text: str) -> frozenset[str]:
    """Return the stems of a text's words, lower case, without those that mean nothing."""
    return frozenset(stem(word) for word in _WORD.findall(text.lower()) if word not in _STOP)


def term_stems(term: str) -> frozenset[str]:
    """Return the stems that a keyword or a name asks for: all of them must occur.

    Examples
    --------
    >>> sorted(term_stems("Tasks & Projects"))
    ['project', 'task']
    """
    return stems(split_name(term))


def name_stems(tool: ToolProfile) -> frozenset[str]:
    """Return the stems of a tool's name and of its server's."""
    return stems(f"{split_name(tool.name)} {tool.server}")


def description_stems(tool: ToolProfile) -> frozenset[str]:
    """Return the stems of a tool's description, as far as it is read."""
    return stems(tool.description[:_LONGEST_DESCRIPTION])


def draft_skill(tool: ToolProfile, taken: Collection[str], reasoning: str) -> SkillDraft:
    """Draft the skill that a tool without one could belong to, for a person to edit.

    It is named after the tool's server, so all tools of a server that fit nowhere ask for one skill; where there is no
    server, or a skill has that name already, after what the tool is about.

    Parameters
    ----------
    taken : collection of str
        The names that skills have, in `str.casefold`.

    Examples
    --------
    >>> description = "List the rules of the DNS filter. Slow."
    >>> tool = ToolProfile(1, None, "list_dns_rules", description, "acme-mcp", None, (), None)
    >>> draft_skill(tool, (), "").name, draft_skill(tool, (), "").description
    ('Acme', 'Tools like list dns rules of acme-mcp: List the rules of the DNS filter.')
    >>> draft_skill(tool, {"acme"}, "").name
    'Acme Dns Rules'
    """
    server = _title(word for word in _WORD.findall(tool.server) if word.lower() not in _SERVER_NOISE)
    subject = _title(_subject(tool).split())
    names = [server, f"{server} {subject}".strip(), subject, f"{subject} Tools", f"Tools Like {subject}"]
    fitting = [name for name in map(_cut_name, names) if len(name) >= _SHORTEST_NAME]
    name = next((name for name in fitting if name.casefold() not in taken), fitting[-1])
    of = f" of {tool.server.strip()}" if tool.server.strip() else ""
    gist = embedding_views(ToolText(tool.name, tool.description))[2]
    text = f"Tools like {split_name(tool.name) or tool.name}{of}: {gist}"
    return SkillDraft(name, f"{text[: _LONGEST_TEXT - 1].rstrip(' .')}.", reasoning)


def draft_for(tool: ToolProfile, proposed: SkillDraft | None) -> SkillDraft:
    """Return what to suggest for a tool that fits no skill: what its classifier proposed, else a draft.

    A proposal comes as it came; its texts are cut to what a skill may have.
    """
    drafted = draft_skill(tool, (), "no skill fits well enough")
    if proposed is None:
        return drafted
    return SkillDraft(
        name=proposed.name.strip()[:255] or drafted.name,
        description=proposed.description.strip()[:_LONGEST_TEXT] or drafted.description,
        reasoning=proposed.reasoning,
    )


def _subject(tool: ToolProfile) -> str:
    return embedding_views(ToolText(tool.name))[1]


def _title(words: Iterable[str]) -> str:
    """Capitalise every word; those that have a capital somewhere are left as they are: ``PowerPoint``."""
    return " ".join(word if word != word.lower() else word[:1].upper() + word[1:] for word in words)


def _cut_name(name: str) -> str:
    """Cut a name between words, or within the only one."""
    if len(name) <= _LONGEST_NAME:
        return name
    return name[: _LONGEST_NAME + 1].rpartition(" ")[0].strip() or name[:_LONGEST_NAME]
