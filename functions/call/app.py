"""Calls of tools on Lambda: invoked by function `mcp` with a call and its caller, the tool's answer out.

The settings are read and the parts are joined once, as the environment starts; a wrong setting stops it there. No
socket is opened before the first call.
"""

from __future__ import annotations

from typing import Any

from aws_lambda_powertools.utilities.typing import LambdaContext
from skillroute.core.observability import flush, logger
from skillroute.core.settings import CallFunctionSettings
from skillroute.wiring import call_handler

_call = call_handler(CallFunctionSettings.load())


# The event may have a caller's token: it is never logged.
@logger.inject_lambda_context(log_event=False)
def handler(event: dict[str, Any], context: LambdaContext) -> dict[str, Any]:
    """Make one call, then write the metrics that it left behind."""
    try:
        return _call(event, context)
    finally:
        flush()
