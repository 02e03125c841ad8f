"""The models of a Skillroute: what it uses for each job, where it runs, and how what is missing is configured."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from skillroute.core.documents.index_state import IndexStateRepository
from skillroute.core.documents.model import Models
from skillroute.core.embedding.model import EmbeddingModel
from skillroute.core.settings import ClassifierSettings, RerankSettings

from skillroute_local.standing import State

if TYPE_CHECKING:
    from skillroute.wiring import Parts

_HERE = "in this process"
_RERANK = (
    "`hybrid_rerank` is served as `hybrid`. Set SKILLROUTE_RERANK_PROVIDER=onnx with SKILLROUTE_RERANK_MODEL_DIR, or "
    "=bedrock with SKILLROUTE_RERANK_MODEL."
)
_CHAT = (
    "Tools are classified by similarity, which needs none. For a language model set SKILLROUTE_CLASSIFIER=llm, "
    "SKILLROUTE_CHAT_PROVIDER and SKILLROUTE_CHAT_MODEL."
)


def read_models(parts: Parts) -> dict[str, Any]:
    """Return the models, the vectors that wait for them, and the gravest state. Raises `DatabaseUnavailable`."""
    stored, awaited = parts.database.read(
        lambda session: (IndexStateRepository(session).models(), IndexStateRepository(session).awaited())
    )
    own = parts.query_embedder.model()
    rows = [_embedding(parts, own, stored, awaited), *_vectors(own, stored, awaited), _reranker(parts), _chat(parts)]
    grave = next((row["state"] for kind in ("no", "so") for row in rows if row["state"]["kind"] == kind), None)
    return {"rows": rows, "state": grave or asdict(State("ok", "in use"))}


def _row(job: str, name: str | None, where: str, state: State, dimension: int | None = None) -> dict[str, Any]:
    return {"job": job, "name": name, "dimension": dimension, "where": where, "state": asdict(state)}


def _embedding(
    parts: Parts, own: EmbeddingModel | None, stored: Models, awaited: dict[EmbeddingModel, int]
) -> dict[str, Any]:
    settings = parts.settings
    where = _HERE
    if settings.embedding_provider == "openai":
        where = urlsplit(settings.openai_base_url).hostname or "an endpoint"
    elif settings.embedding_provider == "bedrock":
        where = f"Bedrock, {settings.bedrock_region or 'region of the environment'}"
    if own is None:
        state = State("no", "unavailable", "Searches match words only: check SKILLROUTE_EMBEDDING_PROVIDER and _MODEL.")
        return _row("Embedding", settings.embedding_model, where, state)
    if not stored.takes(own):
        state = State(
            "no",
            "another model than the vectors",
            f"Stored vectors are of {_name(stored.current)}, and searches go by those. Run `skillroute reindex` to "
            "change to this model, or configure that one again.",
        )
    else:
        state = _awaited(awaited.get(own, 0))
    return _row("Embedding", own.name, where, state, own.dimension)


def _vectors(
    own: EmbeddingModel | None, stored: Models, awaited: dict[EmbeddingModel, int]
) -> Iterator[dict[str, Any]]:
    """Yield the other models that vectors are kept of: two side by side while a reindex changes the model (ADR 35)."""
    for job, model in (
        ("Vectors that are searched", stored.current),
        ("Vectors of the model before", stored.previous),
        ("Vectors of the next model", stored.next),
    ):
        if model is None or model == own:
            continue
        if model == stored.next:
            count = awaited.get(model, 0)
            state = State(
                "so", f"{count:,} to compute", "`skillroute reindex` computes them, and goes on where it ended."
            )
        elif model == stored.previous:
            state = State("off", "kept for a while", "Processes that are still configured for it search these.")
        else:
            state = _awaited(awaited.get(model, 0))
        yield _row(job, model.name, "in the database", state, model.dimension)


def _awaited(count: int) -> State:
    if not count:
        return State("ok", "all vectors computed")
    return State(
        "ok", f"{count:,} to compute", "The relay computes them each minute; `skillroute reindex` does so at once."
    )


def _reranker(parts: Parts) -> dict[str, Any]:
    settings = parts.settings
    if not isinstance(settings, RerankSettings) or settings.rerank_provider == "none":
        return _row("Reranker", None, "", State("off", "not configured", _RERANK))
    if settings.rerank_provider == "onnx" and settings.rerank_model_dir is not None:
        return _row("Reranker", settings.rerank_model_dir.name, _HERE, State("ok", "configured"))
    where = f"Bedrock, {settings.rerank_region or 'region of the environment'}"
    return _row("Reranker", settings.rerank_model, where, State("ok", "configured"))


def _chat(parts: Parts) -> dict[str, Any]:
    settings = parts.settings
    job = "Classifier"
    if not isinstance(settings, ClassifierSettings) or settings.chat_provider == "none":
        return _row(job, None, "", State("off", "by similarity", _CHAT))
    where = f"Bedrock, {settings.chat_region or 'region of the environment'}"
    if settings.chat_provider == "openai":
        where = urlsplit(settings.chat_base_url).hostname or "an endpoint"
    if settings.classifier != "llm":
        state = State("off", "configured, not used by it", "Set SKILLROUTE_CLASSIFIER=llm to have it classify tools.")
        return _row(job, settings.chat_model, where, state)
    return _row(job, settings.chat_model, where, State("ok", "configured"))


def _name(model: EmbeddingModel | None) -> str:
    return f"{model.name} ({model.dimension})" if model else "none"
