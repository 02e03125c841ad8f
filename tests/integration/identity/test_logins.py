"""Logins against a real authorization server: begun, finished, listed and ended (issue 38, point 2)."""

from __future__ import annotations

import pytest
from skillroute.core.caller import Caller
from skillroute.core.errors.codes import ErrorCode
from skillroute.core.errors.model import Conflict, Forbidden, NotFound
from skillroute.core.outbound.credentials import LoginNeeded
from skillroute.identity.oauth.web import LoginNotPossible
from skillroute.identity.repository import IdentityRepository

from tests.integration.identity.conftest import REDIRECT, Door, person

ANN, BEN = person("ann"), person("ben")


def whoami(door: Door, server: object, caller: Caller) -> str:
    answer = door.call(server, door.identities.credentials(server, caller, None))  # type: ignore[arg-type]
    assert answer.status_code == 200, answer.text
    return str(answer.json()["person"])


def test_a_person_logs_in_and_calls_as_who_they_are(door: Door) -> None:
    server = door.server()
    with pytest.raises(LoginNeeded, match="log in with `skillroute login"):
        door.identities.credentials(server, ANN, None)
    assert door.log_in(server, ANN).is_done
    assert whoami(door, server, ANN) == "ann"
    [asked] = door.sso.provider.asked
    assert (asked.resource, asked.scopes) == (server.url, ["read"])


def test_two_persons_at_one_server_are_two_and_so_is_a_namesake_of_another_organisation(door: Door) -> None:
    server, namesake = door.server(), person("ann", "globex")
    door.log_in(server, ANN)
    for stranger in (BEN, namesake, person("ann", None)):
        with pytest.raises(LoginNeeded):
            door.identities.credentials(server, stranger, None)
    door.log_in(server, BEN)
    assert (whoami(door, server, ANN), whoami(door, server, BEN)) == ("ann", "ben")
    keys = {door.identities.credentials(server, each, None).session_key for each in (ANN, BEN)}
    assert len(keys) == 2
    assert [door.logins.list(each, limit=10, offset=0)[1] for each in (ANN, BEN, namesake)] == [1, 1, 0]


def test_the_client_is_registered_once(door: Door) -> None:
    server = door.server()
    door.log_in(server, ANN)
    door.log_in(server, BEN)
    assert len(door.sso.provider.clients) == 1


def test_a_client_that_was_registered_before_is_used(door: Door) -> None:
    server = door.server()
    door.log_in(server, ANN)
    [known] = door.sso.provider.clients.values()
    assert known.client_secret is not None
    place = door.vault.require_key()._path.with_name("secret")  # type: ignore[attr-defined]
    place.write_text(known.client_secret)
    place.chmod(0o600)
    other = door.server("mcp/write", client_id=known.client_id, client_secret=f"file:{place}", scopes=["write"])
    assert door.log_in(other, ANN).is_done
    assert whoami(door, other, ANN) == "ann"
    assert list(door.sso.provider.clients) == [known.client_id]


def test_the_secret_of_a_client_is_shown_to_the_authorization_server_of_the_first_login_alone(door: Door) -> None:
    server = door.server()
    door.log_in(server, ANN)
    [known] = door.sso.provider.clients.values()
    other = door.server("mcp/write", client_id=known.client_id, scopes=["write"])
    sealed = door.vault.seal_client({"issuer": "https://another.example"}, other.id)
    door.database.transact(lambda session: IdentityRepository(session).put_client(other.id, sealed))
    with pytest.raises(LoginNotPossible, match="another authorization server"):
        door.logins.begin(other.id, ANN, REDIRECT)


def test_a_state_is_good_once(door: Door) -> None:
    server = door.server()
    came = door.browse(door.logins.begin(server.id, ANN, REDIRECT).url)
    assert door.finish(came).is_done
    again = door.finish(came)
    assert (again.is_done, "finished before" in again.sentence) == (False, True)


def test_a_state_is_not_good_for_ever(door: Door) -> None:
    server = door.server()
    came = door.browse(door.logins.begin(server.id, ANN, REDIRECT).url)
    door.clock.pass_(601)
    assert not door.finish(came).is_done
    assert door.sso.provider.access == {}


