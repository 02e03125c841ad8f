"""Settings of identities at servers."""

from __future__ import annotations

from pathlib import Path

from pydantic import Field

from skillroute.core.settings.base import Settings


class IdentitySettings(Settings):
    """The key that tokens of persons are encrypted with, and the secrets that servers' identities may name."""

    tokens_key_arn: str | None = Field(
        None,
        pattern=r"^arn:aws[a-z-]*:kms:[a-z0-9-]+:\d{12}:(key|alias)/[A-Za-z0-9/_-]+$",
        description="The key of KMS that encrypts what persons log in with at servers (docs/identity.md); without a "
        "key there are no logins.",
    )
    tokens_key_file: Path | None = Field(
        None,
        description="The same on a laptop: a file, made at the first login. Where SKILLROUTE_AUTH is none, "
        "secrets may be in files and in the keyring, too.",
    )
    server_secrets_prefix: str = Field(
        "skillroute/servers/",
        pattern=r"^[A-Za-z0-9/_+=.@-]{1,200}$",
        description="Of the names of secrets in Secrets Manager that servers' identities may name; behind it stands "
        "the organisation, or +global.",
    )
    login_client_url: str | None = Field(
        None,
        pattern=r"^https://[^\s#]+$",
        description="Where this deployment's Client ID Metadata Document is, for authorization servers that take one.",
    )
