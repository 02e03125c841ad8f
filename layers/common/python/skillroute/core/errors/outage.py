"""Reports an outage of a dependency, for every protocol: log and metric."""

from __future__ import annotations

from skillroute.core.errors.model import DatabaseUnavailable, DependencyUnavailable
from skillroute.core.observability import Metric, count, logger


def note(error: DependencyUnavailable) -> None:
    """Count an outage of PostgreSQL, and log the reason of any, which callers are not shown."""
    if isinstance(error, DatabaseUnavailable):
        count(Metric.DATABASE_UNAVAILABLE)
    logger.warning("dependency unavailable", extra={"reason": str(error)})


def advice(error: DependencyUnavailable) -> str:
    """Return what the caller of a request that changes nothing is shown."""
    return f"{error.public_message}; try again in a few seconds"
