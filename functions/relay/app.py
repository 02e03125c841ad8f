"""The relay on Lambda: EventBridge's schedule in, a report of what was left and is done out.

The settings are read and the parts are joined once, as the environment starts; a wrong setting stops it there. No
socket is opened before the first run.
"""

from __future__ import annotations

from typing import Any

from aws_lambda_powertools.utilities.typing import LambdaContext
from skillroute.core.observability import flush, logger
from skillroute.core.settings import RelaySettings
from skillroute.wiring import relay_handler

_run = relay_handler(RelaySettings.load())


@logger.inject_lambda_context
def handler(event: dict[str, Any], context: LambdaContext) -> dict[str, Any]:
    """Do what was left, then write the metrics that it left behind."""
    try:
        return _run(event, context)
    finally:
        flush()
