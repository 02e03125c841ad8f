"""Finding out what a server speaks: the newest revision is tried, then the handshake of those before it.

As the specification of 2026-07-28 and the official SDK have it: `server/discover` has no effect, so that a server which
does not know it may be asked, and every answer but "newer revisions only" leads to `initialize`.
"""

from __future__ import annotations

import asyncio

from skillroute.calling.exchange import Budget, quoted
from skillroute.calling.mcp_client.hearing import Hearing
from skillroute.calling.mcp_client.messages import (
    HANDSHAKE,
    STATELESS,
    UNSUPPORTED_VERSION,
    RpcFailed,
    initialize,
    notification,
    request,
)
from skillroute.calling.mcp_client.sessions import Spoken
from skillroute.calling.mcp_client.streamable import Streamable
from skillroute.calling.model import CallFailed, Failure, JsonObject, Limits

_PROBE_S = 5.0
_PROBE_SHARE = 0.4
_FALLS_BACK = {Failure.ERROR, Failure.PROTOCOL}


async def negotiate(wire: Streamable, host: str, limits: Limits) -> Spoken:
    """Return what a server speaks, after the handshake where that takes one.

    Raises
    ------
    CallFailed
    """
    if await _is_stateless(wire, host, limits):
        return Spoken(STATELESS)
    hearing = Hearing(host, 0)
    result, session_id = await wire.begin(initialize(0), Budget(limits.answer_bytes, host), hearing)
    spoken = Spoken(revision_in(result, host), session_id)
    await wire.tell(notification("notifications/initialized"), spoken)
    return spoken


def revision_in(result: JsonObject, host: str) -> str:
    """Return the revision that a server chose in its answer to `initialize`.

    Raises
    ------
    CallFailed
        It is one that is not spoken here.
    """
    revision = result.get("protocolVersion")
    if isinstance(revision, str) and revision in HANDSHAKE:
        return revision
    raise CallFailed(
        Failure.PROTOCOL, f"{host} speaks revision {quoted(revision)} of the protocol, which is not spoken here"
    )


async def _is_stateless(wire: Streamable, host: str, limits: Limits) -> bool:
    budget = Budget(limits.answer_bytes, host)
    try:
        # A server that hangs on what it does not know leaves time for the handshake.
        async with asyncio.timeout(min(_PROBE_S, limits.seconds * _PROBE_SHARE)):
            found = await wire.ask(request(0, "server/discover", {}), Spoken(STATELESS), budget, Hearing(host, 0))
    except TimeoutError:
        return False
    except RpcFailed as error:
        if error.code == UNSUPPORTED_VERSION and not _speaks_older(error.data):
            raise
        return False
    except CallFailed as error:
        if error.failure in _FALLS_BACK:
            return False
        raise
    versions = found.get("supportedVersions")
    return isinstance(versions, list) and STATELESS in versions


def _speaks_older(data: object) -> bool:
    """Return whether an error that names revisions leaves room for a handshake; one that names none does."""
    supported = data.get("supported") if isinstance(data, dict) else None
    return not isinstance(supported, list) or any(each in HANDSHAKE for each in supported)
