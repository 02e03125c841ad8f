"""Settings of HTTP: authentication, and origins of CORS."""

from __future__ import annotations

import os
from typing import Literal, Self

from pydantic import Field, model_validator

from skillroute.core.http.cors import origins_of
from skillroute.core.settings.base import Settings


class WebSettings(Settings):
    """The settings of every HTTP function."""

    auth: Literal["jwt", "iam", "none"] = Field(
        "none", description="How callers are authenticated; none: the laptop only."
    )
    jwt_issuer: str | None = Field(None, description="What the claim iss must be, to the letter.")
    jwt_audience: str | None = Field(None, description="What aud must be, or name one of; several: comma-separated.")
    jwt_org_claim: str = Field("org_id", min_length=1, description="The claim that names the caller's organisation.")
    jwt_agent_claim: str = Field(
        "agent", min_length=1, description="The claim that names the mail agent that the caller speaks for."
    )
    jwt_roles_claim: str = Field(
        "roles", min_length=1, description="The claim that names the caller's roles, which rules of access go by."
    )
    jwt_groups_claim: str = Field(
        "groups", min_length=1, description="The claim that names the caller's groups; of Cognito: cognito:groups."
    )
    jwt_require_org: bool = Field(
        True, description="Refuse tokens that name no organisation, rather than take them for global ones."
    )
    jwt_scope_prefix: str = Field(
        "", pattern=r"^[!#-\[\]-~]*$", description="What tokens put before scopes, as Cognito's resource servers do."
    )
    jwt_keys: str | None = Field(
        None,
        description="A JSON Web Key Set that tokens are verified with, where no gateway does: the laptop, sam local.",
    )
    cors_allow_origins: str = Field(
        "", description="Origins of pages that may ask from a browser, comma-separated; none when empty."
    )
    public_registry: bool = Field(
        False, description="Whether /v0.1/servers shows global servers to callers who do not say who they are."
    )
    iam_admins: str = Field(
        "", description="For iam, ARNs of the roles that may do everything, comma-separated; other callers search."
    )
    budget_caller: float = Field(
        100.0,
        ge=0,
        description="Work that a caller may have done in a second, in plain searches; 0 is no limit; "
        "none where auth is none (docs/adr/0065).",
    )
    budget_organisation: float = Field(
        200.0, ge=0, description="The same of an organisation, all its callers together; 0 is no limit."
    )

    @model_validator(mode="after")
    def _nothing_is_open_to_the_world(self) -> Self:
        on_lambda = "AWS_LAMBDA_FUNCTION_NAME" in os.environ
        if self.auth == "none" and on_lambda:
            raise ValueError("SKILLROUTE_AUTH must be jwt or iam on Lambda")
        # sam local runs the same containers and says so; there no gateway has checked anything.
        if self.jwt_keys and on_lambda and os.environ.get("AWS_SAM_LOCAL") != "true":
            raise ValueError("SKILLROUTE_JWT_KEYS is for the laptop and sam local: on Lambda the gateway checks tokens")
        return self

    @model_validator(mode="after")
    def _require_issuer_and_audience(self) -> Self:
        if self.auth == "jwt" and not (self.jwt_issuer and self.jwt_audiences):
            raise ValueError("SKILLROUTE_AUTH=jwt needs SKILLROUTE_JWT_ISSUER and SKILLROUTE_JWT_AUDIENCE")
        return self

    @model_validator(mode="after")
    def _origins_are_origins(self) -> Self:
        try:
            origins_of(self.cors_allow_origins)
        except ValueError as error:
            raise ValueError(f"SKILLROUTE_CORS_ALLOW_ORIGINS: {error}") from None
        return self

    @property
    def cors_origins(self) -> tuple[str, ...]:
        """The origins of pages that may ask from a browser."""
        return origins_of(self.cors_allow_origins)

    @property
    def jwt_audiences(self) -> frozenset[str]:
        """The audiences; a token needs one of them."""
        return frozenset(audience.strip() for audience in (self.jwt_audience or "").split(",") if audience.strip())
