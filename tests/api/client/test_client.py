"""The Python client against the real routes: one thing at a time, blocking and awaited."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from fastapi.testclient import TestClient
from pydantic import BaseModel
from skillroute_client import Conflict, InvalidRequest, NotFound, Skillroute, VersionConflict, models
from skillroute_client.models import NewMessage, NewSkill, NewTool

from tests.api.one_app import app_over
from tests.api.routes import fill, version_in
from tests.builders import System
from tests.client_over import async_client_over, client_over


@pytest.fixture
def skillroute(system: System) -> Skillroute:
    return client_over(app_over(system))


@pytest.fixture
def ids(system: System) -> dict[str, Any]:
    return fill(system)


def test_skills_are_created_read_changed_and_deleted(skillroute: Skillroute) -> None:
    made = skillroute.skills.create("mail", name="Mail", description="Letters of all kinds.", keywords=["post"])
    assert (made.id, made.keywords, made.is_active) == ("mail", ["post"], True)
    with pytest.raises(Conflict) as raised:
        skillroute.skills.create("mail", name="Mail", description="Letters of all kinds.")
    assert (raised.value.code, raised.value.status) == ("skill_exists", 409)
    assert raised.value.request_id
    read = skillroute.skills.get("mail")
    assert skillroute.skills.put("mail", read, if_match=read.etag) == read
    changed = skillroute.skills.patch("mail", name="Post", if_match=read.etag)
    with pytest.raises(VersionConflict, match="is there already"):
        skillroute.skills.put("mail", {"name": "G", "description": "Another garden."}, only_new=True)
    with pytest.raises(VersionConflict) as stale:
        skillroute.skills.patch("mail", name="Mail", if_match=read.etag)
    assert stale.value.current == version_in(str(changed.etag))
    assert skillroute.skills.put("post", NewSkill(name="Post", description="Letters of all kinds.")).id == "post"
    assert [skill.id for skill in skillroute.skills.list(is_active="all", limit=1)] == ["mail", "post"]
    skillroute.skills.delete("post")
    with pytest.raises(NotFound, match="no skill with id post") as gone:
        skillroute.skills.get("post")
    assert gone.value.code == "skill_not_found"


def test_tools_are_written_found_and_assigned(skillroute: Skillroute, system: System) -> None:
    skillroute.skills.create("mail", name="Mail", description="Letters of all kinds.")
    sent = NewTool(name="send_letter", server="post", description="Send a letter.", input_schema={"type": "object"})
    written = skillroute.tools.put([sent, {"name": ""}])
    assert (written.created, written.failed) == (1, 1)
    assert [(result.index, result.errors[0].field) for result in written.failures] == [(1, "name")]
    [tool] = skillroute.tools.list(server="post")
    read = skillroute.tools.get(tool.id)
    assert skillroute.tools.put_one(tool.id, read, if_match=read.etag) == read
    assert skillroute.tools.get(tool.id).etag == read.etag
    asked = skillroute.tools.set_requests(tool.id, ["write to Ann", {"text": "mail it", "source": "llm"}]).requests
    assert [(request.text, request.source) for request in asked] == [("write to Ann", "person"), ("mail it", "llm")]
    assert skillroute.tools.set_requests(tool.id, []).requests == []
    assert [skill.skill_id for skill in skillroute.tools.assign(tool.id, [{"skill_id": "mail"}])] == ["mail"]
    assert [skill.source for skill in skillroute.tools.skills(tool.id)] == ["human_manual"]
    assert [found.tool_id for found in skillroute.skills.tools("mail")] == [tool.id]
    answer = skillroute.search("send a letter", strategy="direct", tool_threshold=0.0)
    assert [(found.db_id, found.input_schema) for found in answer.tools] == [(tool.id, {"type": "object"})]
    both = skillroute.search(needs=["send a letter", "water the plants"], strategy="direct", mode="lexical")
    assert [(found.db_id, found.needs) for found in both.tools] == [(tool.id, [0])]
    assert [(need.need, need.no_match) for need in both.metadata.needs] == [
        ("send a letter", False),
        ("water the plants", True),
    ]
    for_models = skillroute.search_mcp(needs=["send a letter"], mode="lexical")
    assert ([shown.name for shown in for_models.tools], len(for_models.metadata.needs)) == (["send_letter"], 1)
    [one] = skillroute.search_batch([{"needs": ["send a letter"], "mode": "lexical"}]).results
    assert one.answer is not None
    assert (one.answer.query, [found.needs for found in one.answer.tools]) == (None, [[0]])
    found = skillroute.search_tools("send a letter", skill_ids=["mail", "other"], threshold=0.0, mode="lexical")
    assert ([match.db_id for match in found], found.search_mode, found.degraded) == ([tool.id], "lexical", [])
    skills = skillroute.search_skills("Letters of all kinds.", mode="lexical")
    assert ([match.id for match in skills], skills.search_mode) == (["mail"], "lexical")
    skillroute.tools.delete(tool.id)
    assert list(skillroute.tools.list()) == []


def test_the_registry_is_written_found_and_switched(skillroute: Skillroute) -> None:
    skillroute.servers.put([{"name": "clock", "description": "Time.", "tools": [{"name": "now"}]}])
    skillroute.agents.put([{"name": "Planner", "description": "Plans.", "skills": [{"name": "Plan a day"}]}])
    [server], [agent] = list(skillroute.servers.list()), list(skillroute.agents.list())
    for kind, one in ((skillroute.servers, server), (skillroute.agents, agent)):
        read: Any = kind.get(one.id)
        assert kind.put_one(one.id, read, if_match=read.etag) == read
        assert not kind.disable(one.id, if_match=read.etag).is_enabled
        assert kind.enable(one.id).is_enabled
    answer = skillroute.search_registry("what is the time now", max_results=5)
    assert [(found.server_path, found.tool_name) for found in answer.tools] == [(server.path, "now")]
    assert {type(entity) for entity in [*answer.servers, *answer.agents]} <= {models.ServerMatch, models.AgentMatch}
    skillroute.servers.delete(server.id)
    skillroute.agents.delete(agent.id)
    assert [*skillroute.servers.list(), *skillroute.agents.list()] == []


def test_identities_are_set_and_ones_own_logins_listed(skillroute: Skillroute, system: System) -> None:
    server = system.put_server(remotes=[{"type": "streamable-http", "url": "https://notes.test/mcp"}]).id
    assert server is not None
    assert skillroute.servers.identity(server).kind == "none"
    found = skillroute.servers.set_identity(server, "caller_token", audiences=["a"])
    assert (found.kind, found.audiences, found.origin) == ("caller_token", ["a"], "https://notes.test")
    with pytest.raises(Conflict, match="takes no logins"):
        skillroute.servers.log_in(server, scopes=["read"])
    skillroute.servers.delete_identity(server)
    assert list(skillroute.servers.logins()) == []
    with pytest.raises(NotFound):
        skillroute.servers.log_out(server)


def test_use_is_looked_at_exported_and_deleted(skillroute: Skillroute, system: System) -> None:
    [tool] = system.put("fly", server="travel")
    system.outcome(system.receipt("book a flight", tool), "called", tool)
    for days_ago in range(3):
        system.receipt("mow the lawn", tool, no_match=True, caller="ben", days_ago=days_ago)
    [group] = skillroute.learning.unserved(days=2)
    assert (group.query, group.searches, [near.name for near in group.tools]) == ("mow the lawn", 2, ["fly"])
    assert [(one.query, one.needs) for one in skillroute.learning.judged()] == [("book a flight", [["travel/fly"]])]
    texts = [receipt.query for receipt in skillroute.learning.receipts(limit=1)]
    assert texts == ["mow the lawn", "mow the lawn", "book a flight", "mow the lawn"]
    assert len(list(skillroute.learning.receipts(caller="ben", limit=2))) == 3
    deleted = skillroute.learning.delete_receipts("ben")
    assert (deleted.receipts, deleted.outcomes) == (3, 0)
    assert skillroute.learning.forget(tool).outcomes == 1
    [left] = skillroute.learning.receipts()
    assert (left.query, left.outcomes, [shown.tool_id for shown in left.shown]) == ("book a flight", [], [tool])


def test_mail_is_written_found_and_acknowledged(skillroute: Skillroute) -> None:
    skillroute.projects.put([{"key": "garden", "name": "Garden"}])
    skillroute.products.put([{"key": "park", "name": "Park", "projects": ["garden"]}])
    skillroute.mail_agents.put([{"name": "Ann", "projects": ["garden"]}, {"name": "Ben", "projects": ["garden"]}])
    water = NewMessage(key="m1", project="garden", sender="Ann", to=["Ben"], subject="Water", ack_required=True)
    assert skillroute.messages.put([water]).created == 1
    [message] = skillroute.messages.list(sender="Ann")
    assert (message.sender, message.to, skillroute.messages.get(message.id).subject) == ("Ann", ["Ben"], "Water")
    assert list(skillroute.messages.acknowledge(message.id, "Ben").acknowledged) == ["Ben"]
    found = skillroute.messages.search("water", mode="lexical", project_id=message.project_id)
    assert [(hit.id, hit.sender) for hit in found.results] == [(message.id, "Ann")]
    assert [hit.id for hit in skillroute.messages.search_project("garden", "water").result] == [message.id]
    assert [hit.id for hit in skillroute.messages.search_product("park", "water").result] == [message.id]
    skillroute.messages.delete(message.id)
    for kind in (skillroute.products, skillroute.mail_agents, skillroute.projects):
        for one in kind.list():
            assert kind.get(one.id).id == one.id
            kind.delete(one.id)
        assert list(kind.list()) == []


def test_suggestions_are_decided(skillroute: Skillroute, system: System, ids: dict[str, Any]) -> None:
    [waiting] = skillroute.suggestions.list()
    assert skillroute.suggestions.get(waiting.id).status == "pending"
    review = skillroute.suggestions.approve(waiting.id, {"name": "Moving pictures"})
    assert (review.skill.name, review.suggestion.status) == ("Moving pictures", "approved")
    system.chat.reply = {"description": "Watering whatever grows."}
    described = skillroute.skills.describe(ids["skill"])
    assert skillroute.suggestions.reject(described.id, "not now").review_reason == "not now"
    assert skillroute.skills.classify(ids["item"]).tool_id == ids["item"]


def test_a_suggestion_can_be_merged(skillroute: Skillroute, ids: dict[str, Any]) -> None:
    review = skillroute.suggestions.merge(ids["suggestion"], ids["skill"])
    assert (review.skill.id, review.suggestion.status) == (ids["skill"], "merged")
    assert [s.id for s in skillroute.suggestions.list(status="merged")] == [ids["suggestion"]]


def test_an_export_is_read_page_by_page(skillroute: Skillroute, ids: dict[str, Any]) -> None:
    *skills, last = skillroute.export_page(kinds=["skill"], limit=1)
    assert [json.loads(line)["id"] for line in skills] == [ids["skill"]]
    assert json.loads(last)["kinds"] == ["skill"]
    *_, end = skillroute.export_page(after=json.loads(last)["after"])
    assert json.loads(end)["kind"] == "end"


def test_how_skillroute_stands_and_any_other_call(skillroute: Skillroute) -> None:
    assert (skillroute.health().status, skillroute.ready().status, skillroute.verify().ok) == ("ok", "ok", True)
    body = {"name": "Mail", "description": "Letters of all kinds."}
    assert skillroute.request("PUT", "/api/v1/skills/mail", json=body)["id"] == "mail"
    assert skillroute.request("DELETE", "/api/v1/skills/mail") is None


def test_what_is_wrong_with_a_request_is_named_by_field(skillroute: Skillroute) -> None:
    with pytest.raises(InvalidRequest) as raised:
        skillroute.search("", limit=1000)
    assert {problem.field for problem in raised.value.problems} == {"query", "limit"}


def test_the_client_that_is_awaited_does_the_same(system: System) -> None:
    async def use() -> list[str]:
        async with async_client_over(app_over(system)) as client:
            for id_ in ("mail", "post", "time"):
                await client.skills.create(id_, name=id_, description="Letters of all kinds.")
            read = await client.skills.get("mail")
            await client.skills.patch("mail", name="Mail", if_match=read.etag)
            with pytest.raises(VersionConflict):
                await client.skills.patch("mail", name="Post", if_match=read.etag)
            assert (await client.search("letters", mode="lexical")).matched_skills
            assert len((await client.search(needs=["letters", "time"])).metadata.needs) == 2
            assert [page.total async for page in client.skills.list(limit=2).pages()] == [3, 3]
            return [skill.id async for skill in client.skills.list(limit=2)]

    assert asyncio.run(use()) == ["mail", "post", "time"]


DOCUMENTED = {
    "Skill": "SkillOut",
    "SkillTool": "SkillToolOut",
    "ToolSkill": "ToolSkillOut",
    "Suggestion": "SuggestionOut",
    "Review": "ReviewResponse",
    "Classification": "ClassifyResponse",
    "Tool": "ItemOut",
    "Server": "ServerOut",
    "Agent": "AgentOut",
    "Project": "MailProjectOut",
    "Product": "MailProductOut",
    "MailAgent": "MailAgentOut",
    "Message": "MessageOut",
    "FoundMessage": "MessageResult",
    "MessageAnswer": "MessageSearchResponse",
    "SearchMetadata": "NeedsMetadata",
    "NeedAnswered": "NeedAnswered",
    "SkillMatch": "SkillMatch",
    "ToolMatch": "ExplainedMatch",
    "FoundTool": "NeededTool",
    "SearchAnswer": "LimitedDetailedSearchResponse",
    "McpTool": "McpTool",
    "McpAnswer": "McpSearchResponse",
    "BatchAnswer": "BatchResponse",
    "BatchResult": "BatchSearchResult",
    "BatchError": "SearchError",
    "BatchMetadata": "BatchMetadata",
    "RegistryAnswer": "RegistrySearchResponse",
    "RegistryMetadata": "RegistrySearchMetadata",
    "RegistryToolMatch": "RegistryToolMatch",
    "ServerMatch": "ServerMatch",
    "AgentMatch": "AgentMatch",
    "Health": "Health",
    "Verification": "VerifyResponse",
    "WriteResult": "ItemResult",
    "Written": "UpsertResponse",
    "SkillResult": "SkillResult",
    "WrittenSkills": "UpsertSkillsResponse",
    "LineResult": "LineResult",
    "Imported": "ImportResponse",
    "DeleteResult": "DeleteResult",
    "Deleted": "DeleteResponse",
    "Failure": "ItemError",
    "Note": "ItemNote",
    "SuggestionExample": "SuggestionExampleOut",
    "SuggestionGroup": "SuggestionGroupOut",
    "ReviewedSuggestion": "ReviewedSuggestion",
    "DecisionResult": "DecisionResult",
    "Reviewed": "ReviewManyResponse",
    "Feedback": "FeedbackResponse",
    "FeedbackResult": "FeedbackResult",
    "FeedbackResults": "FeedbackManyResponse",
}
"""How the document of the API calls what the client's models read."""


