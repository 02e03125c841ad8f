"""What the console's pages ask for, without a browser: over the client, over the real API."""

from __future__ import annotations

import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient
from skillroute_client import AsyncSkillroute
from skillroute_local.console.app import KEY_HEADER
from skillroute_local.console.serving import Target, whole_app

from tests.api.local.console.conftest import Do, page_of
from tests.api.tokens import JWT, Signer, claims, key_set
from tests.builders import System, lent_system
from tests.doubles import EdgeIndexes, proposing
from tests.integration.local.gateway import CREDENTIALS, REGION, Gateway, take_credentials_away

LOOPBACK = "http://localhost"


@pytest.fixture
def suggested(system: System) -> list[int]:
    """Three tools for which Video is suggested, and one for which Gardening is."""
    system.parts.suggest_skills._approve_after = 0
    names = {"cut": "Video", "join": "video", "encode": "Video", "water": "Gardening"}
    ids = system.put(*names)
    system.classifier.answers |= {tool: proposing(name) for tool, name in names.items()}
    system.classify(*ids)
    return ids


def test_a_group_comes_with_its_tools_and_the_nearest_skills(do: Do, system: System, suggested: list[int]) -> None:
    system.create("film", name="Film", description="Films and video.")
    groups = do("suggestions/groups")
    assert {group["name"].lower(): group["count"] for group in groups} == {"video": 3, "gardening": 1}

    proof = do("suggestions/evidence", group=groups[0])

    assert {row["source_tool_id"] for row in proof["suggestions"]} == set(suggested[:3])
    assert {tool["name"] for tool in proof["tools"].values()} == {"cut", "join", "encode"}
    assert [skill["id"] for skill in proof["nearest"]] == ["film"]


def test_how_near_a_skill_is_stands_in_the_classifiers_reason_alone(
    do: Do, system: System, suggested: list[int]
) -> None:
    # GIVEN a skill that a search for the suggestion's text finds last
    system.create("film", name="Film", description="Films and video.")
    system.create("gardening", name="Gardening", description="Films and video, too.")
    gardening = next(group for group in do("suggestions/groups") if group["skill_id"] == "gardening")

    proof = do("suggestions/evidence", group=gardening)

    assert gardening["skill_exists"]
    assert [skill["id"] for skill in proof["nearest"]] == ["gardening", "film"]
    assert all("score" not in skill for skill in proof["nearest"])


def test_a_decision_carries_its_edits_and_names_what_was_seen(do: Do, system: System, suggested: list[int]) -> None:
    [video] = [group for group in do("suggestions/groups") if group["skill_id"] == "video"]
    ids = [row["id"] for row in do("suggestions/evidence", group=video)["suggestions"]]

    result = do(
        "suggestions/review",
        decision={"action": "approve", "ids": ids, "skill": {"id": "films", "name": "Films"}},
    )

    assert (result["status"], result["decided"], result["skill"]["id"]) == ("approved", 3, "films")
    assert [group["name"] for group in do("suggestions/groups")] == ["Gardening"]
    assert system.skills_of(suggested[0]) == ["films"]


def test_a_decision_that_was_refused_says_what_helps(do: Do, system: System, suggested: list[int]) -> None:
    system.create("video", name="Films", description="All about films.")
    result = do("suggestions/review", decision={"action": "approve", "name": "Video"})
    assert result["status"] == "failed"
    assert result["error"]["remedy"].startswith("Choose another id")


def test_tools_come_in_pages_that_say_how_many_there_are(do: Do, system: System) -> None:
    system.put(*(f"tool_{number}" for number in range(3)), description="x" * 500, server="files")

    rows = do("catalogue/tools", offset=1)

    assert (len(rows["rows"]), rows["total"]) == (2, 3)
    assert len(rows["rows"][0]["description"]) < 500


def test_skills_by_hand_are_written_where_nobody_was_faster(do: Do, page: TestClient, system: System) -> None:
    system.create("mail", name="Mail", description="Reading and writing letters.")
    system.create("chat", name="Chat", description="Talking to the team.")
    [tool] = system.put("send")

    saved = do("catalogue/assign", tool_id=tool, skill_ids=["chat", "mail"], seen=[])
    assert [(row["skill_id"], row["is_primary"]) for row in saved["skills"]] == [("chat", True), ("mail", False)]

    late = page.post("/do/catalogue/assign", json={"tool_id": tool, "skill_ids": ["mail"], "seen": []})
    assert (late.status_code, late.json()["code"], late.json()["now"]) == (412, "version_conflict", ["chat", "mail"])
    assert system.skills_of(tool) == ["chat", "mail"]


