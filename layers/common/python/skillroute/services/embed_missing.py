"""Embedding what was written while the model was away."""

from __future__ import annotations

from skillroute.services.embedding import ALL_ROWS, BATCH, EmbeddingJob, Rows, check_model, claim_model, embed_rows


class EmbedMissing(EmbeddingJob):
    """Gives vectors to items, skills, servers, agents and mail that have none."""

    def __call__(self) -> int:
        """Embed what waits and return how many rows that were.

        Raises
        ------
        EmbeddingUnavailable, EmbeddingModelMismatch, DatabaseUnavailable
        """
        if not self._database.read(lambda s: any(rows(s).to_embed(after="", limit=1) for rows in ALL_ROWS)):
            return 0
        model = self._embedder.model
        self._database.transact(lambda session: claim_model(session, model))
        embedded = sum(len(self._embed(rows)) for rows in ALL_ROWS)
        self._after_commit()
        return embedded

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
