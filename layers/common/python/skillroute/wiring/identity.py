"""The use cases over identities of servers and logins of persons."""

from __future__ import annotations

from skillroute.core.outbound.credentials import Identities
from skillroute.core.outbound.hosts import AddressRefused
from skillroute.core.secrets import Secret
from skillroute.core.settings import IdentitySettings, WebSettings
from skillroute.identity.credentials import CallerIdentities
from skillroute.identity.encryption.port import Encryption
from skillroute.identity.links import LoginLinks
from skillroute.identity.logins import Logins
from skillroute.identity.manage import ManageIdentities
from skillroute.identity.oauth.web import Web
from skillroute.identity.persons import Persons
from skillroute.identity.places import SecretPlaces
from skillroute.identity.renewal import PersonTokens
from skillroute.identity.vault import Vault
from skillroute.wiring.parts import CoreParts

LAPTOP_PERSON = "laptop"
"""The person of callers without a name, where nothing checks who calls."""


class IdentityUseCases:
    """Setting identities, and logging in."""

    def __init__(self, core: CoreParts) -> None:
        made = _Made(core)
        settings = core.of(IdentitySettings)
        self.manage = ManageIdentities(core.database, made.places, made.vault)
        self.logins = Logins(
            core.database,
            made.vault,
            made.web,
            made.places,
            made.tokens,
            made.persons,
            document_url=settings.login_client_url,
        )
        self.links = made.links


def make_identities(core: CoreParts) -> Identities:
    """Return what turns a server and a caller into headers."""
    made = _Made(core)
    return CallerIdentities(core.database, made.places, made.tokens, made.persons, made.links)


class _Made:
    """The parts that both have."""

    def __init__(self, core: CoreParts) -> None:
        settings = core.of(IdentitySettings)
        is_laptop = isinstance(core.settings, WebSettings) and core.settings.auth == "none"
        self.vault = Vault(_make_encryption(settings))
        self.web = Web(
            lambda: core.outbound(),
            plain_origins=core.host_rules.plain_origins,
            refusals=(AddressRefused,),
        )
        self.places = SecretPlaces(
            prefix=settings.server_secrets_prefix,
            allows_local=is_laptop and settings.tokens_key_file is not None,
            managed=_managed,
        )
        self.tokens = PersonTokens(core.database, self.vault, self.web)
        self.persons = Persons(LAPTOP_PERSON if is_laptop else None)
        self.links = LoginLinks(core.database, self.vault, self.persons)


def _managed(arn: str, key: str | None) -> Secret:
    from skillroute.core.secrets_manager import ManagedSecret

    return ManagedSecret(arn, key=key)


def _make_encryption(settings: IdentitySettings) -> Encryption | None:
    if settings.tokens_key_arn is not None:
        from skillroute.identity.encryption.kms import KmsEncryption

        return KmsEncryption(settings.tokens_key_arn)
    if settings.tokens_key_file is not None:
        from skillroute.identity.encryption.key_file import KeyFileEncryption

        return KeyFileEncryption(settings.tokens_key_file)
    return None
