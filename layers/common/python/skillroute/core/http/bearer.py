"""How FastAPI's document shows that routes want a token; a module of its own, for FastAPI is slow to import."""

from __future__ import annotations

from fastapi.openapi.models import HTTPBearer
from fastapi.security.base import SecurityBase

from skillroute.core.http.auth import Guard


class BearerGuard(Guard, SecurityBase):
    """A guard that the OpenAPI document shows as a bearer token."""

    scheme_name = "bearer"
    model = HTTPBearer(bearerFormat="JWT", description="A JSON Web Token with the scope that the route asks for.")
