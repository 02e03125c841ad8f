"""Events as Lambda passes them to a handler: SQS batches, EventBridge's schedule, and the context of an invocation."""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from skillroute.core.time.deadline import Deadline

from skillroute_local.queue_server import REGION

_ACCOUNT = "123456789012"


class Invocation:
    """The context of one invocation, as far as handlers and Powertools read it.

    Parameters
    ----------
    timeout_s : float
        How long the invocation may take.
    """

    memory_limit_in_mb = 1769

    def __init__(self, function_name: str, timeout_s: float) -> None:
        self.function_name = function_name
        self.invoked_function_arn = f"arn:aws:lambda:{REGION}:{_ACCOUNT}:function:{function_name}"
        self.aws_request_id = str(uuid.uuid4())
        self._deadline = Deadline(timeout_s)

    def get_remaining_time_in_millis(self) -> int:
        """Return how much time is left; 0 when it is up."""
        return int(self._deadline.remaining_s() * 1000)


def sqs_event(queue_arn: str, messages: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the event for messages as `receive_message` returned them, with all their system attributes."""
    return {
        "Records": [
            {
                "messageId": message["MessageId"],
                "receiptHandle": message["ReceiptHandle"],
                "body": message["Body"],
                "attributes": dict(message.get("Attributes", {})),
                "messageAttributes": {},
                "md5OfBody": message.get("MD5OfBody", ""),
                "eventSource": "aws:sqs",
                "eventSourceARN": queue_arn,
                "awsRegion": REGION,
            }
            for message in messages
        ]
    }


def schedule_event() -> dict[str, Any]:
    """Return the event of a schedule that is due now."""
    return {
        "version": "0",
        "id": str(uuid.uuid4()),
        "detail-type": "Scheduled Event",
        "source": "aws.scheduler",
        "account": _ACCOUNT,
        "time": datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z"),
        "region": REGION,
        "resources": [f"arn:aws:scheduler:{REGION}:{_ACCOUNT}:schedule/default/skillroute-relay"],
        "detail": "{}",  # a string, as EventBridge Scheduler has it; a rule of EventBridge has an object
    }
