"""Whoever has no rights learns nothing: every answer is the same, to the byte, whether what is denied exists or not.

Two databases hold the same mail under the same ids, but one of them only what Ann of acme may see. Everything that she,
and others with less, can ask is asked of both.
"""

from __future__ import annotations

import itertools
import random
import statistics
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import httpx
import pytest
from skillroute.mail.search.cursor import Cursor

from tests.conftest import fresh_database
from tests.e2e.generated import messages
from tests.e2e.mail_questions import NEVER, SEARCH, Asked, Known, readings, searches, single_things, tool_calls
from tests.e2e.mail_world import HIDDEN, OPEN, ROUNDS, SECRET, TOKENS, client_of, fill, forget, ids
from tests.e2e.processes import SOAK, Bare, Processes, answered
from tests.e2e.work import put_mail, search_mail

if TYPE_CHECKING:
    from skillroute_local.postgres import EmbeddedPostgres

SETTINGS = ("", "fts5", "shadow")
SEARCHES = 1000 if SOAK else 70
"""Searches of each caller in each setting."""

# Those who may see no more than Ann: an agent by another spelling of its name, none at all, one that are unknown, one
# that is another organisation's only, and a caller without organisation.
CALLERS = (
    {"agent": "Ann"},
    {"agent": " ANN"},
    {"agent": "Ann", "scope": "search catalog"},
    {"agent": None},
    {"agent": "Nobody"},
    {"agent": "Otto"},
    {"agent": "Ann", "org": None},
    {"agent": "Otto", "org": "initech"},
)


@dataclass
class Worlds:
    """Servers by SKILLROUTE_SEARCH_ENGINE: over a database with everything, and over one without what is denied."""

    whole: dict[str, Bare] = field(default_factory=dict)
    open_only: dict[str, Bare] = field(default_factory=dict)


@pytest.fixture(scope="module")
def worlds(
    postgres_server: EmbeddedPostgres, migrated_template: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Worlds]:
    """Six servers that all tests of this module ask, and none changes what is there."""
    directory = tmp_path_factory.mktemp("worlds")
    started = Processes(directory)
    worlds = Worlds()
    with (
        fresh_database(postgres_server, migrated_template) as whole,
        fresh_database(postgres_server, migrated_template) as open_only,
    ):
        try:
            for url, servers in ((whole, worlds.whole), (open_only, worlds.open_only)):
                for setting in SETTINGS:
                    env = {**TOKENS, "SKILLROUTE_SEARCH_ENGINE": setting}
                    servers[setting] = started.bare(directory / "home", url, **env)
            for server in (*worlds.whole.values(), *worlds.open_only.values()):
                server.ready()
            fill(worlds.whole[""])
            fill(worlds.open_only[""])
            forget(worlds.open_only[""])
            yield worlds
            for server in (*worlds.whole.values(), *worlds.open_only.values()):
                assert "Traceback" not in server.output
        finally:
            started.close()


@pytest.fixture(scope="module")
def known(worlds: Worlds) -> Known:
    """Everything that an operator sees, and the place of every message in every ranking."""
    with client_of(worlds.whole[""], scope="admin") as operator:
        kinds = {kind: ids(operator, kind) for kind in ("project", "product", "agent", "message")}
        cursors: set[str] = set()
        for text, mode in itertools.product(("ledger", "quicksilver apples"), ("lexical", "semantic", "hybrid")):
            answer = search_mail(operator, text, mode=mode, limit=40, explain=True)
            for hit in answer["results"][:: 1 if SOAK else 4]:
                token = Cursor(hit["raw_score"], hit["id"]).token()
                cursors |= {token, f"{token}:e{answer['engine']}"}
                cursors.add(Cursor(-float(hit["created_ts"]), hit["id"]).token())
                cursors.add(Cursor(1.0, hit["id"], "postgres").token())
        return Known(
            ids=(*sorted({id_ for each in kinds.values() for id_ in each.values()}), NEVER),
            products=(*kinds["product"].values(), NEVER),
            projects=(*kinds["project"].values(), NEVER),
            cursors=tuple(sorted(cursors)),
        )


