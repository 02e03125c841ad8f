"""Tokens that RDS takes in the place of a password (IAM database authentication)."""

from __future__ import annotations

import threading
import time

from skillroute.core.errors.model import SecretUnavailable
from skillroute.core.time.clock import Clock

_SERVICE = "rds-db"
_VALID_S = 900
"""How long RDS takes a token, from its signature on. A connection that is open outlives its token."""

_RENEWED_AFTER_S = 600.0


class RdsToken:
    """`ports.Secret` of a database user: a presigned request that only this user's login takes.

    Signed here with the credentials of the process, so nobody is asked; whether the role may log in (`rds-db:connect`)
    is for RDS to say.

    Parameters
    ----------
    host, port, user : of the login; a token is good for no other.
    region : str or None
        Of the database; None takes the process's own.
    clock : callable
        Seconds; replaced in tests.
    """

    def __init__(
        self, host: str, port: int, user: str, *, region: str | None = None, clock: Clock = time.monotonic
    ) -> None:
        self._host = host
        self._port = port
        self._user = user
        self._region = region
        self._clock = clock
        self._lock = threading.Lock()
        self._token: str | None = None
        self._signed_at_s = 0.0

    def __repr__(self) -> str:
        return f"RdsToken({self._user!r} at {self._host!r})"

    def read(self, *, again: bool = False) -> str:
        with self._lock:
            now_s = self._clock()
            if self._token is None or again or now_s - self._signed_at_s >= _RENEWED_AFTER_S:
                self._token, self._signed_at_s = self._signed(), now_s
            return self._token

    def _signed(self) -> str:
        from botocore.auth import SigV4QueryAuth  # noqa: PLC0415 (0.1 s, paid on first use)
        from botocore.awsrequest import AWSRequest  # noqa: PLC0415
        from botocore.exceptions import BotoCoreError  # noqa: PLC0415
        from botocore.session import Session  # noqa: PLC0415

        session = Session()
        region = self._region or session.get_config_variable("region")
        if region is None:
            raise SecretUnavailable(
                "no token for the database can be signed: set AWS_DEFAULT_REGION to the database's region"
            )
        try:
            credentials = session.get_credentials()
            if credentials is None:
                raise SecretUnavailable("no token for the database can be signed: there are no AWS credentials")
            # What `generate_db_auth_token` does, without the client of a service that is never called.
            url = f"https://{self._host}:{self._port}/?Action=connect&DBUser={self._quoted_user()}"
            request = AWSRequest("GET", url)
            SigV4QueryAuth(credentials.get_frozen_credentials(), _SERVICE, region, expires=_VALID_S).add_auth(request)
        except BotoCoreError as error:
            raise SecretUnavailable(f"no token for the database can be signed: {type(error).__name__}") from error
        return str(request.prepare().url).removeprefix("https://")

    def _quoted_user(self) -> str:
        from urllib.parse import quote  # noqa: PLC0415

        return quote(self._user, safe="")
