"""Setting how servers let requests in: each organisation its own, and those of global servers the operator."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from skillroute.core.access import own, visible
from skillroute.core.caller import Caller
from skillroute.core.errors.codes import ErrorCode
from skillroute.core.errors.model import Forbidden, InvalidInput
from skillroute.core.outbound.credentials import ServerRef
from skillroute.core.postgres.database import Database, Session
from skillroute.identity.model import IdentityKind, ServerIdentity, origin_of
from skillroute.identity.places import SecretPlaces
from skillroute.identity.repository import IdentityRepository
from skillroute.identity.vault import Vault


class ManageIdentities:
    """Sets, shows and deletes identities of servers."""

    def __init__(self, database: Database, places: SecretPlaces, vault: Vault) -> None:
        self._database = database
        self._places = places
        self._vault = vault

    def get(self, server_id: int, caller: Caller) -> ServerIdentity:
        """Return how a server lets requests in: kind `none` where nothing was set. Raises `NotFound`."""

        def work(session: Session) -> ServerIdentity:
            identities = IdentityRepository(session)
            visible(identities.server(server_id, caller.org_id, caller.rights), "server", server_id)
            return identities.get(server_id) or ServerIdentity(server_id, "none")

        return self._database.snapshot(work)

    def put(self, server_id: int, caller: Caller, kind: IdentityKind, settings: Mapping[str, Any]) -> ServerIdentity:
        """Set how a server lets requests in. What persons logged in with before ends where it changes.

        Raises
        ------
        NotFound, Forbidden
        InvalidInput
            A setting is wrong; the field is named.
        Conflict
            Logins are off.
        """
        if kind == "oauth":
            self._vault.require_key()

        def work(session: Session) -> ServerIdentity:
            identities = IdentityRepository(session)
            server = self._owned(identities, server_id, caller)
            self._check(server, caller, kind, settings)
            new = {**settings, "origin": origin_of(server.url)} if kind != "none" else {}
            before = identities.get(server_id) or ServerIdentity(server_id, "none")
            if (before.kind, dict(before.settings)) != (kind, new):
                identities.put(server, kind, new, caller.name)
                identities.delete_logins(server_id)
            return identities.get(server_id) or ServerIdentity(server_id, "none")

        return self._database.transact(work)

    def delete(self, server_id: int, caller: Caller) -> None:
        """Let requests to a server go without an identity; logins at it end. Raises `NotFound` and `Forbidden`."""

        def work(session: Session) -> None:
            identities = IdentityRepository(session)
            self._owned(identities, server_id, caller)
            identities.delete(server_id)
            identities.delete_logins(server_id)

        self._database.transact(work)

    def _owned(self, identities: IdentityRepository, server_id: int, caller: Caller) -> ServerRef:
        server = own(
            visible(identities.server(server_id, caller.org_id, caller.rights), "server", server_id),
            caller,
            "server",
            server_id,
        )
        if server.org_id is None and not caller.is_operator:
            raise Forbidden(
                f"server {server_id} is global: how it lets requests in takes scope admin", ErrorCode.OPERATOR_ONLY
            )
        return server

    def _check(self, server: ServerRef, caller: Caller, kind: IdentityKind, settings: Mapping[str, Any]) -> None:
        if kind == "caller_token" and not caller.is_operator:
            raise Forbidden(
                "kind caller_token takes scope admin: tokens that callers come with are good at Skillroute, "
                "other audiences they have, so a server that gets them could act here in their callers' name. "
                "Set kind oauth or secret, or ask who has scope admin",
                ErrorCode.OPERATOR_ONLY,
            )
        if kind != "none" and not origin_of(server.url):
            raise InvalidInput("kind", f"must be none: {server.name} has no address under remotes that requests go to")
        for field in ("secret", "client_secret"):
            if (place := settings.get(field)) is not None:
                self._places.check(place, server.org_id, field)
