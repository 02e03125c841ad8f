"""The Skills extension of the protocol, as its specification and its examples have it."""

from __future__ import annotations

import base64
import hashlib
import json
from typing import Any

import pytest
from fastapi.testclient import TestClient
from jsonschema import Draft202012Validator
from skillroute.agent_skills.collection import AGENT_SKILL_DOCUMENTS
from skillroute.core.answer_size import MAX_ANSWER_BYTES, on_the_way
from skillroute.core.caller import LAPTOP, Caller
from skillroute.core.errors.model import IndexUnavailable
from skillroute.mcp.tool import Asked
from skillroute.mcp.tools.search_skills import search_skills

from tests.api.mcp_calls import HANDSHAKE, REVISIONS, STATELESS, ask, call, error, headers, request, result
from tests.builders import System, of_org
from tests.worlds.agent_skills import agent_skill

ACME = of_org("acme")
INVALID_PARAMS, METHOD_NOT_FOUND = -32602, -32601

_FILE = {
    "type": "object",
    "properties": {
        "uri": {"type": "string", "pattern": "^skill://[^/]+/.+[^/]$"},
        "digest": {"type": "string", "pattern": "^sha256:[0-9a-f]{64}$"},
        "size": {"type": "integer", "minimum": 0},
    },
    "required": ["uri", "digest", "size"],
    "additionalProperties": False,
}
SKILL = {
    "type": "object",
    "properties": {
        "uri": {"type": "string", "pattern": "/SKILL[.]md$"},
        "frontmatter": {
            "type": "object",
            "properties": {"name": {"type": "string"}, "description": {"type": "string"}},
            "required": ["name", "description"],
        },
        "resources": {"type": "array", "items": _FILE, "minItems": 1, "maxItems": 512},
    },
    "required": ["uri", "frontmatter", "resources"],
    "additionalProperties": False,
}
_CACHED = {"ttlMs": {"type": "integer", "minimum": 0}, "cacheScope": {"const": "private"}}
RESULTS: dict[str, dict[str, Any]] = {
    "skills/list": {"skills": {"type": "array", "items": SKILL}, **_CACHED},
    "skills/get": {"skill": SKILL, **_CACHED},
    "resources/directory/read": {"resources": {"type": "array"}},
}
"""The results of the extension's methods, from the interfaces of its specification."""


def extended(client: TestClient, method: str, params: Any = None, **more: str) -> Any:
    """Return the result of a method of the extension, which its schema accepts."""
    answer = ask(client, method, params, **more)
    assert answer.status_code == 200, answer.text
    found = answer.json()["result"]
    properties = {**RESULTS[method], "resultType": {"const": "complete"}}
    Draft202012Validator({"properties": properties, "required": list(properties)}).validate(found)
    return found


def listed(client: TestClient, **more: str) -> list[str]:
    return [skill["uri"] for skill in extended(client, "skills/list", **more)["skills"]]


def contents(client: TestClient, uri: str, revision: str = STATELESS, **more: str) -> dict[str, Any]:
    [content] = result(client, "resources/read", {"uri": uri}, revision, **more)["contents"]
    assert content["uri"] == uri
    return dict(content)


def bytes_of(content: dict[str, Any]) -> bytes:
    return content["text"].encode() if "text" in content else base64.b64decode(content["blob"])


LOGO = b"\x89PNG\x00\xff"


@pytest.fixture
def library(system: System) -> System:
    """The skills of the specification's examples."""
    pdf = agent_skill(
        "pdf-processing",
        "# PDF processing\n\nChoose the matching template from `templates/`.\n",
        description="Extract, fill, and assemble PDF documents",
        metadata={"version": "2.1.0"},
        files={
            "references/FORMS.md": "# Forms\r\n\ufeff",
            "scripts/extract.py": "print()\n",
            "templates/invoice.md": "Invoice é",
            "templates/purchase-order.md": "",
            "templates/regional/eu-invoice.md": "VAT",
            "templates/price list (50 % off) #1?.md": "ten",
            "nul.bin": "\x00",
        },
    )
    pdf["files"].append({"path": "assets/logo.png", "base64": base64.b64encode(LOGO).decode()})
    refunds = agent_skill(license="Apache-2.0", files={"examples/email.md": "Dear customer"})
    git = agent_skill("git-workflow", "Branch.", description="Follow this team's Git conventions")
    report = system.put_agent_skills(pdf, refunds, git)
    assert {outcome.status for outcome in report.outcomes} == {"created"}
    return system