OF_WRITES = ("ItemResult", "EntityResult", "ServerResult", "MailResult")
"""What `WriteResult` is of, all of it."""
MORE = {
    "AgentSkill": "AgentSkillOut",
    "ClassifiedSkill": "ClassifiedSkill",
    "Dependency": "Dependency",
    "Duplicate": "Duplicate",
    "Finding": "FindingOut",
    "MatchingTool": "MatchingTool",
    "ToolCounts": "ToolCountsOut",
}
"""The same, of what is within others."""


@pytest.mark.parametrize("name", [*DOCUMENTED, *MORE])
def test_a_model_has_every_field_that_the_api_has(shared_client: TestClient, name: str) -> None:
    document = shared_client.get("/openapi.json").json()["components"]["schemas"]
    schemas = OF_WRITES if name == "WriteResult" else ((DOCUMENTED | MORE)[name],)
    model: type[BaseModel] = getattr(models, name)
    known = {field.alias or key for key, field in model.model_fields.items()}
    assert {field for schema in schemas for field in document[schema]["properties"]} - known == set()


@pytest.mark.parametrize("name", DOCUMENTED)
def test_a_model_has_no_field_that_the_api_does_not_have(shared_client: TestClient, name: str) -> None:
    document = shared_client.get("/openapi.json").json()["components"]["schemas"]
    schema = document[DOCUMENTED[name]]
    model: type[BaseModel] = getattr(models, name)
    known = {field.alias or key: field for key, field in model.model_fields.items()}
    of_others = (
        {field for other in OF_WRITES for field in document[other]["properties"]} if name == "WriteResult" else ()
    )
    assert set(known) - set(schema["properties"]) - set(of_others) == set()
    # What a model cannot do without is always there.
    needed = {key for key, field in known.items() if field.is_required()}
    assert needed - set(schema.get("required", ())) == set()
