"""Rights, scope and redaction (message-search, section 6)."""

from __future__ import annotations

from typing import Any

import pytest
from skillroute.core.caller import LAPTOP, Caller, Scope
from skillroute.mail.search.cursor import Cursor

from tests.builders import System, of_org
from tests.component.mail.search.conftest import MakeSystem
from tests.doubles import at
from tests.worlds.mail_search import agent

MODES = ("lexical", "semantic", "hybrid")
EVERYTHING = {"redact_body": True, "redact_agent_names": True, "redact_thread_ids": True}


def scoped(name: str) -> dict[str, Any]:
    return {"scope": {"caller_scoped": {"caller_agent": name}}}


def only(*projects: int) -> dict[str, Any]:
    return {"scope": {"project_set": {"allowed_project_ids": list(projects)}}}


@pytest.fixture
def filled(system: System) -> System:
    return fill(system)


def fill(system: System) -> System:
    """Two projects; BlueLake belongs to atlas, RedFox to both, GreyOwl to none."""
    atlas, borealis = system.store_project("atlas"), system.store_project("borealis")
    for number in range(3):
        system.store_message("water", "open " * number, at(0.5), project="atlas", thread_id="T-A", created_ts=number)
        system.store_message("water", "hidden " * number, at(0.9), project="borealis", thread_id="T-B", created_ts=9)
    system.store_agent("BlueLake", atlas)
    system.store_agent("RedFox", atlas, borealis)
    system.store_agent("GreyOwl")
    return system


def in_project(system: System, key: str) -> list[int]:
    return sorted(system.found_mail("", project_id=system.store_project(key)))


class TestScope:
    @pytest.mark.parametrize("mode", MODES)
    def test_an_agents_projects(self, filled: System, mode: str) -> None:
        explain = filled.explain_mail("water", mode=mode, **scoped("bluelake"))

        assert sorted(filled.found_mail("water", mode=mode, **scoped("bluelake"))) == in_project(filled, "atlas")
        assert (explain.scope_policy, explain.denied_count, explain.redacted_count) == ("caller_scoped", 3, 0)

    @pytest.mark.parametrize("mode", MODES)
    def test_a_set_of_projects(self, filled: System, mode: str) -> None:
        scope = only(filled.store_project("borealis"), 10**9)

        assert sorted(filled.found_mail("water", mode=mode, **scope)) == in_project(filled, "borealis")
        explain = filled.explain_mail("water", mode=mode, **scope)
        assert (explain.scope_policy, explain.denied_count) == ("project_set", 3)

    @pytest.mark.parametrize("scope", [only(), scoped("GreyOwl"), scoped("Nobody")])
    def test_an_empty_set_allows_nothing(self, filled: System, scope: dict[str, Any]) -> None:
        assert filled.found_mail("water", **scope) == []
        assert filled.explain_mail("water", **scope).denied_count == 6
        assert filled.found_mail("", thread_id="T-A", **scope) == []
        assert filled.explain_mail("", thread_id="T-A", **scope).denied_count == 3

    def test_unrestricted_denies_nothing(self, filled: System) -> None:
        explain = filled.explain_mail("water")

        assert (explain.scope_policy, explain.denied_count) == ("unrestricted", 0)
        assert len(filled.found_mail("water")) == 6

    def test_filters_count_before_the_scope(self, filled: System) -> None:
        where = {"project_id": filled.store_project("borealis")}

        assert filled.found_mail("water", **where, **scoped("BlueLake")) == []
        assert filled.explain_mail("water", **where, **scoped("BlueLake")).denied_count == 3

    @pytest.mark.parametrize("mode", MODES)
    def test_scores_and_cursors_are_those_of_the_scope_alone(
        self, filled: System, system_with: MakeSystem, mode: str
    ) -> None:
        scope = only(filled.store_project("atlas"))
        before = filled.search_mail("water", mode=mode, limit=2, **scope).to_json()

        filled.store_message("water water", "hidden", at(0.99), project="borealis")

        assert filled.search_mail("water", mode=mode, limit=2, **scope).to_json() == before