def test_the_extension_is_declared_with_resources(client: TestClient) -> None:
    capabilities = result(client, "server/discover")["capabilities"]
    assert capabilities["extensions"] == {"io.modelcontextprotocol/skills": {"directoryRead": True}}
    assert "resources" in capabilities


@pytest.mark.parametrize("revision", HANDSHAKE)
def test_older_revisions_have_no_extension_and_read_the_files(
    client: TestClient, library: System, revision: str
) -> None:
    greeting = {"protocolVersion": revision, "capabilities": {}, "clientInfo": {"name": "tests", "version": "1"}}
    assert "extensions" not in result(client, "initialize", greeting, revision)["capabilities"]
    for method in RESULTS:
        answer = ask(client, method, {"uri": "skill://git-workflow/SKILL.md"}, revision)
        assert error(answer) == (200, METHOD_NOT_FOUND)
    assert contents(client, "skill://git-workflow/SKILL.md", revision)["text"].endswith("Branch.")


def test_skills_are_listed_with_all_their_files(client: TestClient, library: System) -> None:
    skills = extended(client, "skills/list")["skills"]
    assert [skill["uri"] for skill in skills] == [
        "skill://acme/billing/refunds/SKILL.md",
        "skill://git-workflow/SKILL.md",
        "skill://pdf-processing/SKILL.md",
    ]
    assert skills[0]["frontmatter"] == {
        "name": "refunds",
        "description": "Processes refund requests.",
        "license": "Apache-2.0",
    }
    assert [file["uri"] for file in skills[0]["resources"]] == [
        "skill://acme/billing/refunds/SKILL.md",
        "skill://acme/billing/refunds/examples/email.md",
    ]
    for skill in skills:
        assert skill["uri"].split("/")[-2] == skill["frontmatter"]["name"]
        assert extended(client, "skills/get", {"uri": skill["uri"]})["skill"] == skill
    assert skills[2]["frontmatter"]["metadata"] == {"version": "2.1.0"}


@pytest.mark.parametrize("revision", REVISIONS)
def test_the_bytes_of_every_file_are_those_of_its_digest(client: TestClient, library: System, revision: str) -> None:
    types = {}
    for skill in extended(client, "skills/list")["skills"]:
        for file in skill["resources"]:
            content = contents(client, file["uri"], revision)
            read = bytes_of(content)
            assert (len(read), f"sha256:{hashlib.sha256(read).hexdigest()}") == (file["size"], file["digest"])
            types[file["uri"].removeprefix("skill://")] = content["mimeType"], "text" in content
    assert types["pdf-processing/SKILL.md"] == ("text/markdown", True)
    assert types["pdf-processing/references/FORMS.md"] == ("text/markdown", True)
    assert types["pdf-processing/assets/logo.png"] == ("image/png", False)
    assert types["pdf-processing/nul.bin"] == ("application/octet-stream", False)
    assert types["pdf-processing/templates/price%20list%20%2850%20%25%20off%29%20%231%3F.md"] == ("text/markdown", True)


def test_a_file_is_read_however_its_uri_is_encoded(client: TestClient, library: System) -> None:
    for name in ("price list (50 %25 off) #1?.md", "price%20list%20(50%20%25%20off)%20%231%3F.md"):
        assert contents(client, f"skill://pdf-processing/templates/{name}")["text"] == "ten"


def test_a_file_of_control_characters_has_room_in_an_answer(client: TestClient, system: System) -> None:
    system.put_agent_skills(agent_skill("a", files={"a.txt": "\x01" * 1024 * 1024, "b.txt": '"' * 1024 * 1024}))
    for name, key in (("a.txt", "blob"), ("b.txt", "text")):
        answer = ask(client, "resources/read", {"uri": f"skill://a/{name}"})
        assert on_the_way(answer.content) < MAX_ANSWER_BYTES
        [content] = answer.json()["result"]["contents"]
        assert len(bytes_of(content)) == 1024 * 1024
        assert key in content


