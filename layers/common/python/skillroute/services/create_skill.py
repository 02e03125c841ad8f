"""Creating a skill, found by its description until it has tools (skill-contract BR-001)."""

from __future__ import annotations

from collections.abc import Callable

from skillroute.domain.caller import Caller
from skillroute.domain.hashing import text_hash
from skillroute.domain.skills import NewSkill, Skill
from skillroute.domain.tool_text import split_name
from skillroute.errors import Conflict, EmbeddingUnavailable
from skillroute.observability import Metric, count, logger
from skillroute.ports import Database, Embedder, IndexedText, Session
from skillroute.services.embedding import claim_model, embed_views
from skillroute.services.item_input import check_json


class CreateSkill:
    """Stores a new skill with an embedding of its description."""

    def __init__(
        self,
        database: Database,
        embedder: Embedder,
        *,
        after_commit: Callable[[], None] = lambda: None,
        timeout_s: float = 10.0,
    ) -> None:
        self._database = database
        self._embedder = embedder
        self._after_commit = after_commit
        self._timeout_s = timeout_s

    def __call__(self, new: NewSkill, caller: Caller) -> Skill:
        """Create a skill of the caller's organisation.

        While the embedding model is away the skill is stored without a vector and gets it later.

        Raises
        ------
        InvalidInput
            A text holds NUL or a lone surrogate.
        Conflict
            The id is taken.
        DatabaseUnavailable, EmbeddingModelMismatch
            Nothing was written.
        """
        check_json(new.model_dump(mode="json"))
        owned = new.model_copy(update={"org_id": caller.org_id})
        text = indexed_text(owned)
        try:
            vector = embed_views(self._embedder, [text.embedding_texts], timeout_s=self._timeout_s)[0]
        except EmbeddingUnavailable as error:
            logger.warning("skill stored without embedding", extra={"skill_id": new.id, "reason": str(error)})
            count(Metric.EMBEDDING_FAILED)
            vector = None

        def create(session: Session) -> Skill | None:
            model = None
            if vector is not None:
                model = self._embedder.model
                claim_model(session, model)
            if not session.skills.create(owned, text, model, vector):
                return None
            return session.skills.get(owned.id, caller.org_id)

        skill = self._database.transact(create)
        if skill is None:
            raise Conflict(f"Skill already exists: {new.id}")
        self._after_commit()
        return skill


def indexed_text(skill: NewSkill) -> IndexedText:
    """Return what a skill says to the index: name and description by meaning; keywords and examples by words."""
    embedded = f"{skill.name}: {skill.description}"
    examples = (f"{name} {split_name(name)}" for name in skill.examples)
    words = " ".join([skill.name, skill.description, *skill.keywords, *examples])
    return IndexedText((embedded,), words, text_hash(embedded, words))
