"""Passwords and keys that AWS Secrets Manager keeps."""

from __future__ import annotations

import json
import threading
import time
from typing import Any

from skillroute.core.errors.model import SecretUnavailable
from skillroute.core.observability import logger
from skillroute.core.time.clock import Clock
from skillroute.core.time.cooldown import Cooldown

_CONNECT_TIMEOUT_S = 1.0
_READ_TIMEOUT_S = 3.0
_ASK_AGAIN_AFTER_S = 10.0
"""A refused password is looked up again this often at most: Secrets Manager charges for each call, and throttles."""

_FAILURE_REMEMBERED_S = 2.0
"""So that requests that come together do not wait for one timeout each."""


class ManagedSecret:
    """`ports.Secret` over AWS Secrets Manager: the version `AWSCURRENT`, read on first use.

    Parameters
    ----------
    arn : str
        Of the secret; its region is where it is asked for.
    key : str or None
        Of a JSON object, the value to return. A text that is not a JSON object is returned whole.
    endpoint_url : str or None
        None takes that of the region.
    clock : callable
        Seconds; replaced in tests.
    """

    def __init__(
        self, arn: str, *, key: str | None = None, endpoint_url: str | None = None, clock: Clock = time.monotonic
    ) -> None:
        self._arn = arn
        self._key = key
        self._endpoint_url = endpoint_url
        self._clock = clock
        self._lock = threading.Lock()
        self._text: str | None = None
        self._asked_at_s = 0.0
        self._cooldown = Cooldown(_FAILURE_REMEMBERED_S, clock)

    def __repr__(self) -> str:
        return f"ManagedSecret({self._arn!r})"

    def read(self, *, again: bool = False) -> str:
        with self._lock:
            before, now_s = self._text, self._clock()
            if before is not None and not (again and now_s - self._asked_at_s >= _ASK_AGAIN_AFTER_S):
                return before
            if (reason := self._cooldown.failure()) is not None:
                raise SecretUnavailable(reason)
            self._asked_at_s = now_s
            try:
                text = self._text = self._picked(self._fetched())
            except SecretUnavailable as error:
                self._cooldown.failed(str(error))
                raise
            if before is not None:
                logger.info("secret read again", extra={"secret": self._arn, "changed": before != text})
            return text

    def _picked(self, text: str) -> str:
        if self._key is None:
            return text
        try:
            document = json.loads(text)
        except ValueError:
            return text
        if not isinstance(document, dict):
            return text
        value = document.get(self._key)
        if not isinstance(value, str) or not value:
            raise SecretUnavailable(f"secret {self._arn} has no text under the key {self._key!r}")
        return value

    def _fetched(self) -> str:
        from botocore.config import Config  # noqa: PLC0415 (0.1 s, paid on first use)
        from botocore.exceptions import BotoCoreError, ClientError  # noqa: PLC0415
        from botocore.session import Session  # noqa: PLC0415

        try:
            # Asked once in the life of most processes: a client that is kept would only hold a connection open.
            client = Session().create_client(
                "secretsmanager",
                region_name=self._region(),
                endpoint_url=self._endpoint_url,
                config=Config(
                    connect_timeout=_CONNECT_TIMEOUT_S,
                    read_timeout=_READ_TIMEOUT_S,
                    retries={"mode": "standard", "total_max_attempts": 2},
                ),
            )
            try:
                answer: dict[str, Any] = client.get_secret_value(SecretId=self._arn)
            finally:
                client.close()
        except ClientError as error:
            # The code says it all; AWS's own sentence names the role and the account.
            code = error.response.get("Error", {}).get("Code", "an error")
            raise SecretUnavailable(f"secret {self._arn} cannot be read: {code}") from error
        except (BotoCoreError, ValueError) as error:  # the latter for an endpoint that is no URL
            raise SecretUnavailable(f"secret {self._arn} cannot be read: {type(error).__name__}") from error
        text = answer.get("SecretString")
        if not text:
            raise SecretUnavailable(f"secret {self._arn} holds no text")
        return str(text)

    def _region(self) -> str | None:
        parts = self._arn.split(":")  # arn:aws:secretsmanager:REGION:ACCOUNT:secret:NAME
        return parts[3] if len(parts) > 6 else None