class TestRedaction:
    def test_what_is_outside_the_scope_stays_without_its_parts(self, filled: System) -> None:
        answer = filled.search_mail("water", redaction=EVERYTHING, explain=True, **scoped("BlueLake"))

        assert len(answer.results) == 6
        assert answer.explain is not None
        assert (answer.explain.denied_count, answer.explain.redacted_count) == (0, 3)
        for result in answer.results:
            if result.project_id == filled.store_project("atlas"):
                assert (result.redacted, result.subject, result.sender, result.thread_id) == (
                    None, "water", "BlueLake", "T-A",
                )  # fmt: skip
            else:
                assert result.redacted is True
                assert {result.subject, result.snippet, result.sender, result.thread_id, result.key} == {"[redacted]"}
                assert (result.to, result.cc) == (["[redacted]"], [])
        text = answer.to_json()
        assert b"hidden" not in text
        assert b"T-B" not in text

    @pytest.mark.parametrize(
        ("part", "hidden"),
        [
            ("redact_body", {"key", "subject", "snippet"}),
            ("redact_agent_names", {"sender", "to", "cc", "bcc"}),
            ("redact_thread_ids", {"thread_id"}),
        ],
    )
    def test_each_part_alone(self, filled: System, part: str, hidden: set[str]) -> None:
        filled.store_message("fire", project="borealis", cc=["GreyOwl"], bcc=["GreenHill"], thread_id="T-B")
        plain = filled.search_mail("fire").results[0].model_dump()

        [result] = filled.search_mail(
            "fire", redaction={part: True, "placeholder": "***"}, **scoped("BlueLake")
        ).results

        changed = {name for name, value in result.model_dump().items() if value != plain[name]}
        assert changed == {*hidden, "redacted"}
        assert all(getattr(result, name) in ("***", ["***"]) for name in hidden)

    def test_without_a_thread_there_is_nothing_to_hide(self, filled: System) -> None:
        filled.store_message("fire", project="borealis")

        [result] = filled.search_mail("fire", redaction=EVERYTHING, **scoped("BlueLake")).results
        assert result.thread_id is None

    def test_a_redaction_of_nothing_is_none(self, filled: System) -> None:
        assert filled.explain_mail("water", redaction={"placeholder": "x"}, **scoped("BlueLake")).denied_count == 3
        assert len(filled.found_mail("water", redaction={"placeholder": "x"}, **scoped("BlueLake"))) == 3

    def test_counts_are_of_the_page(self, filled: System) -> None:
        cursor, counts = None, []
        while True:
            request = {"limit": 2, "cursor": cursor, "explain": True, "redaction": EVERYTHING}
            answer = filled.search_mail("water", **request, **scoped("BlueLake"))
            assert answer.explain is not None
            assert answer.explain.redacted_count == sum(result.redacted is True for result in answer.results)
            counts.append(answer.explain.redacted_count)
            cursor = answer.next_cursor
            if cursor is None:
                break
        assert sum(counts) == 3

    def test_a_listing_is_redacted_too(self, filled: System) -> None:
        results = filled.search_mail("", ack_required=False, redaction=EVERYTHING, **scoped("BlueLake")).results

        assert [result.redacted for result in results] == [None, True] * 3

    def test_agents_and_projects(self, filled: System) -> None:
        filled.store_agent(
            "WhiteBear", filled.store_project("borealis"), description="fire", contact="mailto:bear@example.test"
        )
        filled.store_project("fire", description="fire and more")

        request: dict[str, Any] = {"redaction": EVERYTHING, **scoped("BlueLake")}
        [bear] = filled.search_mail("fire", doc_kind="agent", **request).results
        assert {bear.name, bear.description, bear.contact} == {"[redacted]"}
        [fire] = filled.search_mail("fire", doc_kind="project", **request).results
        assert {fire.key, fire.name, fire.description} == {"[redacted]"}


