"""Classification on Lambda: batches of the classify queue in, the messages that failed out.

The settings are read and the parts are joined once, as the environment starts; a wrong setting stops it there. No
socket is opened before the first batch.
"""

from __future__ import annotations

from typing import Any

from aws_lambda_powertools.utilities.typing import LambdaContext
from skillroute.core.observability import flush, logger
from skillroute.core.settings import ClassifySettings
from skillroute.wiring import classify_handler

_consume = classify_handler(ClassifySettings.load())


@logger.inject_lambda_context
def handler(event: dict[str, Any], context: LambdaContext) -> dict[str, Any]:
    """Classify the tools of one batch, then write the metrics that it left behind."""
    try:
        return _consume(event, context)
    finally:
        flush()