def test_a_tool_is_switched_off_and_on(do: Do, system: System) -> None:
    [tool] = system.put("send")
    assert not do("catalogue/switch", tool_id=tool, on=False)["is_active"]
    assert do("catalogue/tool", tool_id=tool)["tool"]["is_switched_off"]
    assert do("catalogue/switch", tool_id=tool, on=True)["is_active"]


def test_a_skill_that_somebody_else_changed_comes_back_as_it_is_now(do: Do, page: TestClient, system: System) -> None:
    system.create("mail", name="Mail", description="Reading and writing letters.")
    version = do("skills/skill", skill_id="mail")["version"]
    system.change("mail", name="Post")

    refused = page.post("/do/skills/save", json={"skill_id": "mail", "fields": {"name": "Letters"}, "version": version})
    now = refused.json()["now"]
    assert (refused.status_code, now["skill"]["name"]) == (412, "Post")

    saved = do("skills/save", skill_id="mail", fields={"name": "Letters"}, version=now["version"])
    assert saved["skill"]["name"] == "Letters"


def test_the_tools_of_a_skill_come_with_the_least_sure_first(do: Do, system: System) -> None:
    system.create("mail", name="Mail", description="Reading and writing letters.")
    for tool, confidence in zip(system.put("a", "b", "c"), (0.9, 0.5, 0.7), strict=True):
        system.assign(tool, mail=confidence)

    assert [tool["tool_name"] for tool in do("skills/skill", skill_id="mail")["tools"]] == ["b", "c", "a"]


def test_merging_skills_moves_the_tools_and_switches_the_first_off(do: Do, system: System) -> None:
    for id_ in ("mail", "post", "chat"):
        system.create(id_, name=id_, description=f"All about {id_}.")
    one, both, other = system.put("one", "both", "other")
    system.assign(one, mail=0.9)
    system.assign(both, mail=0.6, post=0.8)
    system.assign(other, chat=0.7, mail=0.5)

    assert do("skills/merge", skill_id="mail", into="post") == {"moved": 3, "failed": []}

    assert [system.skills_of(tool) for tool in (one, both, other)] == [["post"], ["post"], ["chat", "post"]]
    assert not do("skills/skill", skill_id="mail")["skill"]["is_active"]


def test_merging_into_a_skill_that_is_not_there_changes_nothing(do: Do, page: TestClient, system: System) -> None:
    system.create("mail", name="Mail", description="Reading and writing letters.")
    [tool] = system.put("send")
    system.assign(tool, mail=0.9)

    refused = page.post("/do/skills/merge", json={"skill_id": "mail", "into": "nowhere"})

    assert (refused.status_code, refused.json()["code"]) == (404, "skill_not_found")
    assert system.skills_of(tool) == ["mail"]
    assert do("skills/skill", skill_id="mail")["skill"]["is_active"]


def test_a_search_explains_its_scores(do: Do, system: System) -> None:
    system.put("send_mail", description="Send a letter.")
    found = do("search/run", request={"query": "send_mail", "mode": "lexical", "strategy": "direct", "server": ""})
    assert found["tools"][0]["explain"]["bm25"] > 0


@pytest.mark.parametrize("receipt", [True, False])
def test_a_search_that_only_looks_leaves_no_receipt(
    database_url: str, edge_indexes: EdgeIndexes, requests: Path, receipt: bool
) -> None:
    with lent_system(database_url, edge_indexes, receipts="on") as system:
        system.put("send_mail", description="Send a letter.")
        fields = {"request": {"query": "send_mail"}, "receipt": receipt}
        found = page_of(system, requests).post("/do/search/run", json=fields).json()
    assert (found["metadata"]["search_id"] is not None) is receipt


