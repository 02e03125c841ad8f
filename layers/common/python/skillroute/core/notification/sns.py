"""Notifications through an SNS topic, to which people subscribe by mail or chat."""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping
from typing import Any

from skillroute.core.notification.log import LogNotifier
from skillroute.core.observability import Metric, count, logger

_MAX_SUBJECT_LENGTH = 100
_CONNECT_TIMEOUT_S = 1.0
_READ_TIMEOUT_S = 3.0


class SnsNotifier:
    """`ports.Notifier` over SNS; it writes the log line as well. Safe to call from several threads.

    The message is a JSON object: ``event``, ``subject`` and ``details``. The event is a message attribute too, so that
    subscriptions can filter by it.

    Parameters
    ----------
    topic_arn : str
    endpoint_url, region : str or None
        None takes those of the environment.
    client : object
        An SNS client to use instead of one made on first use.
    """

    def __init__(
        self, topic_arn: str, *, endpoint_url: str | None = None, region: str | None = None, client: Any = None
    ) -> None:
        self._topic_arn = topic_arn
        self._endpoint_url = endpoint_url
        self._region = region
        self._client = client
        self._lock = threading.Lock()
        self._log = LogNotifier()

    def notify(self, event: str, subject: str, details: Mapping[str, Any]) -> None:
        self._log.notify(event, subject, details)
        from botocore.exceptions import BotoCoreError, ClientError  # noqa: PLC0415 (0.1 s, paid on first use)

        message = {"event": event, "subject": subject, "details": dict(details)}
        try:
            self._connected().publish(
                TopicArn=self._topic_arn,
                Subject=sns_subject(subject),
                Message=json.dumps(message, ensure_ascii=False, default=str),
                MessageAttributes={"event": {"DataType": "String", "StringValue": event}},
            )
        except (BotoCoreError, ClientError, ValueError) as error:  # the last for an endpoint that is no URL
            logger.warning("notification not sent", extra={"event": event, "reason": str(error)})
            count(Metric.NOTIFICATION_FAILED)

    def close(self) -> None:
        """Close the connections. The next call opens new ones."""
        with self._lock:
            client, self._client = self._client, None
        if client is not None:
            client.close()

    def _connected(self) -> Any:
        """Return the client, made once: sessions are not safe to share between threads, clients are."""
        from botocore.config import Config  # noqa: PLC0415 (see notify)
        from botocore.session import Session  # noqa: PLC0415

        with self._lock:
            if self._client is None:
                self._client = Session().create_client(
                    "sns",
                    region_name=self._region or self._region_of_topic(),
                    endpoint_url=self._endpoint_url,
                    config=Config(
                        connect_timeout=_CONNECT_TIMEOUT_S,
                        read_timeout=_READ_TIMEOUT_S,
                        retries={"mode": "standard", "total_max_attempts": 2},
                    ),
                )
            return self._client

    def _region_of_topic(self) -> str | None:
        parts = self._topic_arn.split(":")  # arn:aws:sns:REGION:ACCOUNT:NAME
        return parts[3] if len(parts) > 5 else None


def sns_subject(subject: str) -> str:
    """Return a subject as SNS takes it: printable ASCII, 100 characters at most, beginning with a letter or digit.

    Examples
    --------
    >>> sns_subject("Skill “Plants” was suggested")
    'Skill ?Plants? was suggested'
    """
    printable = "".join(character if " " <= character <= "~" else "?" for character in " ".join(subject.split()))
    # SNS: "must begin with a letter, number, or punctuation mark"; a blank one is refused.
    return printable[:_MAX_SUBJECT_LENGTH].strip() or "Skillroute"