@pytest.mark.parametrize(
    "uri",
    [
        "skill://acme/billing/chargebacks/SKILL.md",
        "skill://acme/billing/refunds",
        "skill://acme/billing/refunds/examples/email.md",
        "skill://SKILL.md",
        "skill://git-workflow/skill.md",
        "tool-group://git-workflow/SKILL.md",
        "git-workflow/SKILL.md",
        "",
    ],
)
def test_an_unknown_skill_is_a_wrong_parameter(client: TestClient, library: System, uri: str) -> None:
    answer = ask(client, "skills/get", {"uri": uri})
    assert error(answer) == (400, INVALID_PARAMS)
    assert answer.json()["error"]["message"].startswith(f"No skill is served at '{uri}'")


@pytest.mark.parametrize("method", ["skills/get", "resources/directory/read"])
@pytest.mark.parametrize("params", [{}, {"uri": 7}, {"uri": ["skill://a/SKILL.md"]}])
def test_a_uri_that_is_none_is_a_wrong_parameter(shared_client: TestClient, method: str, params: Any) -> None:
    answer = ask(shared_client, method, params)
    assert error(answer) == (400, INVALID_PARAMS)
    assert answer.json()["error"]["message"] == "params.uri must be the URI of a resource"


def test_a_directory_is_read_level_by_level(client: TestClient, library: System) -> None:
    def children(uri: str) -> list[Any]:
        return list(extended(client, "resources/directory/read", {"uri": uri})["resources"])

    folder, template = "skill://pdf-processing/templates", {"mimeType": "text/markdown"}
    assert children(folder)[::2] == [
        {"uri": f"{folder}/invoice.md", "name": "invoice.md", **template, "size": 10},
        {
            "uri": "skill://pdf-processing/templates/purchase-order.md",
            "name": "purchase-order.md",
            **template,
            "size": 0,
        },
    ]
    assert children(folder)[-1] == {
        "uri": f"{folder}/regional",
        "name": "regional",
        "mimeType": "inode/directory",
    }
    [instructions, examples] = children("skill://acme/billing/refunds")
    assert (instructions["name"], instructions["description"]) == ("refunds", "Processes refund requests.")
    assert examples["mimeType"] == "inode/directory"
    for uri in ("skill://pdf-processing/SKILL.md", "skill://acme", "skill://none", "skill://", "tool-group://x"):
        answer = ask(client, "resources/directory/read", {"uri": uri})
        assert error(answer) == (400, INVALID_PARAMS)
        assert answer.json()["error"]["message"] == f"'{uri}' is not a directory resource"


def test_long_directories_come_in_pages(client: TestClient, system: System) -> None:
    system.put_agent_skill("a", files={f"{nth}.md": "" for nth in range(150)})
    first = extended(client, "resources/directory/read", {"uri": "skill://a"})
    rest = extended(client, "resources/directory/read", {"uri": "skill://a", "cursor": first["nextCursor"]})
    assert "nextCursor" not in rest
    assert len({child["uri"] for child in (*first["resources"], *rest["resources"])}) == 151


def pages(client: TestClient) -> list[list[str]]:
    """Return the URIs that are listed, page by page."""
    found: list[list[str]] = []
    params: dict[str, Any] | None = {}
    while params is not None:
        page = extended(client, "skills/list", params)
        found.append([skill["uri"] for skill in page["skills"]])
        params = {"cursor": page["nextCursor"]} if "nextCursor" in page else None
    return found


def test_skills_come_in_pages(client: TestClient, system: System, monkeypatch: pytest.MonkeyPatch) -> None:
    # GIVEN
    assert pages(client) == [[]]
    for start in range(0, 250, 50):
        system.put_agent_skills(*(agent_skill(f"x{nth}/bees") for nth in range(start, start + 50)))
    # THEN they are cut by number
    found = pages(client)
    assert [len(page) for page in found] == [100, 100, 50]
    assert len({uri for page in found for uri in page}) == 250
    # and by bytes, but a page is never empty
    monkeypatch.setattr("skillroute.mcp.agent_skills.LIST_BYTES", 10)
    assert [len(page) for page in pages(client)] == [1] * 250
    for cursor in ("nonsense", 7, "", "after-1", "WyJwYXRoIiwwLG51bGxd"):
        assert error(ask(client, "skills/list", {"cursor": cursor})) == (400, INVALID_PARAMS)