def told(http: httpx.Client, asked: Asked) -> tuple[Any, ...]:
    """Return all that an answer tells, but for its own id, times of day and how long it took."""
    method, path, said = asked
    response = http.get(path, params=said) if method == "GET" else http.request(method, path, json=said)
    assert response.status_code < 500, f"{asked}: {response.text}"
    body = _timeless(response.json())
    if path == SEARCH and said.get("doc_kind", "message") != "message" and said["ranking"] == "recency":
        body.pop("next_cursor", None)  # holds when an agent or a project was written
    return response.status_code, response.headers.get("X-Total-Count"), body


def _timeless(body: Any) -> Any:
    if isinstance(body, list):
        return [_timeless(each) for each in body]
    if not isinstance(body, dict):
        return body
    of_the_moment = {"timing", "created_at", "updated_at", "request_id"}
    if body.get("doc_kind") in {"agent", "project"}:
        of_the_moment |= {"created_ts"}
    return {name: _timeless(value) for name, value in body.items() if name not in of_the_moment}


def differences(whole: Bare, open_only: Bare, asked: list[Asked], **caller: Any) -> list[Any]:
    """Ask both, and return where they differ."""
    with client_of(whole, **caller) as one, client_of(open_only, **caller) as other:
        answers = [(each, told(one, each), told(other, each)) for each in asked]
    return [(each, one, other) for each, one, other in answers if one != other]


@pytest.mark.parametrize("setting", SETTINGS)
@pytest.mark.parametrize("place", range(len(CALLERS)), ids=str)
def test_searches_tell_nothing_of_what_is_denied(worlds: Worlds, known: Known, setting: str, place: int) -> None:
    number = SEARCHES if place == 0 else SEARCHES // 7
    asked = list(itertools.islice(searches(known, seed=place), number))
    assert differences(worlds.whole[setting], worlds.open_only[setting], asked, **CALLERS[place]) == []


@pytest.mark.parametrize("place", range(len(CALLERS)), ids=str)
def test_tools_lists_and_single_things_tell_nothing_either(worlds: Worlds, known: Known, place: int) -> None:
    asked = [*tool_calls(known), *readings(known), *single_things(known)]
    if not SOAK:
        asked = random.Random(place).sample(asked, 30 if place else 200)
    assert differences(worlds.whole[""], worlds.open_only[""], asked, **CALLERS[place]) == []


def test_an_operator_does_see_what_they_do_not(worlds: Worlds, known: Known) -> None:
    """The tests above would see it."""
    asked = list(itertools.islice(searches(known, seed=0), 40))
    for given in (asked, list(tool_calls(known)), list(readings(known))[::2], list(single_things(known))[::8]):
        assert len(differences(worlds.whole[""], worlds.open_only[""], given, scope="admin")) > len(given) / 5


def test_ann_does_see_her_own(worlds: Worlds) -> None:
    for setting, server in worlds.whole.items():
        with client_of(server, agent="Ann") as ann:
            for mode in ("lexical", "semantic", "hybrid"):
                answer = search_mail(ann, "ledger of apples", mode=mode, explain=True)
                assert {each["key"][0] for each in answer["results"]} == {"m"}, (setting, mode)
                assert answer["explain"]["scope_policy"] == "caller_scoped"
                assert (answer["explain"]["sql"], answer["explain"]["denied_count"]) == ("", 0)


def test_the_shadow_is_compared_within_the_same_rights(worlds: Worlds) -> None:
    with client_of(worlds.whole["shadow"], agent="Ann") as ann, client_of(worlds.whole[""], scope="admin") as operator:
        shadow = search_mail(ann, "quicksilver ledger", explain=True)["explain"]["shadow"]
        own = {id_ for key, id_ in ids(operator, "message").items() if key.startswith("m")}
        assert set(shadow["serving_only"]) | set(shadow["shadow_only"]) <= own


def test_redaction_shows_nobody_what_lies_outside_his_rights(worlds: Worlds) -> None:
    redaction = {"redact_body": True, "redact_agent_names": True, "redact_thread_ids": True}
    for server in worlds.whole.values():
        with client_of(server, agent="Ann") as ann, client_of(server, agent="Cat") as cat:
            request = {"redaction": redaction, "explain": True, "limit": 1000}
            scope = {"caller_scoped": {"caller_agent": "Ann"}}
            of_ann = search_mail(ann, "ledger quicksilver", scope=scope, **request)
            of_cat = search_mail(cat, "ledger quicksilver", scope=scope, **request)
        assert of_ann["explain"]["redacted_count"] == 0
        # Cat may see the other project: to look through the eyes of Ann is her own wish.
        assert of_cat["explain"]["redacted_count"] == ROUNDS * HIDDEN
        hidden = [each for each in of_cat["results"] if each.get("redacted")]
        assert len(hidden) == ROUNDS * HIDDEN
        assert {(each["subject"], each["from"], each["thread_id"], each["key"]) for each in hidden} == {
            ("[redacted]",) * 4
        }


