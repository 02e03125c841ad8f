"""Which adapter stands behind which model port."""

from __future__ import annotations

from typing import TYPE_CHECKING

from skillroute.core.chat.port import ChatModel
from skillroute.core.embedding.model import EmbeddingModel
from skillroute.core.embedding.packaged import models_dir, packaged_models
from skillroute.core.embedding.port import Embedder
from skillroute.core.errors.model import ConfigurationError, EmbeddingUnavailable
from skillroute.core.notification.port import Notifier
from skillroute.core.postgres.database import Database
from skillroute.core.queue.port import Queue
from skillroute.core.reranking.port import Reranker
from skillroute.core.settings import (
    ClassifierSettings,
    CoreSettings,
    EmbeddingSettings,
    QueueSettings,
    RerankSettings,
)
from skillroute.learning.queues import LEARN
from skillroute.skills.classification.classifiers.port import Classifier
from skillroute.skills.queues import AGGREGATE, CLASSIFY
from skillroute.wiring.secrets import make_api_key

if TYPE_CHECKING:
    from skillroute.core.chat.bedrock import BedrockChat
    from skillroute.core.chat.openai import OpenAIChat
    from skillroute.core.embedding.query import QueryEmbedder


def make_embedder(settings: EmbeddingSettings) -> Embedder:
    """Return the configured embedding provider. Nothing is loaded or connected yet."""
    provider = settings.embedding_provider
    if provider == "onnx":
        from skillroute.core.embedding.onnx import OnnxEmbedder

        return OnnxEmbedder(settings.onnx_dir)
    if provider == "hashing":
        from skillroute.core.embedding.hashing import HashingEmbedder

        return HashingEmbedder(settings.embedding_dimension or 384)
    if not settings.embedding_model or not settings.embedding_dimension:
        raise ConfigurationError(f"the embedding provider {provider} needs a model and a dimension")
    model = EmbeddingModel(settings.embedding_model, settings.embedding_dimension)
    if provider == "openai":
        from skillroute.core.embedding.openai import OpenAIEmbedder

        return OpenAIEmbedder(
            model,
            base_url=settings.openai_base_url,
            api_key=make_api_key(settings.openai_api_key, settings.openai_api_key_secret_arn),
            send_dimensions=settings.openai_send_dimensions,
        )
    from skillroute.core.embedding.bedrock import BedrockEmbedder

    return BedrockEmbedder(model, region=settings.bedrock_region)


def make_embedder_of(settings: EmbeddingSettings, model: EmbeddingModel) -> Embedder | None:
    """Return an embedder of a model that is not the configured one, where it can be had; None where it cannot.

    The models of this package are at hand whatever is configured; a provider has other models than the configured one.
    """
    from skillroute.core.embedding.hashing import HashingEmbedder
    from skillroute.core.embedding.onnx import OnnxEmbedder

    own = [settings.onnx_dir] if settings.embedding_provider == "onnx" else []
    folders = [*own, *(models_dir() / name for name in packaged_models())]
    packaged: list[Embedder] = [HashingEmbedder(model.dimension), *map(OnnxEmbedder, folders)]
    for embedder in packaged:
        try:
            if embedder.model == model:
                return embedder
        except EmbeddingUnavailable:  # it is not installed here
            continue
    if settings.embedding_provider in ("openai", "bedrock"):
        other = {"embedding_model": model.name, "embedding_dimension": model.dimension}
        try:
            return make_embedder(settings.model_copy(update=other))
        except ConfigurationError:  # Bedrock has no model of that name and dimension
            return None
    return None


def make_chat_model(settings: ClassifierSettings) -> OpenAIChat | BedrockChat | None:
    """Return the configured language model, if any. Nothing is connected yet; `close` closes what gets connected."""
    if settings.chat_provider == "none" or not settings.chat_model:
        return None
    if settings.chat_provider == "openai":
        from skillroute.core.chat.openai import OpenAIChat

        return OpenAIChat(
            settings.chat_model,
            base_url=settings.chat_base_url,
            api_key=make_api_key(settings.chat_api_key, settings.chat_api_key_secret_arn),
        )
    from skillroute.core.chat.bedrock import BedrockChat

    return BedrockChat(settings.chat_model, region=settings.chat_region)


def make_classifier(
    settings: ClassifierSettings, embedder: Embedder, chat: ChatModel | None, storage: Database
) -> Classifier:
    """Return the configured classifier; it keeps vectors in the storage."""
    if settings.classifier == "llm":
        from skillroute.skills.classification.classifiers.llm import LlmClassifier

        if chat is None:
            raise ConfigurationError("the classifier llm needs a chat model")
        return LlmClassifier(chat, writes_requests=settings.write_requests)
    from skillroute.skills.classification.classifiers.similarity import SimilarityClassifier
    from skillroute.skills.classification.kept_vectors import KeptVectors

    return SimilarityClassifier(embedder, KeptVectors(storage))


def make_reranker(settings: RerankSettings) -> Reranker | None:
    """Return the configured reranker, if any. Nothing is loaded or connected yet."""
    if settings.rerank_provider == "onnx" and settings.rerank_model_dir:
        from skillroute.core.reranking.onnx import OnnxReranker

        return OnnxReranker(settings.rerank_model_dir)
    if settings.rerank_provider != "bedrock" or not settings.rerank_model:
        return None
    from skillroute.core.reranking.bedrock import BedrockReranker

    return BedrockReranker(settings.rerank_model, region=settings.rerank_region)


def make_queue(settings: QueueSettings) -> Queue | None:
    """Return the configured queues, None when there are none. Nothing is connected yet."""
    urls = {
        CLASSIFY: settings.classify_queue_url,
        AGGREGATE: settings.aggregate_queue_url,
        LEARN: settings.learn_queue_url,
    }
    given = {queue: url for queue, url in urls.items() if url}
    if not given:
        return None
    if len(given) < len(urls):
        names = [f"SKILLROUTE_{queue.upper()}_QUEUE_URL" for queue in urls]
        raise ConfigurationError(f"{', '.join(names[:-1])} and {names[-1]} go together")
    from skillroute.core.queue.sqs import SqsQueue

    dead = {CLASSIFY: settings.classify_dlq_url, AGGREGATE: settings.aggregate_dlq_url, LEARN: settings.learn_dlq_url}
    return SqsQueue(
        given,
        dead_letter_urls={name: url for name, url in dead.items() if url},
        endpoint_url=settings.sqs_endpoint_url,
    )


def make_notifier(settings: QueueSettings) -> Notifier:
    """Return what notifies people: an SNS topic where one is configured, and the log everywhere."""
    if settings.notification_topic_arn:
        from skillroute.core.notification.sns import SnsNotifier

        return SnsNotifier(settings.notification_topic_arn)
    from skillroute.core.notification.log import LogNotifier

    return LogNotifier()


def make_query_embedder(settings: CoreSettings, embedder: Embedder) -> QueryEmbedder:
    """Return what embeds the requests of searches, also with the model of vectors that are searched still."""
    from skillroute.core.embedding.query import QueryEmbedder

    return QueryEmbedder(
        embedder,
        lambda model: make_embedder_of(settings, model),
        timeout_s=settings.query_timeout_s,
        cache_size=settings.query_cache_size,
        retry_after_s=settings.embedding_retry_after_s,
    )
