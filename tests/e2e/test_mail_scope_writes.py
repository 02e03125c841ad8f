"""Whoever writes for one organisation neither reaches another's mail nor learns from the outcomes what it has."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import httpx
import pytest

from tests.conftest import fresh_database
from tests.e2e.mail_world import OPEN, SECRET, TOKENS, client_of, fill, ids
from tests.e2e.processes import Bare, Processes, answered
from tests.e2e.work import search_mail

if TYPE_CHECKING:
    from skillroute_local.postgres import EmbeddedPostgres

_NEVER = "never-was"


_organisations = itertools.count(1)


@pytest.fixture(scope="module")
def server(
    postgres_server: EmbeddedPostgres, migrated_template: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Bare]:
    """A server with the mail of two organisations, which all tests of this module leave as it was."""
    directory = tmp_path_factory.mktemp("writes")
    started = Processes(directory)
    with fresh_database(postgres_server, migrated_template) as url:
        try:
            server = started.bare(directory / "home", url, **TOKENS).ready()
            fill(server)
            yield server
            assert "Traceback" not in server.output
        finally:
            started.close()


@pytest.fixture
def intruder(server: Bare) -> Iterator[httpx.Client]:
    """A caller that may write and search for an organisation that has nothing yet."""
    with client_of(server, org=f"initech-{next(_organisations)}", agent="Ann", scope="search catalog") as http:
        yield http


def put(http: httpx.Client, kind: str, **thing: Any) -> dict[str, Any]:
    """Write one thing and return what became of it."""
    [result] = answered(http.put(f"/api/v1/mail/{kind}s", json=[thing]))["results"]
    outcome: dict[str, Any] = result
    return outcome


def message(key: str, project: str, sender: str = "Ann", **said: Any) -> dict[str, Any]:
    return {"key": key, "project": project, "from": sender, "to": ["Ben"], "subject": "ledger", **said}


def everything(server: Bare, org: str | None) -> dict[str, Any]:
    """Return all that an organisation's operator sees."""
    with client_of(server, org=org, scope="admin") as http:
        return {
            kind: answered(http.get(f"/api/v1/mail/{kind}s", params={"limit": 1000}))
            for kind in ("project", "product", "agent", "message")
        }


def test_another_organisation_s_projects_are_written_to_as_little_as_ones_that_never_were(
    server: Bare, intruder: httpx.Client
) -> None:
    before = {org: everything(server, org) for org in ("acme", "globex")}

    def tried(project: str) -> list[str]:
        outcomes = [
            put(intruder, "message", **message("x1", project)),
            put(intruder, "product", key="mixed", name="M", projects=[project]),
            put(intruder, "agent", name="Ann", projects=[project]),
        ]
        assert {(each["status"], each["id"]) for each in outcomes} == {("failed", None)}
        return [str(each["error"]).replace(project, "?") for each in outcomes]

    for project in (OPEN, SECRET, "cellar", "mine"):
        assert tried(project) == tried(_NEVER)
    assert {org: everything(server, org) for org in before} == before


def test_the_same_keys_and_names_are_another_organisation_s_own(server: Bare, intruder: httpx.Client) -> None:
    before = {org: everything(server, org) for org in ("acme", "globex")}
    assert put(intruder, "project", key=OPEN, name="Ours")["status"] == "created"
    # Whoever makes a project belongs to it.
    assert put(intruder, "agent", name="Ann", projects=[OPEN])["status"] == "updated"
    assert put(intruder, "product", key="mixed", name="Ours", projects=[OPEN])["status"] == "created"
    # Keys of acme's and globex's messages, and names of their agents: all new here.
    for key in ("m1", "s1-1", "h1"):
        assert put(intruder, "message", **message(key, OPEN, cc=["Eve"]))["status"] == "created"

    own = set(ids(intruder, "project").values())
    assert {each["project_id"] for each in search_mail(intruder, "ledger", limit=1000)["results"]} == own
    [ann] = answered(intruder.get("/api/v1/mail/agents"))
    assert (ann["name"], set(ann["project_ids"])) == ("Ann", own)
    assert {org: everything(server, org) for org in before} == before


