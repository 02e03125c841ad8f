"""Drafts suggestions for tools that fit no skill: an existing skill, or a new one."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable

from skillroute.catalogue.text import VERBS, ToolText, embedding_views, split_name
from skillroute.skills.classification.model import SkillDraft, SkillProfile, ToolProfile
from skillroute.skills.suggestions.model import skill_id_of

_WORD = re.compile(r"[^\W_]+")
_MIN_NAME_LENGTH, _MAX_NAME_LENGTH = 3, 60
_MAX_TEXT_LENGTH = 1000
_MAX_TOPIC_LENGTH = 3
_WITHIN = 2  # words: a prefix may precede the verb (`zia_list_rules`)
# fmt: off
# What servers are called beside what they are about.
_SERVER_NOISE = frozenset({
    "a", "ai", "an", "any", "api", "by", "com", "context", "docs", "for", "io", "mcp", "model", "of", "official",
    "prompt", "protocol", "remote", "server", "servers", "service", "the", "to", "via", "with",
})
# What names of tools begin with beside `VERBS`.
MORE_VERBS = frozenset({
    "activate", "analyze", "apply", "approve", "archive", "assign", "book", "bulk", "calculate", "cancel", "close",
    "charge", "click", "compare", "compress", "confirm", "convert", "copy", "count", "crop", "deactivate", "describe",
    "detect", "disable", "download", "edit", "enable", "estimate", "export", "extract", "fill", "forward", "import",
    "insert", "invite", "lookup", "manage", "merge", "modify", "move", "open", "pay", "post", "push", "put", "receive",
    "refund", "register", "reject", "rename", "replace", "reply", "reserve", "reset", "resize", "resolve", "respond",
    "restart", "restore", "retry", "review", "schedule", "send", "sign", "split", "start", "stop", "submit",
    "subscribe", "summarize", "sync", "transfer", "translate", "track", "trim", "upload", "validate", "verify", "view",
})
_JOINING = frozenset({"and", "or", "in", "on", "at", "as", "that", "which", "using", "based", "so"})
_ARTICLES = frozenset({"a", "an", "the", "all", "any", "one", "some", "your", "this", "these", "its", "new"})
_PREPOSITIONS = frozenset({"by", "for", "from", "into", "of", "to", "via", "with"})
# fmt: on


def draft_beside(skill: SkillProfile, confidence: float) -> SkillDraft:
    """Suggest a skill that is there, for a tool that is near to it and not near enough to be assigned.

    It is suggested under a name whose id is the skill's, so that who reviews it is shown the skill to merge into.
    """
    name = skill.name if skill_id_of(skill.name) == skill.id else skill.id
    return SkillDraft(
        name,
        skill.description[:_MAX_TEXT_LENGTH],
        f'Most likely a tool of "{skill.name}", with a confidence of {confidence:.2f}: too little to assign it unseen.',
    )


def draft_skill(tool: ToolProfile, taken: Collection[str], reasoning: str) -> SkillDraft:
    """Draft the skill that a tool without one could belong to, for a person to edit.

    It is named after what the tool works on, so tools of several servers that do something with one thing ask for one
    skill. Where the name says nothing of that, or a skill is called so already, the server's name stands in it.

    Parameters
    ----------
    taken : collection of str
        The names that skills have, in `str.casefold`.

    Examples
    --------
    >>> text = "Cancels a purchase order that was not delivered. Slow."
    >>> tool = ToolProfile(1, None, "cancel_purchase_order", text, "ehr", None, (), None)
    >>> draft_skill(tool, (), "").name, draft_skill(tool, (), "").description
    ('Purchase Orders', 'Cancel purchase orders, for example: Cancels a purchase order that was not delivered.')
    >>> draft_skill(tool, {"purchase orders"}, "").name
    'Ehr Purchase Orders'
    """
    verb, topic = _deed(tool)
    server = _title(word for word in _WORD.findall(tool.server) if word.lower() not in _SERVER_NOISE)
    title, subject = _title(topic), _title(_subject(tool).split())
    names = [
        title,
        f"{server} {title}".strip(),
        f"{server} {subject}".strip(),
        subject,
        f"{subject} Tools",
        f"Tools Like {subject}",
    ]
    fitting = [name for name in map(_cut_name, names) if len(name) >= _MIN_NAME_LENGTH]
    name = next((name for name in fitting if name.casefold() not in taken), fitting[-1])
    gist = embedding_views(ToolText(tool.name, tool.description))[2]
    deed = " ".join([*([verb] if verb else []), *topic]) or split_name(tool.name) or tool.name
    text = f"{deed[:1].upper()}{deed[1:]}, for example: {gist}"
    return SkillDraft(name, f"{text[: _MAX_TEXT_LENGTH - 1].rstrip(' .')}.", reasoning)


def draft_for(tool: ToolProfile, proposed: SkillDraft | None) -> SkillDraft:
    """Return what to suggest for a tool that fits no skill: what its classifier proposed, else a draft.

    A proposal comes as it came; its texts are cut to what a skill may have.
    """
    drafted = draft_skill(tool, (), "no skill fits well enough")
    if proposed is None:
        return drafted
    return SkillDraft(
        name=proposed.name.strip()[:255] or drafted.name,
        description=proposed.description.strip()[:_MAX_TEXT_LENGTH] or drafted.description,
        reasoning=proposed.reasoning,
    )


def _deed(tool: ToolProfile) -> tuple[str, list[str]]:
    """Return what is done, "" where the name does not say, and on what, in at most three words; nothing, maybe."""
    said = _WORD.findall(tool.description)
    spelt_of = {word.lower(): word for word in said if word[1:] != word[1:].lower()}
    words = split_name(tool.name).split()
    of_server = {word.lower() for word in _WORD.findall(split_name(tool.server))}
    # A name's verb is what the description begins with: "Cancels a purchase order".
    first = said[0].lower() if said else ""
    verbs = [
        word
        for place, word in enumerate(words)
        if word in VERBS
        or (place < _WITHIN and (word in MORE_VERBS or first in {word, f"{word}s", f"{word}es", f"{word}d"}))
    ]
    places = [place for place, word in enumerate(words) if place and word in _PREPOSITIONS]
    kept = words[: places[0]] if places else words
    topic = [word for word in kept if word not in verbs]
    # Where the name says no more than the server's, the description says what it is about.
    topic = [word for word in topic if word not in of_server] or _object_in(tool.description) or topic
    topic = topic[-_MAX_TOPIC_LENGTH:]
    if topic and _is_counted(topic[-1], tool.description) and not spelt_of.get(topic[-1], "").isupper():
        topic[-1] = _plural(topic[-1])
    return verbs[0] if verbs else "", [spelt_of.get(word, word) for word in topic]


def _object_in(description: str) -> list[str]:
    """Return what a description's first words are about, after its verb: "Gets a patient by id" is about a patient."""
    words = _WORD.findall(re.split(r"[.,;:(\n]", description, maxsplit=1)[0].lower())[1:]
    found: list[str] = []
    for word in words:
        if word in _PREPOSITIONS or word in _JOINING:
            break
        if word not in _ARTICLES:
            found.append(word)
    return found if len(found) <= _MAX_TOPIC_LENGTH else []


def _is_counted(word: str, description: str) -> bool:
    """Return whether a description speaks of one of them: "a purchase order"."""
    return (
        re.search(rf"\b(?:a|an|each|every|one)\s+(?:\w+\s+){{0,4}}{re.escape(word)}\b", description.lower()) is not None
    )


def _plural(word: str) -> str:
    if word.endswith("s") or word.isupper():  # it may be one already, or an acronym
        return word
    if word.endswith("y") and word[-2:-1] not in set("aeiou"):
        return f"{word[:-1]}ies"
    return f"{word}es" if word.endswith(("x", "z", "ch", "sh")) else f"{word}s"


def _subject(tool: ToolProfile) -> str:
    return embedding_views(ToolText(tool.name))[1]


def _title(words: Iterable[str]) -> str:
    """Capitalise every word; those that have a capital somewhere are left as they are: ``PowerPoint``."""
    return " ".join(word if word != word.lower() else word[:1].upper() + word[1:] for word in words)


def _cut_name(name: str) -> str:
    """Cut a name between words, or within the only one."""
    if len(name) <= _MAX_NAME_LENGTH:
        return name
    return name[: _MAX_NAME_LENGTH + 1].rpartition(" ")[0].strip() or name[:_MAX_NAME_LENGTH]
