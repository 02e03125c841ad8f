"""Learning on Lambda: batches of the learn queue in, the messages that failed out.

The settings are read and the parts are joined once, as the environment starts; a wrong setting stops it there. No
socket is opened before the first batch.
"""

from __future__ import annotations

from typing import Any

from aws_lambda_powertools.utilities.typing import LambdaContext
from skillroute.core.observability import flush, logger
from skillroute.core.settings import LearnSettings
from skillroute.wiring import learn_handler

_consume = learn_handler(LearnSettings.load())


@logger.inject_lambda_context
def handler(event: dict[str, Any], context: LambdaContext) -> dict[str, Any]:
    """Learn for the organisations of one batch, then write the metrics that it left behind."""
    try:
        return _consume(event, context)
    finally:
        flush()