def test_nobody_deletes_or_acknowledges_what_is_another_s(server: Bare, intruder: httpx.Client) -> None:
    before = {org: everything(server, org) for org in ("acme", "globex")}
    for kinds in before.values():
        for kind, things in kinds.items():
            for each in things[:5]:
                url = f"/api/v1/mail/{kind}s/{each['id']}"
                assert intruder.delete(url).status_code == 404
                if kind == "message":
                    told = intruder.post(f"{url}/acknowledge", json={"agent": each["to"][0]})
                    assert told.status_code == 404
    assert {org: everything(server, org) for org in before} == before


def test_a_member_writes_as_little_into_a_project_out_of_its_sight_as_into_one_that_never_was(server: Bare) -> None:
    before = everything(server, "acme")
    with client_of(server, agent="Ann", scope="search catalog") as ann:
        seen = {kind: ids(ann, kind) for kind in before}

        def tried(project: str) -> list[str]:
            outcomes = [
                put(ann, "agent", name="Ann", projects=[OPEN, project]),
                put(ann, "agent", name="New", projects=[project]),
                put(ann, "product", key="mixed", name="M", projects=[OPEN, project]),
                put(ann, "message", **message("x1", project)),
                put(ann, "message", **message("m1", project)),
            ]
            assert {(each["status"], each["id"]) for each in outcomes} == {("failed", None)}
            return [str(each["error"]).replace(project, "?") for each in outcomes]

        for project in (SECRET, "cellar", "commons", "mine"):
            assert tried(project) == tried(_NEVER)
        # What is there is taken, whether it is guessed right or not.
        for each in before["message"]:
            if each["org_id"] == "acme" and each["key"] not in seen["message"]:
                guess = {name: each[name] for name in ("key", "from", "to", "cc", "subject", "body", "thread_id")}
                for said in (guess, guess | {"body": "x"}):
                    told = put(ann, "message", **said, project=OPEN, created_ts=each["created_ts"])["error"]
                    assert told == {"field": "key", "message": "is taken"}
        for kind, key in (("project", SECRET), ("project", "cellar"), ("product", "hoard"), ("product", "cask")):
            said = {"projects": [OPEN]} if kind == "product" else {}
            assert put(ann, kind, key=key, name="Mine", **said)["error"] == {"field": "key", "message": "is taken"}
        assert put(ann, "agent", name="BEN", projects=[OPEN])["error"] == {"field": "name", "message": "is taken"}
        assert {kind: ids(ann, kind) for kind in before} == seen
    assert everything(server, "acme") == before


def test_what_is_global_can_be_seen_by_its_agents_and_changed_by_no_organisation(server: Bare) -> None:
    # Gil of acme belongs to a global project: its messages are his to read, and nobody's of acme to change.
    with client_of(server, agent="Gil", scope="search catalog") as gil:
        seen = search_mail(gil, "apples", limit=1000)["results"]
        of_all = [each for each in seen if each["key"].startswith("c")]
        assert of_all
        url = f"/api/v1/mail/messages/{of_all[0]['id']}"
        assert answered(gil.get(url))["org_id"] is None
        assert gil.delete(url).status_code == 403
        assert gil.post(f"{url}/acknowledge", json={"agent": "Ann"}).status_code == 403
        assert put(gil, "message", **message("x1", "depths", "Gil"))["error"]["field"] == "project"


def test_whoever_leaves_a_project_sees_none_of_it_from_the_next_query_on(server: Bare) -> None:
    with client_of(server, scope="admin") as operator, client_of(server, agent="Cat") as cat:
        for projects, wanted in (([OPEN], {"m"}), ([SECRET], {"s"}), ([], set()), ([OPEN, SECRET], {"m", "s"})):
            assert put(operator, "agent", name="CAT", projects=projects)["status"] == "updated"
            for mode in ("lexical", "semantic", "hybrid"):
                found = search_mail(cat, "ledger of apples", mode=mode, limit=1000)["results"]
                assert {each["key"][0] for each in found} == wanted
            assert {each["key"][0] for each in answered(cat.get("/api/v1/mail/messages"))} == wanted