def test_a_login_is_whose_state_it_is_and_the_code_of_another_does_not_fit_it(door: Door) -> None:
    """The verifier of a login is its own: a code that was made for another one is refused."""
    server = door.server()
    of_ann, of_ben = (door.browse(door.logins.begin(server.id, each, REDIRECT).url) for each in (ANN, BEN))
    assert not door.finish({**of_ann, "code": of_ben["code"]}).is_done
    assert door.logins.list(ANN, limit=1, offset=0)[1] == 0
    assert door.finish(of_ben).is_done
    assert (door.logins.list(ANN, limit=1, offset=0)[1], door.logins.list(BEN, limit=1, offset=0)[1]) == (0, 1)


def test_an_answer_of_another_issuer_is_not_believed(door: Door) -> None:
    """RFC 9207: a mix-up of authorization servers ends before the code goes anywhere."""
    server = door.server()
    door.sso.provider.iss = "https://evil.test"
    outcome = door.finish(door.browse(door.logins.begin(server.id, ANN, REDIRECT).url))
    assert (outcome.is_done, "another authorization server" in outcome.sentence) == (False, True)
    assert door.sso.provider.access == {}


def test_a_person_who_does_not_allow_it_is_not_logged_in(door: Door) -> None:
    server = door.server()
    came = door.browse(door.logins.begin(server.id, ANN, REDIRECT).url)
    outcome = door.finish({"state": came["state"], "error": "access_denied"})
    assert outcome.sentence == "You did not allow it: you are not logged in."


def test_who_has_no_name_does_not_log_in(door: Door) -> None:
    server = door.server()
    with pytest.raises(Forbidden, match="no subject"):
        door.logins.begin(server.id, person(None), REDIRECT)
    with pytest.raises(LoginNeeded, match="no subject"):
        door.identities.credentials(server, person(None), None)


def test_a_role_that_many_share_does_not_log_in(door: Door) -> None:
    server, role = door.server(), Caller(None, ANN.scopes, "123456789012:developers")
    with pytest.raises(Forbidden, match="all who may assume it share"):
        door.logins.begin(server.id, role, REDIRECT)
    with pytest.raises(LoginNeeded, match="all who may assume it share"):
        door.identities.credentials(server, role, None)


def test_a_server_of_another_organisation_is_not_there(door: Door) -> None:
    server = door.server(org="globex")
    with pytest.raises(NotFound):
        door.logins.begin(server.id, ANN, REDIRECT)


def test_a_server_of_another_kind_takes_no_logins(door: Door) -> None:
    server = door.server(kind="none")
    with pytest.raises(Conflict, match="Set kind oauth first") as refused:
        door.logins.begin(server.id, ANN, REDIRECT)
    assert refused.value.code is ErrorCode.LOGIN_NOT_POSSIBLE


def test_a_server_that_says_nothing_of_tokens_is_refused_with_the_remedy(door: Door) -> None:
    server = door.server("nothing-here")
    with pytest.raises(LoginNotPossible, match="use a secret instead"):
        door.logins.begin(server.id, ANN, REDIRECT)


def test_logging_out_deletes_and_has_the_tokens_taken_back(door: Door) -> None:
    server = door.server()
    door.log_in(server, ANN)
    door.log_in(server, BEN)
    taken = door.identities.credentials(server, ANN, None)
    door.logins.end(server.id, ANN)
    assert door.call(server, taken).status_code == 401
    with pytest.raises(LoginNeeded):
        door.identities.credentials(server, ANN, None)
    with pytest.raises(NotFound):
        door.logins.end(server.id, ANN)
    assert whoami(door, server, BEN) == "ben"


def test_a_login_ends_with_the_setting_that_it_was_made_by(door: Door) -> None:
    server = door.server(org="acme")
    door.log_in(server, ANN)
    owner = Caller("acme", ANN.scopes, "root")
    door.manage.put(server.id, owner, "oauth", {})  # what is so already ends nothing
    assert door.logins.list(ANN, limit=1, offset=0)[1] == 1
    door.manage.put(server.id, owner, "oauth", {"scopes": ["write"]})
    assert door.logins.list(ANN, limit=1, offset=0)[1] == 0


def test_of_logins_that_nobody_finishes_the_last_few_are_kept(door: Door) -> None:
    server = door.server()
    for _ in range(12):
        door.logins.begin(server.id, ANN, REDIRECT)
        door.clock.pass_(1)
    assert door.sql("SELECT count(*) FROM mcp.login_attempts") == [[5]]
