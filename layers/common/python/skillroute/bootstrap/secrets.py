"""Where passwords and keys come from: a setting, or the secret that a setting names."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import SecretStr

from skillroute.ports import Secret
from skillroute.settings import DatabaseSettings

if TYPE_CHECKING:
    from skillroute.storage.postgres.address import AddressSource

_API_KEY = "api_key"


def make_api_key(text: SecretStr | None, arn: str | None) -> str | Secret | None:
    """Return the API key that is set, or the secret that holds it; None where there is neither. Nothing is read yet."""
    if text is not None:
        return text.get_secret_value()
    if arn is not None:
        from skillroute.providers.secrets import ManagedSecret

        return ManagedSecret(arn, key=_API_KEY)
    return None


def make_address(settings: DatabaseSettings) -> AddressSource:
    """Return who says where the database is. Nothing is read yet; a wrong URL raises `ConfigurationError` at once."""
    from skillroute.storage.postgres.address import Address, SecretAddress, fixed

    if settings.database_url is not None:
        return fixed(Address.parse(settings.database_url.get_secret_value()))
    from skillroute.providers.secrets import ManagedSecret

    return SecretAddress(
        ManagedSecret(str(settings.database_secret_arn)),
        host=settings.database_host,
        port=settings.database_port,
        database=settings.database_name,
        sslmode=settings.database_sslmode,
    )
