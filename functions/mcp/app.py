"""The Model Context Protocol on Lambda: API Gateway's events in, answers of the mcp application out.

The settings are read and the application is built once, as the environment starts; a wrong setting stops it there.
No socket is opened before the first request.
"""

from __future__ import annotations

from typing import Any

from aws_lambda_powertools.logging import correlation_paths
from mangum import Mangum
from mangum.types import LambdaContext, LambdaEvent
from skillroute.core.observability import flush, logger
from skillroute.core.settings import McpSettings
from skillroute.wiring import mcp_app

_http = Mangum(mcp_app(McpSettings.load()), lifespan="off")


@logger.inject_lambda_context(correlation_id_path=correlation_paths.API_GATEWAY_HTTP)
def handler(event: LambdaEvent, context: LambdaContext) -> dict[str, Any]:
    """Answer one request, then write the metrics that it left behind."""
    try:
        return _http(event, context)
    finally:
        flush()
