"""Where passwords and keys come from: a setting, the secret that a setting names, or a signature."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import SecretStr

from skillroute.core.secrets import Secret
from skillroute.core.settings import DatabaseSettings, MigrationSettings

if TYPE_CHECKING:
    from skillroute.core.postgres.address import AddressSource
    from skillroute.core.postgres.roles import Group, Login

_API_KEY = "api_key"


def make_api_key(text: SecretStr | None, arn: str | None) -> str | Secret | None:
    """Return the API key that is set, or the secret that holds it; None where there is neither. Nothing is read yet."""
    if text is not None:
        return text.get_secret_value()
    if arn is not None:
        from skillroute.core.secrets_manager import ManagedSecret

        return ManagedSecret(arn, key=_API_KEY)
    return None


def make_address(settings: DatabaseSettings) -> AddressSource:
    """Return who says where the database is. Nothing is read yet; a wrong URL raises `ConfigurationError` at once."""
    from skillroute.core.postgres.address import Address, fixed

    if settings.database_url is not None:
        return fixed(Address.parse(settings.database_url.get_secret_value()))
    if settings.database_user is not None:
        return _token_address(settings, settings.database_user)
    return _secret_address(settings, str(settings.database_secret_arn))


def make_owner_address(settings: MigrationSettings) -> AddressSource:
    """Return who says where the database is, with the login that owns the schema."""
    arn = settings.database_owner_secret_arn
    return make_address(settings) if arn is None else _secret_address(settings, arn)


def read_logins(settings: MigrationSettings, database: str) -> list[Login]:
    """Return the logins of functions that migrating makes. Raises `DatabaseUnavailable` for a secret without one."""
    from skillroute.core.postgres.roles import Login

    secrets: dict[Group, str | None] = {
        "reader": settings.database_reader_secret_arn,
        "writer": settings.database_writer_secret_arn,
    }
    logins = []
    for group, arn in secrets.items():
        if arn is not None:
            address = _secret_address(settings, arn)()
            logins.append(Login(group, address.user, address.password or ""))
        if settings.database_iam_logins:
            logins.append(Login(group, f"{database}_{group}_iam"))
    return logins


def _secret_address(settings: DatabaseSettings, arn: str) -> AddressSource:
    from skillroute.core.postgres.address import SecretAddress
    from skillroute.core.secrets_manager import ManagedSecret

    return SecretAddress(
        ManagedSecret(arn),
        host=settings.database_host,
        port=settings.database_port,
        database=settings.database_name,
        sslmode=settings.database_sslmode,
    )


def _token_address(settings: DatabaseSettings, user: str) -> AddressSource:
    from skillroute.core.postgres.address import TokenAddress, default_sslmode
    from skillroute.core.postgres.rds_tokens import RdsToken

    host, port = str(settings.database_host), settings.database_port or 5432
    return TokenAddress(
        RdsToken(host, port, user),
        host=host,
        port=port,
        user=user,
        database=str(settings.database_name),
        sslmode=settings.database_sslmode or default_sslmode(host),
    )
