"""Settings of queues and notifications."""

from __future__ import annotations

from pydantic import Field

from skillroute.core.settings.base import Settings


class QueueSettings(Settings):
    """Where work is sent and people are notified. Without queues skills are aggregated at once, and tools wait."""

    classify_queue_url: str | None = Field(None, description="Where tools to classify are sent.")
    aggregate_queue_url: str | None = Field(None, description="Where skills to aggregate are sent.")
    learn_queue_url: str | None = Field(None, description="Where organisations that are to learn are sent.")
    classify_dlq_url: str | None = Field(None, description="Where tools end that no attempt classified.")
    aggregate_dlq_url: str | None = Field(None, description="Where skills end that no attempt aggregated.")
    learn_dlq_url: str | None = Field(None, description="Where organisations end whose learning failed each time.")
    sqs_endpoint_url: str | None = Field(None, description="Of a local SQS; none on AWS.")
    aggregate_delay_s: int = Field(2, ge=0, le=900, description="How long changes to one skill are collected.")
    org_in_flight: int = Field(
        200, ge=1, le=100_000, description="Messages that one organisation may have in a queue at once (docs/adr/0028)."
    )
    notification_topic_arn: str | None = Field(None, description="SNS topic for suggestions and dead letters.")
