"""Creating a skill, found by its description until it has tools (skill-contract BR-001)."""

from __future__ import annotations

from dataclasses import dataclass

from skillroute.catalogue.text import split_name
from skillroute.core.caller import Caller
from skillroute.core.documents.embed import embed_within
from skillroute.core.documents.texts import IndexedText
from skillroute.core.embedding.model import EmbeddingModel, Vector
from skillroute.core.embedding.port import EMBEDDING_MODEL, Embedder
from skillroute.core.embedding.views import Refusal
from skillroute.core.errors.codes import ErrorCode
from skillroute.core.errors.model import Conflict
from skillroute.core.hashing import text_hash
from skillroute.core.input.json_input import check_json
from skillroute.core.postgres.database import Database, Session
from skillroute.core.rights.decide import EVERYTHING
from skillroute.core.time.deadline import Deadline
from skillroute.skills.model import MAX_SKILLS, NewSkill, Skill
from skillroute.skills.repository import SkillRepository


@dataclass(frozen=True, slots=True)
class PreparedSkill:
    """A skill ready to be stored; without model and vector when the embedding model was away.

    Attributes
    ----------
    vector : Vector, Refusal or None
        Of its description, or why the model has none.
    """

    skill: NewSkill
    text: IndexedText
    model: EmbeddingModel | None
    vector: Vector | Refusal | None


class PrepareSkill:
    """Checks a skill and embeds its description."""

    def __init__(self, embedder: Embedder, *, timeout_s: float = 10.0) -> None:
        self._embedder = embedder
        self._timeout_s = timeout_s

    def __call__(self, new: NewSkill, *, embed: bool = True) -> PreparedSkill:
        """Return the skill with its texts, and with a vector unless the model is away, refuses it, or is not asked.

        Raises
        ------
        InvalidInput
            A text holds NUL or a lone surrogate.
        """
        check_json(new.model_dump(mode="json"))
        text = indexed_text(new)
        if not embed:
            return PreparedSkill(new, text, None, None)
        deadline = Deadline(self._timeout_s, callee=EMBEDDING_MODEL)
        made = embed_within(self._embedder, [text.embedding_texts], deadline, what="skills")
        return PreparedSkill(new, text, self._embedder.model if made else None, made[0] if made else None)


class SkillWriter:
    """The base of the use cases that write skills."""

    def __init__(self, database: Database, prepare: PrepareSkill) -> None:
        self._database = database
        self._prepare = prepare


class CreateSkill(SkillWriter):
    """Stores a new skill with an embedding of its description."""

    def __call__(self, new: NewSkill, caller: Caller, *, is_active: bool = True) -> Skill:
        """Create a skill of the caller's organisation.

        While the embedding model is away the skill is stored without a vector and gets it later. The id of a deleted
        skill can be used again.

        Raises
        ------
        InvalidInput
            A text holds NUL or a lone surrogate.
        Conflict
            The organisation sees a skill of this id, its own or a global one, or has as many skills as it may.
        DatabaseUnavailable
            Nothing was written.
        """
        prepared = self._prepare(new.model_copy(update={"org_id": caller.org_id}))
        return self._database.transact(lambda session: store(session, prepared, is_active=is_active))


def store(session: Session, prepared: PreparedSkill, *, is_active: bool = True) -> Skill:
    """Store a prepared skill within a transaction. Raises `Conflict`.

    A global skill is stored whichever organisations have one of its id: these go on seeing their own, and nobody learns
    of it (decision 29).
    """
    new = prepared.skill
    SkillRepository(session).lock_skills_of(new.org_id)
    seen = SkillRepository(session).get(new.id, new.org_id, rights=EVERYTHING)
    # Asked first: with both wrong, that the id is taken is what helps.
    if seen is not None and seen.org_id != new.org_id:
        raise Conflict(
            f"Skill already exists: {new.id} is global, and every organisation sees it; choose another id",
            ErrorCode.SKILL_EXISTS,
        )
    if seen is None and SkillRepository(session).count_of(new.org_id) >= MAX_SKILLS:
        raise Conflict(f"there are {MAX_SKILLS} skills; no more are allowed", ErrorCode.TOO_MANY_SKILLS)
    if not SkillRepository(session).create(new, prepared.text, prepared.model, prepared.vector, is_active=is_active):
        raise Conflict(f"Skill already exists: {new.id}", ErrorCode.SKILL_EXISTS)
    session.note_news()
    skill = SkillRepository(session).get(new.id, new.org_id, rights=EVERYTHING)
    assert skill is not None  # noqa: S101 (stored two statements ago, in this transaction)
    return skill


def indexed_text(skill: NewSkill) -> IndexedText:
    """Return what a skill says to the index: name and description by meaning; keywords and examples by words."""
    embedded = f"{skill.name}: {skill.description}"
    examples = (f"{name} {split_name(name)}" for name in skill.examples)
    words = " ".join([skill.name, skill.description, *skill.keywords, *examples])
    return IndexedText((embedded,), words, text_hash(embedded, words, *skill.keywords, "", *skill.examples))
