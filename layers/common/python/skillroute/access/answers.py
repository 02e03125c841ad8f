"""Rules of access, as requests and answers have them."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StringConstraints, model_validator

from skillroute.access.explain import Asked, Explained, Seen
from skillroute.access.manage import Stored
from skillroute.core.caller import Scope
from skillroute.core.input.text_fields import without_nul
from skillroute.core.rights.model import About, Effect, Hint, Rule

MAX_VALUES = 100
"""The most values that a rule has of one field."""


def _encodable(text: str) -> str:
    text.encode("utf-8")  # UnicodeEncodeError is a ValueError, and says which character
    return text


Value = Annotated[
    str,
    StringConstraints(min_length=1, max_length=520, strip_whitespace=True),
    AfterValidator(without_nul),
    AfterValidator(_encodable),
]
Server = Annotated[Value, AfterValidator(lambda name: name.removeprefix("/") or name)]
SkillId = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_]*$", max_length=64)]


class AccessRuleBody(BaseModel):
    """A rule of access. All fields that have values must fit; one value of a field is enough."""

    model_config = ConfigDict(extra="forbid")

    name: Annotated[Value, StringConstraints(max_length=256)] = Field(description="What people call the rule.")
    effect: Effect = Field(
        description="`deny` wins over `allow`. From the first rule on that allows, what no rule allows is denied."
    )
    roles: list[Value] = Field(
        default_factory=list,
        max_length=MAX_VALUES,
        description="Roles of callers. A caller with one of the roles or in one of the groups is meant; "
        "without either, every caller.",
    )
    groups: list[Value] = Field(default_factory=list, max_length=MAX_VALUES, description="Groups of callers.")
    servers: list[Server] = Field(
        default_factory=list, max_length=MAX_VALUES, description="Servers, by the names that their tools have for them."
    )
    tools: list[Value] = Field(
        default_factory=list,
        max_length=MAX_VALUES,
        description="Tools, prompts and resources: `server/name`, or `name` of any server.",
    )
    skills: list[SkillId] = Field(default_factory=list, max_length=MAX_VALUES, description="Skills, by id.")
    hints: list[Hint] = Field(
        default_factory=list,
        max_length=3,
        description="By the annotations: what only reads, what may write, what may destroy.",
    )

    def rule(self) -> Rule:
        """Return the rule, of no owner yet."""
        about = About(_once(self.servers), _once(self.tools), _once(self.skills), tuple(dict.fromkeys(self.hints)))
        return Rule(0, None, self.name, self.effect, _once(self.roles), _once(self.groups), about)


class AccessRule(AccessRuleBody):
    """A rule as it is stored."""

    id: int = Field(description="The id of the rule.")
    org_id: str | None = Field(description="The organisation whose rule it is; null: the deployment's, for all.")
    created_at: datetime | None = Field(description="When it was created.")
    created_by: str | None = Field(description="Who created it, as the token names them.")

    @classmethod
    def of(cls, rule: Rule) -> Self:
        """Return a rule as answers have it."""
        about = rule.about
        return cls(
            id=rule.id,
            org_id=rule.org_id,
            name=rule.name,
            effect=rule.effect,
            roles=list(rule.roles),
            groups=list(rule.groups),
            servers=list(about.servers),
            tools=list(about.tools),
            skills=list(about.skills),
            hints=list(about.hints),
            created_at=rule.created_at,
            created_by=rule.created_by,
        )


class AccessRuleWritten(BaseModel):
    """A rule that was written, and what in it means nothing yet."""

    rule: AccessRule = Field(description="The rule as it is stored.")
    warnings: list[str] = Field(description="Values that nothing is called: the rule is in force all the same.")

    @classmethod
    def of(cls, stored: Stored) -> Self:
        """Return what was written as answers have it."""
        warnings = [
            f"'{field}': nothing is called {value!r}; the rule applies as soon as something is"
            for field, values in sorted(stored.unknown.items())
            for value in values
        ]
        return cls(rule=AccessRule.of(stored.rule), warnings=warnings)


class ExplainAccessBody(BaseModel):
    """A caller as it might be, and what it asks for: a tool, a server or a skill; without one, everything by server."""

    model_config = ConfigDict(extra="forbid")

    roles: list[Value] = Field(default_factory=list, max_length=MAX_VALUES, description="The caller's roles.")
    groups: list[Value] = Field(default_factory=list, max_length=MAX_VALUES, description="The caller's groups.")
    scopes: list[Scope] = Field(default_factory=list, max_length=4, description="Its scopes; `admin` is exempt.")
    org: Annotated[Value, StringConstraints(max_length=128)] | None = Field(
        None, description="Its organisation; by default that of who asks."
    )
    tool: Value | None = Field(None, description="The id of a tool, prompt or resource, `server/name`, or its name.")
    server: Server | None = Field(None, description="The name of a server.")
    skill: SkillId | None = Field(None, description="The id of a skill.")

    @model_validator(mode="after")
    def _one_object(self) -> Self:
        if sum(each is not None for each in (self.tool, self.server, self.skill)) > 1:
            raise ValueError("give one of tool, server and skill, or none of them")
        return self

    def asked(self) -> Asked:
        """Return what is asked."""
        return Asked(
            frozenset(self.roles),
            frozenset(self.groups),
            frozenset(self.scopes),
            self.org,
            self.tool,
            self.server,
            self.skill,
        )


class SeenOfServer(BaseModel):
    """How much of a server a caller would find."""

    server: str = Field(description="The server's name; empty for items without one.")
    items: int = Field(description="Its active tools, prompts and resources.")
    seen: int = Field(description="How many of them the caller would find.")

    @classmethod
    def of(cls, seen: Seen) -> Self:
        """Return a count as answers have it."""
        return cls(server=seen.server, items=seen.items, seen=seen.seen)


class AccessExplained(BaseModel):
    """The answer of the rules."""

    allowed: bool | None = Field(description="Whether the caller may find and call it; null where nothing is named.")
    rule: AccessRule | None = Field(description="The rule that decided; null where none is about both.")
    matched: list[AccessRule] = Field(description="All rules about the caller and the object, those that deny first.")
    sentence: str = Field(description="The answer in words.")
    servers: list[SeenOfServer] = Field(description="Where nothing is named: what the caller would find, by server.")

    @classmethod
    def of(cls, explained: Explained) -> Self:
        """Return the answer of the rules as answers have it."""
        decision, seen = explained.decision, explained.seen
        if decision is None:
            found, every = sum(each.seen for each in seen), sum(each.items for each in seen)
            sentence = f"The caller finds {found} of {every} tools, prompts and resources."
        else:
            verb = "may" if decision.allowed else "may not"
            sentence = f"The caller {verb} find and call {explained.about}. {decision.reason}"
        return cls(
            allowed=None if decision is None else decision.allowed,
            rule=None if decision is None or decision.rule is None else AccessRule.of(decision.rule),
            matched=[AccessRule.of(rule) for rule in explained.matched],
            sentence=sentence,
            servers=[SeenOfServer.of(each) for each in seen],
        )


def _once(values: list[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(values))
