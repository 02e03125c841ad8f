"""Which project or product a key names, as far as the caller may see it; unknown and forbidden look the same."""

from __future__ import annotations

from collections.abc import Sequence

from skillroute.core.caller import Caller
from skillroute.core.errors.model import InvalidInput
from skillroute.core.postgres.database import Session
from skillroute.mail.model import StoredProduct, StoredProject
from skillroute.mail.repository import MailRepository

_SHOWN = 20


def project_of(session: Session, caller: Caller, key: str) -> int:
    """Return the id of a project: that of the caller's organisation, else the global one.

    Raises
    ------
    InvalidInput
        There is none that the caller may see; the message says which there are.
    """
    allowed = MailRepository(session).may_see(caller)
    found, _ = MailRepository(session).projects(caller.org_id, allowed, key=key, limit=2)
    if found:
        return _own_first(found, caller).id
    others, total = MailRepository(session).projects(caller.org_id, allowed, limit=_SHOWN)
    raise _unknown("project_key", "project", [project.content.key for project in others], total)


def product_of(session: Session, caller: Caller, key: str) -> StoredProduct:
    """Return a product, with those of its projects that the caller may see; otherwise as `project_of`."""
    allowed = MailRepository(session).may_see(caller)
    found, _ = MailRepository(session).products(caller.org_id, allowed, key=key, limit=2)
    if found:
        own = [product for product in found if product.org_id == caller.org_id]
        return (own or found)[0]
    others, total = MailRepository(session).products(caller.org_id, allowed, limit=_SHOWN)
    raise _unknown("product_key", "product", [product.content.key for product in others], total)


def project_within(session: Session, caller: Caller, product: StoredProduct, key: str) -> int:
    """Return the id of one of a product's projects; otherwise as `project_of`."""
    of_key, _ = MailRepository(session).projects(caller.org_id, product.project_ids, key=key, limit=2)
    if of_key:
        return _own_first(of_key, caller).id
    keys = product.content.projects
    raise _unknown("project", f"project of {product.content.key}", keys[:_SHOWN], len(keys))


def _own_first(found: Sequence[StoredProject], caller: Caller) -> StoredProject:
    own = [project for project in found if project.org_id == caller.org_id]
    return (own or found)[0]


def _unknown(field: str, what: str, keys: Sequence[str], total: int) -> InvalidInput:
    more = f" and {total - len(keys)} more" if total > len(keys) else ""
    allowed = f"allowed are {', '.join(dict.fromkeys(keys))}{more}" if keys else "there is none"
    return InvalidInput(field, f"is not the key of a {what} that you may see; {allowed}")