def test_marks_are_written_as_judged_requests(do: Do, requests: Path) -> None:
    requests.write_text('{"query": "by hand", "needs": [["a/b"], ["c/d"]], "note": "kept"}\nnot json\n', "utf-8")

    do("search/judge", query="write a letter", right=["mail/send"], wrong=["chat/post"])
    do("search/judge", query="by hand", right=["a/b", "c/d", "e/f"], wrong=[])
    do("search/judge", query="sharpen knives", right=[], wrong=["mail/send"])
    state = do("search/judged", query="write a letter")

    assert (state["count"], state["judged"]["needs"]) == (3, [["mail/send"]])
    lines = requests.read_text("utf-8").splitlines()
    assert lines[1] == "not json"
    assert json.loads(lines[0]) == {"query": "by hand", "needs": [["a/b", "e/f"], ["c/d"]], "note": "kept"}
    assert json.loads(lines[3]) == {"query": "sharpen knives", "needs": [], "wrong": ["mail/send"]}

    assert do("search/forget", query="write a letter") == {"judged": None, "count": 2, "name": "requests.jsonl"}


def test_marks_are_outcomes_of_a_person(database_url: str, edge_indexes: EdgeIndexes, requests: Path) -> None:
    search_id = "6f2c1b0e-8f1d-4a51-9d59-0d6f4f2b7a10"
    marks = [{"search_id": search_id, "tool_id": 1, "outcome": "wrong"}, {"search_id": search_id, "outcome": "wrong"}]
    with lent_system(database_url, edge_indexes, receipts="on") as system:
        answer = page_of(system, requests).post("/do/search/report", json={"outcomes": marks}).json()
        assert (answer["kept"], answer["accepted"], answer["failed"]) == (True, 1, 1)
        assert system.rows("SELECT tool_id, outcome, source FROM mcp.outcomes") == [[1, "wrong", "person"]]


@pytest.mark.parametrize(
    ("wanted", "needs"),
    [
        ("any", [["mail/send", "post/send", "chat/post"]]),
        ("all", [["mail/send"], ["post/send"], ["chat/post"]]),
        (None, [["mail/send", "chat/post"], ["post/send"]]),
    ],
)
def test_marks_say_whether_one_of_them_is_enough_or_all_are_needed(
    do: Do, requests: Path, wanted: str | None, needs: list[list[str]]
) -> None:
    requests.write_text('{"query": "tell everybody", "needs": [["mail/send"], ["post/send"]]}\n', "utf-8")
    right = ["mail/send", "post/send", "chat/post"]
    stored = do("search/judge", query="tell everybody", right=right, wrong=[], wanted=wanted)
    assert stored["judged"]["needs"] == needs
    assert json.loads(requests.read_text("utf-8"))["needs"] == needs


def test_an_unknown_way_to_need_tools_is_refused(page: TestClient) -> None:
    fields = {"query": "a", "right": ["b"], "wrong": [], "wanted": "some"}
    refused = page.post("/do/search/judge", json=fields)
    assert (refused.status_code, "wanted" in refused.json()["detail"]) == (422, True)


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"query": "a" * 1001}, "query"),
        ({"query": ""}, "query"),
        ({"right": ["a"] * 101}, "right"),
        ({"wrong": ["a" * 601]}, "wrong"),
    ],
)
def test_a_mark_without_bound_is_refused(page: TestClient, requests: Path, fields: dict[str, Any], field: str) -> None:
    refused = page.post("/do/search/judge", json=MARK | fields)
    assert (refused.status_code, field in refused.json()["detail"]) == (422, True)
    assert not requests.exists()


def test_a_file_of_marks_has_an_end_and_what_is_in_it_can_be_changed(do: Do, page: TestClient, requests: Path) -> None:
    requests.write_text("".join(f'{{"query": "{number}", "needs": []}}\n' for number in range(10_000)), "utf-8")
    refused = page.post("/do/search/judge", json=MARK)
    assert (refused.status_code, "10,000" in refused.json()["detail"]) == (409, True)
    assert do("search/judge", query="7", right=["a/b"], wrong=[])["judged"]["needs"] == [["a/b"]]


def test_marks_that_come_at_once_are_all_written(do: Do) -> None:
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda number: do("search/judge", query=str(number), right=["a/b"], wrong=[]), range(40)))
    assert do("search/judged", query="1")["count"] == 40


MARK = {"query": "write a letter", "right": ["mail/send"], "wrong": []}


