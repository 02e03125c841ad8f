"""The shapes of servers and agents as their owners send them."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StringConstraints,
    WithJsonSchema,
)

from skillroute.catalogue.schemas import ItemInput, Name
from skillroute.core.input.hidden_text import seen_name
from skillroute.core.input.shown_as import ShownAs

MAX_TOOLS = 500
"""Tools of one server."""

MAX_CAPABILITIES = 100


def capability_names(capabilities: object) -> object:
    """Return an agent card's object as the names of what the agent is capable of; anything else as it is."""
    return [key for key, value in capabilities.items() if value] if isinstance(capabilities, dict) else capabilities


_Name = Annotated[Name, AfterValidator(seen_name)]
_Description = Annotated[str, StringConstraints(max_length=50_000)]
_Tag = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=64)]
_Capability = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=256)]
# Each tool is checked on its own later; the document says what one looks like.
_AnyTool = Annotated[Any, ShownAs(ItemInput, "Tool")]

_CAPABILITIES: dict[str, Any] = {
    "anyOf": [
        {"type": "object", "additionalProperties": True},
        {"type": "array", "items": {"type": "string"}, "maxItems": MAX_CAPABILITIES},
        {"type": "null"},
    ]
}


class EntityInput(BaseModel):
    """The fields that servers and agents have in common."""

    model_config = ConfigDict(extra="allow", strict=True)

    path: str | None = Field(
        None, description="What it is known by, unique within the organisation: `/context7`. Absent, the name makes it."
    )
    name: _Name
    description: _Description | None = None
    tags: list[_Tag] | None = Field(None, max_length=50)
    is_enabled: bool | None = Field(None, description="True for what is new, unless it says otherwise.")


class ServerInput(EntityInput):
    """An MCP server as `PUT /api/v1/servers` takes it.

    A registry's `server.json` is accepted as it is, and as registries list it: ``{"server": {...}, "_meta": {...}}``.
    Fields that are not listed here (version, packages, remotes, repository, _meta, ...) are kept and given back.
    """

    title: _Name | None = Field(None, description="Shown and searched instead of the name, if given.")
    tools: list[_AnyTool] | None = Field(
        None,
        max_length=MAX_TOOLS,
        description="All tools of the server as its tools/list answers them: those not named are removed. "
        "Absent: the tools stay as they are.",
    )


class SkillInput(BaseModel):
    """The searched fields of an agent card's skill."""

    model_config = ConfigDict(extra="allow", strict=True)

    name: _Name
    description: _Description | None = None


def _skill_with_name(skill: object) -> object:
    """Return a card's skill by its id where it has no name."""
    if not isinstance(skill, dict) or skill.get("name") or not isinstance(skill.get("id"), str):
        return skill
    return {**skill, "name": skill["id"]}


_Skill = Annotated[SkillInput, BeforeValidator(_skill_with_name), ShownAs(SkillInput, "AgentSkill")]


class AgentInput(EntityInput):
    """An A2A agent as `PUT /api/v1/agents` takes it: its agent card.

    Fields that are not listed here (url, version, provider, securitySchemes, ...) are kept and given back.
    """

    capabilities: Annotated[
        list[_Capability] | None,
        BeforeValidator(capability_names),
        WithJsonSchema(_CAPABILITIES),
    ] = Field(
        None, max_length=MAX_CAPABILITIES, description="The protocol's object, of which what is true counts, or names."
    )
    skills: list[_Skill] | None = Field(None, max_length=500)
