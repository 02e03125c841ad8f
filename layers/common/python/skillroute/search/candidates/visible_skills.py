"""The skills of the index that a caller sees: callers name them by ids, the index by keys (docs/adr/0024)."""

from __future__ import annotations

from collections.abc import Collection as Values
from collections.abc import Iterable

from skillroute.catalogue.collection import TOOL_DOCUMENTS
from skillroute.core.caller import Caller
from skillroute.core.documents.index.ahead import Counted, LookedUp
from skillroute.core.documents.index.port import SearchedIndex
from skillroute.search.plan import passes, skills_where, tools_where
from skillroute.skills.collection import SKILL_DOCUMENTS
from skillroute.skills.model import SkillKey, possible_keys


def keys_of_skills(index: SearchedIndex, skill_ids: Iterable[str], caller: Caller) -> list[SkillKey]:
    """Return the keys of the active skills that the caller sees by these ids; unknown ids have none."""
    where = skills_where(caller)
    payloads = index.payloads(SKILL_DOCUMENTS, sorted(possible_keys(skill_ids, caller.org_id)))
    return [SkillKey(key) for key, skill in payloads.items() if passes(where, skill)]


def unseen(index: SearchedIndex, keys: Values[str], caller: Caller) -> frozenset[str]:
    """Return those of the skills of visible tools that the caller does not see.

    That is a global one, of a global tool, whose id the caller's organisation has given to a skill of its own, or one
    that rules of access deny.
    """
    where = skills_where(caller)
    return frozenset(
        key
        for asked in looked_up(keys, caller)
        for key, skill in index.payloads(SKILL_DOCUMENTS, asked.keys).items()
        if not passes(where, skill)
    )


def looked_up(keys: Values[str], caller: Caller) -> list[LookedUp]:
    """Return what `unseen` asks: nothing of a caller who sees all of them."""
    if not keys or (caller.org_id is None and not caller.rights.are_limited):
        return []
    return [LookedUp(SKILL_DOCUMENTS, sorted(keys))]


def tool_count(index: SearchedIndex, key: SkillKey, caller: Caller) -> int:
    """Return how many active tools the caller sees in a skill."""
    return index.count(TOOL_DOCUMENTS, where=tools_of(key, caller).where)


def tools_of(key: SkillKey, caller: Caller) -> Counted:
    """Return what `tool_count` asks."""
    return Counted(TOOL_DOCUMENTS, tools_where(caller, skill_keys=[key]))
