"""Sending messages to SQS, with the group that says whose they are where the queue knows groups."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from skillroute.core.observability import logger

Refused = dict[str, str]
"""The code of the refusal, by the id of the entry that was refused."""


class Sender:
    """Sends up to ten messages in one call.

    SQS takes groups for standard queues since 2025 (fair queues); what stands in for SQS may refuse them, as SQS did
    before. The messages are then sent without, and so are all that follow.

    Parameters
    ----------
    call : callable
        Makes a request of a client, and translates its errors.
    """

    def __init__(self, call: Callable[[Callable[[Any], Refused]], Refused]) -> None:
        self._call = call
        self._knows_groups = True

    def __call__(self, url: str, messages: Sequence[tuple[str, str | None]], *, delay_s: int = 0) -> int:
        """Send messages, each with its group or None, and return how many were refused."""
        entries = [
            {"Id": str(place), "MessageBody": body, "DelaySeconds": delay_s} | self._group(group)
            for place, (body, group) in enumerate(messages)
        ]
        refused = self._send(url, entries)
        grouped = [
            entry for entry in entries if "MessageGroupId" in entry and _is_invalid(refused.get(str(entry["Id"]), ""))
        ]
        if not grouped:
            return len(refused)
        again = self._send(url, [_without_group(entry) for entry in grouped])
        if len(again) < len(grouped):
            self._knows_groups = False
            logger.warning("the queue takes no message groups: organisations share it without them", extra={"url": url})
        return len(refused) - len(grouped) + len(again)

    def _group(self, group: str | None) -> dict[str, object]:
        return {"MessageGroupId": group} if group is not None and self._knows_groups else {}

    def _send(self, url: str, entries: Sequence[Mapping[str, Any]]) -> Refused:
        from botocore.exceptions import ClientError  # noqa: PLC0415 (0.1 s, paid on first use)

        def send(client: Any) -> Refused:
            try:
                answer = client.send_message_batch(QueueUrl=url, Entries=entries)
            except ClientError as error:
                code: str = error.response["Error"]["Code"]
                if not _is_invalid(code):
                    raise
                return {entry["Id"]: code for entry in entries}
            return {failed["Id"]: failed.get("Code", "") for failed in answer.get("Failed", [])}

        return self._call(send)


def _is_invalid(code: str) -> bool:
    return code.endswith("InvalidParameterValue")


def _without_group(entry: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in entry.items() if name != "MessageGroupId"}