class TestRights:
    """Whoever may not see something learns nothing of it, whatever they ask for."""

    def stranger(self) -> Caller:
        return Caller(org_id=None, scopes=frozenset({Scope.SEARCH}))

    @pytest.mark.parametrize("mode", MODES)
    def test_a_token_sees_the_projects_of_its_agent(self, filled: System, mode: str) -> None:
        assert sorted(filled.found_mail("water", mode=mode, caller=agent("BlueLake"))) == in_project(filled, "atlas")
        assert len(filled.found_mail("water", mode=mode, caller=agent("RedFox"))) == 6
        for nobody in (agent("GreyOwl"), agent("Nobody"), self.stranger()):
            assert filled.found_mail("water", mode=mode, caller=nobody) == []

    def test_membership_counts_at_once(self, filled: System) -> None:
        filled.store_agent("GreyOwl", filled.store_project("borealis"))
        assert sorted(filled.found_mail("water", caller=agent("GreyOwl"))) == in_project(filled, "borealis")

        filled.store_agent("GreyOwl")
        assert filled.found_mail("water", caller=agent("GreyOwl")) == []

    @pytest.mark.parametrize("mode", MODES)
    @pytest.mark.parametrize(
        "request_",
        [
            {"scope": "unrestricted"},
            scoped("RedFox"),
            only(1, 2, 3, 4, 5),
            {"redaction": EVERYTHING},
            {"redaction": EVERYTHING, **scoped("RedFox")},
            {"redaction": EVERYTHING, **only(1, 2, 3)},
            {"redaction": {"redact_thread_ids": True}, **only()},
        ],
    )
    def test_no_request_widens_what_a_token_may_see(self, filled: System, mode: str, request_: dict[str, Any]) -> None:
        hidden = set(in_project(filled, "borealis"))

        answer = filled.search_mail("water", mode=mode, explain=True, caller=agent("BlueLake"), **request_)

        assert hidden.isdisjoint(result.id for result in answer.results)
        assert answer.explain is not None
        assert answer.explain.scope_policy != "unrestricted"
        assert answer.explain.denied_count == 0
        assert (answer.explain.sql, answer.explain.shadow) == ("", None)

    @pytest.mark.parametrize("mode", MODES)
    @pytest.mark.parametrize("setting", [None, "fts5", "shadow"])
    def test_the_answer_is_the_same_to_the_byte_whether_hidden_mail_exists_or_not(
        self, system_with: MakeSystem, mode: str, setting: str | None
    ) -> None:
        system = fill(system_with(search_engine=setting, search_shadow_timeout_s=5))
        hidden = in_project(system, "borealis")
        requests: list[dict[str, Any]] = [
            {"text": "water", "limit": 2},
            {"text": "water", "ranking": "recency"},
            {"text": "hidden"},
            {"text": "water", "project_id": system.store_project("borealis")},
            {"text": "water", "thread_id": "T-B"},
            {"text": "", "thread_id": "T-B"},
            {"text": "", "ack_required": False, "ranking": "recency"},
            {"text": "water", "redaction": EVERYTHING, **only()},
            {"text": "water", "redaction": EVERYTHING, **scoped("RedFox")},
            {"text": "water", **scoped("RedFox")},
            *({"text": "water", "cursor": Cursor(score, hidden[1]).token()} for score in (-1.0, 0.0, 0.9, 1.0, 1e9)),
        ]

        def answers() -> list[bytes]:
            return [
                self.timeless(system.search_mail(caller=agent("BlueLake"), mode=mode, explain=True, **request))
                for request in requests
            ]

        before = answers()
        system.delete_messages(*hidden)
        assert answers() == before
        for number in range(20):
            system.store_message("water hidden", "water " * number, at(1.0), project="borealis", thread_id="T-B")
        assert answers() == before

    @staticmethod
    def timeless(answer: Any) -> bytes:
        explain = answer.explain.model_copy(update={"timing": None})
        return bytes(answer.model_copy(update={"explain": explain}).to_json())

    def test_unknown_and_forbidden_projects_and_products_look_the_same(self, filled: System) -> None:
        borealis = filled.store_project("borealis")
        product = filled.store_product("cold", borealis)

        def ask(**where: int) -> bytes:
            return self.timeless(filled.search_mail("water", explain=True, caller=agent("BlueLake"), **where))

        assert ask(project_id=borealis) == ask(project_id=10**9)
        assert ask(product_id=product) == ask(product_id=10**9)

    def test_nothing_is_asked_of_the_engines_for_whoever_may_see_nothing(self, filled: System) -> None:
        filled.found_mail("water")
        index, embedder = filled.index, filled.embedder
        index.calls.clear()
        embedder.calls.clear()

        for mode in MODES:
            filled.search_mail(
                "something else", mode=mode, caller=agent("GreyOwl"), redaction=EVERYTHING, **scoped("RedFox")
            )

        assert (index.calls, embedder.calls) == ([], [])

    def test_a_scope_of_a_forbidden_project_looks_like_one_of_an_unknown(self, filled: System) -> None:
        """RedFox belongs to both projects: whether it is redacted must not tell of the one that is hidden."""

        def ask(project: int, redaction: dict[str, Any] | None, kind: str) -> bytes:
            request = {"doc_kind": kind, "redaction": redaction, "explain": True, **only(project)}
            return self.timeless(filled.search_mail("RedFox", caller=agent("BlueLake"), **request))

        for kind in ("agent", "message", "project"):
            for redaction in (None, EVERYTHING):
                assert ask(filled.store_project("borealis"), redaction, kind) == ask(10**9, redaction, kind)

    def test_agents_tell_only_projects_that_the_caller_may_see(self, filled: System) -> None:
        atlas, borealis = filled.store_project("atlas"), filled.store_project("borealis")

        [fox] = filled.search_mail("RedFox", doc_kind="agent", caller=agent("BlueLake")).results
        assert fox.project_ids == [atlas]
        [fox] = filled.search_mail("RedFox", doc_kind="agent").results
        assert fox.project_ids == [atlas, borealis]
        assert filled.found_mail("GreyOwl", doc_kind="agent", caller=agent("BlueLake")) == []

    def test_what_moves_out_of_sight_while_a_page_is_made_is_not_shown(self, filled: System) -> None:
        [id_, *_] = in_project(filled, "atlas")
        borealis, seen = filled.store_project("borealis"), []

        def move() -> None:
            seen.append(1)
            if len(seen) == 2:  # first the rights are read, then the page
                filled.sql(f"UPDATE mcp.mail_documents SET project_ids = '{{{borealis}}}' WHERE id = {id_}")

        filled.found_mail("water")
        filled.database.before_read = move
        assert id_ not in filled.found_mail("water", caller=agent("BlueLake"))
        assert len(seen) == 2

    @pytest.mark.parametrize("mode", MODES)
    @pytest.mark.parametrize("setting", [None, "fts5"])
    def test_organisations_do_not_see_each_other(self, system_with: MakeSystem, mode: str, setting: str | None) -> None:
        system = system_with(search_engine=setting)
        ours = system.store_message("water", "", at(0.9), org="acme")
        theirs = system.store_message("water", "", at(0.8), org="globex")
        everyones = system.store_message("water", "", at(0.7))

        def sees(caller: Caller) -> set[int]:
            return set(system.found_mail("water", mode=mode, caller=caller))

        assert sees(of_org("acme")) == {ours, everyones}
        assert sees(of_org("globex")) == {theirs, everyones}
        assert sees(LAPTOP) == {everyones}
        assert set(system.found_mail("", ack_required=False, caller=of_org("acme"))) == {ours, everyones}
        # An agent of the same name elsewhere is another one.
        system.store_agent("BlueLake", system.store_project("atlas", org="globex"), org="globex")
        assert sees(agent("BlueLake", "acme")) == set()
        assert sees(agent("BlueLake", "globex")) == {theirs}
