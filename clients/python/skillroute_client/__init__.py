"""A client of Skillroute, tool search for AI agents: `Skillroute` blocks, `AsyncSkillroute` is awaited."""

from skillroute_client.client import AsyncSkillroute, Skillroute
from skillroute_client.errors import (
    ApiError,
    BadRequest,
    ConfigurationError,
    Conflict,
    Forbidden,
    InvalidRequest,
    NotFound,
    Problem,
    RateLimited,
    ServerError,
    SkillrouteError,
    TooLarge,
    Unauthenticated,
    Unavailable,
    UnexpectedAnswer,
    Unreachable,
    VersionConflict,
)
from skillroute_client.pages import AsyncPages, Page, Pages
from skillroute_client.retrying import Repeat, Retry
from skillroute_client.signing import Credentials, profile_credentials
from skillroute_client.version import __version__

__all__ = [
    "ApiError",
    "AsyncPages",
    "AsyncSkillroute",
    "BadRequest",
    "ConfigurationError",
    "Conflict",
    "Credentials",
    "Forbidden",
    "InvalidRequest",
    "NotFound",
    "Page",
    "Pages",
    "Problem",
    "RateLimited",
    "Repeat",
    "Retry",
    "ServerError",
    "Skillroute",
    "SkillrouteError",
    "TooLarge",
    "Unauthenticated",
    "Unavailable",
    "UnexpectedAnswer",
    "Unreachable",
    "VersionConflict",
    "__version__",
    "profile_credentials",
]
