"""Embedding what was written while the model was away."""

from __future__ import annotations

from skillroute.services.embedding import BATCH, EmbeddingJob, Rows, check_model, claim_model, embed_rows


class EmbedMissing(EmbeddingJob):
    """Gives vectors to items and skills that have none."""

    def __call__(self) -> int:
        """Embed what waits and return how many rows that were.

        Raises
        ------
        EmbeddingUnavailable, EmbeddingModelMismatch, DatabaseUnavailable
        """
        waiting = self._database.read(
            lambda s: bool(s.items.to_embed(after="", limit=1) or s.skills.to_embed(after="", limit=1))
        )
        if not waiting:
            return 0
        model = self._embedder.model
        self._database.transact(lambda session: claim_model(session, model))
        items = self._embed(lambda session: session.items)
        skills = self._embed(lambda session: session.skills)
        self._after_commit()
        return len(items) + len(skills)

    def _embed(self, rows: Rows) -> list[str]:
        return embed_rows(
            self._database,
            self._embedder,
            rows,
            lambda repository, after: repository.to_embed(after=after, limit=BATCH),
            timeout_s=self._timeout_s,
            # A reindex may switch the model while this embeds; its vectors must not be overwritten by ours.
            check=lambda session: check_model(session, self._embedder.model),
        )