@pytest.mark.parametrize(
    ("action", "fields"),
    [("judged", {"query": "a"}), ("judge", MARK), ("forget", {"query": "a"}), ("requests", {})],
)
def test_marks_need_a_token_where_the_rest_does(
    locked: Callable[..., TestClient], requests: Path, action: str, fields: dict[str, Any]
) -> None:
    requests.write_text(json.dumps({"query": "a", "needs": [["secret/tool"]]}), "utf-8")
    for page in (locked(), locked("catalog")):
        refused = page.post(f"/do/search/{action}", json=fields)
        has_token = "authorization" in page.headers
        expected = (403, "insufficient_scope") if has_token else (401, "unauthenticated")
        assert (refused.status_code, refused.json()["code"]) == expected
        assert "oken" in refused.json()["remedy"]
        assert "secret" not in refused.text
    assert json.loads(requests.read_text("utf-8")) == {"query": "a", "needs": [["secret/tool"]]}


def test_who_may_only_search_reads_marks_and_writes_none(locked: Callable[..., TestClient], requests: Path) -> None:
    requests.write_text(json.dumps({"query": "write a letter", "needs": []}), "utf-8")
    page = locked("search")
    assert page.post("/do/search/judged", json={"query": "write a letter"}).json()["count"] == 1
    refused = page.post("/do/search/judge", json=MARK)
    assert (refused.status_code, refused.json()["detail"]) == (403, "the token lacks the scope 'skills'")
    assert json.loads(requests.read_text("utf-8"))["needs"] == []


def test_each_organisation_has_its_own_marks(locked: Callable[..., TestClient], requests: Path) -> None:
    requests.write_text(json.dumps({"query": "kept", "needs": []}) + "\n", "utf-8")
    # Names that a file system takes for the same, that it cannot spell, and that lead elsewhere.
    orgs = ["acme", "Acme", "a/../cme", "a:b"]
    for org in orgs:
        done = locked("search skills", org).post("/do/search/judge", json=MARK | {"right": [f"{org}/tool"]})
        assert (done.status_code, done.json()["count"]) == (200, 1)
    for org in orgs:
        seen = locked("search", org).post("/do/search/judged", json={"query": MARK["query"]}).json()
        assert (seen["judged"]["needs"], seen["count"]) == ([[f"{org}/tool"]], 1)
    everybody = locked("search").post("/do/search/requests", json={}).json()
    assert everybody == {"name": "requests.jsonl", "text": '{"query": "kept", "needs": []}\n'}
    assert {path.parent for path in requests.parent.rglob("*.jsonl")} == {requests.parent}


def test_no_answer_shows_where_the_machine_keeps_anything(
    page: TestClient, system: System, tmp_path: Path, do: Do
) -> None:
    (tmp_path / "taken").write_text("")
    nowhere = page_of(system, tmp_path / "taken" / "requests.jsonl")
    answers = [
        page.post("/about"),
        page.post("/do/search/judge", json=MARK),
        page.post("/do/search/judged", json={"query": "a"}),
        page.post("/do/search/requests", json={}),
        nowhere.post("/do/search/judge", json=MARK),
    ]
    assert [answer.status_code for answer in answers] == [200, 200, 200, 200, 507]
    assert [answer.text for answer in answers if str(tmp_path) in answer.text] == []