def test_a_skill_that_is_too_large_with_those_within_it_is_left_out(client: TestClient, system: System) -> None:
    many = {f"{nth}.txt": "x" for nth in range(199)}
    system.put_agent_skills(agent_skill("a"), *(agent_skill(f"a/x{nth}", files=many) for nth in range(3)))
    assert listed(client) == [f"skill://a/x{nth}/SKILL.md" for nth in range(3)]
    answer = ask(client, "skills/get", {"uri": "skill://a/SKILL.md"})
    assert error(answer) == (400, INVALID_PARAMS)
    assert "has 601 files with those of the skills within it" in answer.json()["error"]["message"]
    assert contents(client, "skill://a/SKILL.md")["text"]


def test_a_skill_that_is_switched_off_is_not_served(client: TestClient, system: System) -> None:
    id_ = system.put_agent_skill("bees").id
    assert id_ is not None
    system.parts.agent_skills.read.switch(id_, LAPTOP, is_active=False)
    assert listed(client) == []
    for method in ("skills/get", "resources/read"):
        assert error(ask(client, method, {"uri": "skill://bees/SKILL.md"})) == (400, INVALID_PARAMS)
    assert error(ask(client, "resources/directory/read", {"uri": "skill://bees"})) == (400, INVALID_PARAMS)


def test_without_postgresql_there_is_no_list_and_no_file(client: TestClient, library: System) -> None:
    library.database.down = True
    for method, params in (
        ("skills/list", {}),
        ("skills/get", {"uri": "skill://git-workflow/SKILL.md"}),
        ("resources/read", {"uri": "skill://git-workflow/SKILL.md"}),
    ):
        answer = ask(client, method, params)
        assert error(answer) == (200, -32603)
        assert "PostgreSQL" in json.dumps(answer.json())


# Searching


def found(client: TestClient, tool: str = "search_skills", revision: str = STATELESS, **arguments: Any) -> Any:
    """Return the answer of a tool, which its own schema accepts."""
    answer = call(client, tool, arguments, revision)
    [text] = answer["content"]
    assert "isError" not in answer, text
    listing = result(client, "tools/list", None, STATELESS)["tools"]
    schema = {each["name"]: each["outputSchema"] for each in listing}[tool]
    Draft202012Validator(schema).validate(json.loads(text["text"]))
    return json.loads(text["text"])


def names_of(client: TestClient, path: str = "/mcp") -> list[str]:
    body = request("tools/list")
    return [tool["name"] for tool in client.post(path, json=body, headers=headers(body)).json()["result"]["tools"]]


def test_the_search_is_listed_where_there_are_skills_or_it_is_asked_for(client: TestClient, system: System) -> None:
    assert "search_skills" not in names_of(client)
    assert "search_skills" in names_of(client, "/mcp?tools=skills")
    assert "search_messages" in names_of(client, "/mcp?tools=mail,skills")
    answer = call(client, "search_skills", {"query": "bees"})["structuredContent"]
    assert answer == {"skills": [], "hint": "No Agent Skill is found: ask in other words, or do without."}
    id_ = system.put_agent_skill("bees").id
    assert "search_skills" in names_of(client)
    assert id_ is not None
    system.parts.agent_skills.read.switch(id_, LAPTOP, is_active=False)
    assert "search_skills" not in names_of(client)
    system.parts.agent_skills.read.switch(id_, LAPTOP, is_active=True)
    assert "search_skills" in names_of(client)
    system.parts.agent_skills.read.delete(id_, LAPTOP)
    assert "search_skills" not in names_of(client)


@pytest.mark.parametrize("revision", REVISIONS)
def test_a_skill_is_found_by_its_body_and_read_at_the_uri_that_is_answered(
    client: TestClient, library: System, revision: str
) -> None:
    [first, *_] = found(client, revision=revision, query="round down to whole cents", limit=2)["skills"]
    assert first["uri"] == "skill://acme/billing/refunds/SKILL.md"
    assert (first["name"], first["description"]) == ("refunds", "Processes refund requests.")
    assert "whole cents" in first["snippet"]
    assert first["heading"].startswith("Refunds")
    assert 0 < first["score"] <= 1
    assert "whole cents" in contents(client, first["uri"], revision)["text"]