@pytest.mark.parametrize("scope", ["search", "search catalog"])
def test_what_is_forbidden_is_answered_like_what_never_was(worlds: Worlds, known: Known, scope: str) -> None:
    whole = worlds.whole[""]
    with client_of(whole, agent="Ann") as reader, client_of(whole, scope="admin") as operator:
        denied = {
            kind: set(ids(operator, kind).values()) - set(ids(reader, kind).values())
            for kind in ("project", "product", "agent", "message")
        }
    with client_of(whole, agent="Ann", scope=scope) as ann:
        for kind, each in denied.items():
            calls: list[tuple[str, str, dict[str, Any]]] = [("GET", "", {}), ("DELETE", "", {})]
            calls += [("POST", "/acknowledge", {"json": {"agent": "Ann"}})] if kind == "message" else []
            for method, rest, body in calls:
                never = _told_of(ann.request(method, f"/api/v1/mail/{kind}s/{NEVER}{rest}", **body), NEVER)
                for id_ in sorted(each)[: None if SOAK else 8]:
                    forbidden = ann.request(method, f"/api/v1/mail/{kind}s/{id_}{rest}", **body)
                    assert _told_of(forbidden, id_) == never


def _told_of(response: httpx.Response, id_: int) -> tuple[int, str]:
    """Return status and text of an answer, without the id that was asked for and its own."""
    text = response.text.replace(response.headers["x-request-id"], "")
    return response.status_code, text.replace(str(id_), "?")


def test_agents_are_shown_with_the_projects_that_the_caller_may_see(worlds: Worlds) -> None:
    with client_of(worlds.whole[""], agent="Ann") as ann:
        [cat] = answered(ann.get("/api/v1/mail/agents", params={"name": "cat"}))
        [found] = [each for each in search_mail(ann, "Cat", doc_kind="agent")["results"] if each["name"] == "Cat"]
        [mixed] = answered(ann.get("/api/v1/mail/products"))
        orchard = ids(ann, "project")[OPEN]
    assert (cat["projects"], cat["project_ids"], found["project_ids"]) == ([OPEN], [orchard], [orchard])
    assert (mixed["key"], mixed["projects"], mixed["project_ids"]) == ("mixed", [OPEN], [orchard])


def test_how_long_it_takes_tells_next_to_nothing(
    postgres_server: EmbeddedPostgres, migrated_template: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """All denied messages hold one word, none holds the other. What is asserted is coarse, what is printed is not."""
    directory = tmp_path_factory.mktemp("timing")
    started = Processes(directory)
    with fresh_database(postgres_server, migrated_template) as url:
        try:
            for setting in ("", "fts5") if SOAK else ("",):
                server = started.bare(directory / "home", url, **TOKENS, SKILLROUTE_SEARCH_ENGINE=setting).ready()
                with client_of(server, scope="admin") as acme, client_of(server, agent="Ann") as ann:
                    if not ids(acme, "message"):
                        put_mail(acme, "project", *({"key": key, "name": key} for key in (OPEN, SECRET)))
                        put_mail(acme, "agent", {"name": "Ann", "projects": [OPEN]})
                        put_mail(acme, "message", *messages(4000 if SOAK else 400, SECRET))
                        put_mail(acme, "message", *messages(20, OPEN))
                    ratios = [_ratio(ann, SECRET, "neverwas") for _ in range(3)]
                sys.stdout.write(f"{setting or 'index'}: {', '.join(f'{each:.2f}' for each in ratios)} times\n")
                assert min(ratios) < 5
        finally:
            started.close()


def _ratio(http: httpx.Client, denied: str, never: str) -> float:
    """Return how many times longer it takes to find nothing where many are denied than where there is nothing."""
    took: dict[str, list[float]] = {denied: [], never: []}
    for _ in range(40):
        for word, each in took.items():
            began = time.perf_counter()
            assert search_mail(http, word)["results"] == []
            each.append(time.perf_counter() - began)
    return statistics.median(took[denied]) / statistics.median(took[never])