def test_a_skillroute_that_does_not_say_who_asks_gets_no_marks(
    page: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def older(*_: object, **__: object) -> dict[str, Any]:
        return {"status": "ok"}

    monkeypatch.setattr(AsyncSkillroute, "request", older)
    refused = page.post("/do/search/judge", json=MARK)
    assert (refused.status_code, refused.json()["remedy"].partition(":")[0]) == (502, "Update it")


def test_a_file_that_cannot_be_written_is_an_error_with_its_name(system: System, tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("")
    answer = page_of(system, tmp_path / "taken" / "requests.jsonl").post(
        "/do/search/judge", json={"query": "a", "right": ["b"], "wrong": []}
    )
    assert answer.status_code == 507
    assert "taken" in answer.json()["detail"]


def test_health_and_what_does_not_agree_are_shown(do: Do, system: System) -> None:
    system.put("send")
    system.search("send")
    assert do("health/state")["status"] == "ok"
    assert (do("health/verify")["ok"], do("health/verify")["tools"]) == (True, 1)


@pytest.mark.parametrize(
    ("action", "fields", "status", "words"),
    [
        ("skills/skill", {"skill_id": "nowhere"}, 404, "no skill with id nowhere"),
        ("search/run", {"request": {"query": "a", "limit": 99}}, 422, "limit"),
        ("catalogue/tools", {"offset": "many"}, 422, "offset"),
        ("no/such", {}, 404, "no action no/such"),
    ],
)
def test_errors_say_what_happened_and_what_helps(
    page: TestClient, action: str, fields: dict[str, Any], status: int, words: str
) -> None:
    answer = page.post(f"/do/{action}", json=fields)
    assert answer.status_code == status
    assert words in answer.json()["detail"]
    assert answer.json()["remedy"]


def test_a_token_without_skills_looks_and_does_not_change(
    database_url: str, edge_indexes: EdgeIndexes, requests: Path
) -> None:
    signer = Signer("k")
    settings = JWT | {"jwt_keys": key_set(signer.public())}
    with lent_system(database_url, edge_indexes, **settings) as system:
        system.create("mail", name="Mail", description="Reading and writing letters.")
        page = page_of(system, requests)
        assert page.post("/do/skills/skills").json()["code"] == "unauthenticated"
        page.headers["authorization"] = f"Bearer {signer.sign(claims('search'))}"

        assert [skill["id"] for skill in page.post("/do/skills/skills").json()] == ["mail"]
        refused = page.post("/do/skills/save", json={"skill_id": "mail", "fields": {"name": "X"}, "version": None})

    assert (refused.status_code, refused.json()["code"]) == (403, "insufficient_scope")
    assert "You have read access only" in refused.json()["remedy"]


def test_a_console_elsewhere_signs_or_sends_its_token(monkeypatch: pytest.MonkeyPatch, requests: Path) -> None:
    take_credentials_away(monkeypatch)
    for name, value in CREDENTIALS.items():
        monkeypatch.setenv(name, value)
    with Gateway(wants_signatures=True) as gateway:
        target = Target(f"http://127.0.0.1:{gateway.port}", sign_region=REGION)
        signing = TestClient(whole_app(target, requests=requests, key=None), LOOPBACK, headers={KEY_HEADER: "page"})
        found = signing.post("/console/do/search/run", json={"request": {"query": "schedule a meeting"}})
        assert found.status_code == 200, found.text
    with Gateway(wants_signatures=False) as gateway:
        target = Target(f"http://127.0.0.1:{gateway.port}", token="a.b.c")
        bearing = TestClient(whole_app(target, requests=requests, key=None), LOOPBACK, headers={KEY_HEADER: "page"})
        assert bearing.post("/console/do/search/run", json={"request": {"query": "mail"}}).status_code == 200
        assert gateway.received[-1].headers["authorization"] == "Bearer a.b.c"


@pytest.mark.parametrize(
    "headers",
    [
        {"host": "attacker.example"},
        {"origin": "https://attacker.example"},
        {"sec-fetch-site": "cross-site"},
        {KEY_HEADER: "wrong"},
        {KEY_HEADER: ""},
    ],
)
def test_only_the_own_pages_with_the_key_are_answered(headers: dict[str, str], requests: Path) -> None:
    app = whole_app(Target("http://localhost:9"), requests=requests, key="right")
    answer = TestClient(app, LOOPBACK).post("/console/about", headers={KEY_HEADER: "right", **headers})
    assert answer.status_code == 403
    assert TestClient(app, LOOPBACK).post("/console/about", headers={KEY_HEADER: "right"}).status_code == 200


def test_a_request_without_the_header_of_the_page_is_refused(page: TestClient) -> None:
    del page.headers[KEY_HEADER]
    assert page.post("/do/suggestions/groups").status_code == 403


def test_the_page_runs_nothing_but_its_own_files(page: TestClient) -> None:
    answer = page.get("/")
    assert "default-src 'none'" in answer.headers["content-security-policy"]
    assert "unsafe" not in answer.headers["content-security-policy"]
    assert page.get("/static/app.js").headers["content-type"].startswith("text/javascript")
    assert page.get("/static/../app.py").status_code == 404
    assert page.get("/static/nothing.js").status_code == 404