def test_search_tools_finds_skills_when_asked_for_and_only_then(client: TestClient, library: System) -> None:
    asked = {"query": "round down to whole cents", "limit": 2}
    assert found(client, "search_tools", **asked)["tools"] == []
    [first, second] = found(client, "search_tools", **asked, item_type="skill")["tools"]
    assert (first["type"], first["uri"]) == ("skill", "skill://acme/billing/refunds/SKILL.md")
    assert second["type"] == "skill"
    by_detail = {
        detail: set(found(client, "search_tools", **asked, item_type="skill", detail=detail)["tools"][0])
        for detail in ("name", "brief", "signature", "full", "python")
    }
    assert by_detail["name"] == {"name", "uri", "type"}
    assert by_detail["brief"] == by_detail["name"] | {"score", "description"}
    for detail in ("signature", "full", "python"):
        assert by_detail[detail] == by_detail["brief"] | {"heading", "snippet"}


def test_search_tools_finds_the_skills_of_several_needs(client: TestClient, library: System) -> None:
    needs = ["round down to whole cents", "team git conventions"]
    answer = found(client, "search_tools", needs=needs, item_type="skill", limit=2)
    assert [(tool["name"], tool["needs"]) for tool in answer["tools"]] == [("refunds", [0]), ("git-workflow", [1])]
    many = found(client, "search_tools", needs=needs, item_type="skill", limit=6)["tools"]
    assert len(many) == 3
    assert all(tool["needs"] == [0, 1] for tool in many)
    assert found(client, "search_tools", needs=needs[:1], item_type="skill")["tools"][0]["needs"] == [0]


def test_skills_have_room_in_a_budget(client: TestClient, library: System) -> None:
    for budget in (100, 150, 400):
        asked = {"query": "forms and refunds", "item_type": "skill", "budget_tokens": budget}
        text = call(client, "search_tools", asked)["content"][0]["text"]
        assert library.parts.mcp.count_tokens(text) <= budget
        assert json.loads(text)["tools"]


@pytest.mark.parametrize(
    ("tool", "arguments", "said"),
    [
        ("search_skills", {}, "query is required: The task, in plain words."),
        ("search_skills", {"query": "x", "limit": 51}, "limit must be 1..50"),
        ("search_skills", {"query": "\x00"}, "query: NUL characters are not allowed"),
        (
            "search_tools",
            {"query": "x", "item_type": "skill", "server": ["a"]},
            "server must be left out",
        ),
        ("search_tools", {"needs": ["x"] * 10, "item_type": "skill", "budget_tokens": 100}, "must be 220 or more"),
    ],
)
def test_wrong_arguments_say_what_is_right(client: TestClient, tool: str, arguments: Any, said: str) -> None:
    answer = call(client, tool, arguments)
    assert answer["isError"] is True
    assert said in answer["content"][0]["text"]


def test_a_global_skill_that_is_hidden_is_not_found(client: TestClient, system: System) -> None:
    for nth in range(3):
        system.put_agent_skill(f"x{nth}/bees", "# Bees\nGlobal hives.")
        system.put_agent_skill(f"x{nth}/bees", "# Bees\nOwn hives.", caller=ACME)

    def matched(caller: Caller) -> list[tuple[str, str]]:
        tool = search_skills(system.parts.mcp._find_skills)
        answer = tool.call({"query": "hives of bees", "limit": 4}, Asked(caller))
        return sorted((each["uri"], each["snippet"].split()[-2]) for each in answer["skills"])

    uris = [f"skill://x{nth}/bees/SKILL.md" for nth in range(3)]
    assert matched(ACME) == [(uri, "Own") for uri in uris]
    assert matched(LAPTOP) == [(uri, "Global") for uri in uris]


def test_what_fails_on_the_way_is_reported(client: TestClient, library: System) -> None:
    library.index.fail(AGENT_SKILL_DOCUMENTS, IndexUnavailable("down"))
    for tool, key in (("search_skills", "skills"), ("search_tools", "tools")):
        answer = found(client, tool, query="refunds", **({"item_type": "skill"} if key == "tools" else {}))
        assert answer == {
            key: [],
            "degraded": ["index_unavailable"],
            "hint": "The search did not fully work: try again in a minute.",
        }
