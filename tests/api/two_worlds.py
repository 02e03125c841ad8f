"""Requests of organisations that share a world, each by the names of what they are about."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from fastapi.testclient import TestClient
from hypothesis import strategies as st

from tests.api.bad_tokens import OURS, bearer
from tests.api.compared import NAMES, QUESTIONS, Request, shown
from tests.api.one_app import app_over
from tests.api.tokens import claims
from tests.builders import System
from tests.doubles import proposing

ACME, GLOBEX = "acme", "globex"
WORDS = ("zebra", "rain", "invoice", "merge", "request", "letter", "of", "天气")
NO_ID = 2**40


class Step(NamedTuple):
    """A request of an organisation, or of none.

    Attributes
    ----------
    whose : str or None
        Whose thing it is about, where there is one of the name.
    other : str
        The name of what it is brought together with.
    """

    org: str | None
    does: str
    whose: str | None
    name: str
    other: str
    text: str
    flag: bool


class World:
    """A whole application that is asked over HTTP."""

    def __init__(self, system: System) -> None:
        self._system = system
        self._client = TestClient(app_over(system), raise_server_exceptions=False)
        self._tokens: dict[tuple[str | None, str, str], str] = {}
        system.chat.reply = {"description": "What a language model has to say."}

    def ask(
        self, org: str | None, method: str, path: str, body: Any = None, *, scope: str = "admin", agent: str = "email"
    ) -> Any:
        """Return the response to a token of an organisation."""
        token = self._tokens.setdefault((org, scope, agent), OURS.sign(claims(scope, org, agent=agent)))
        prefix = "" if path in {"/health", "/ready"} else "/api/v1"
        return self._client.request(method, f"{prefix}{path}", headers=bearer(token), json=body)

    def does(self, step: Step) -> Any:
        """Do what a step says and return what whoever does it is answered."""
        if step.does == "relay":
            return self._system.parts.relay() and None
        if step.does == "classify":
            answer = proposing(step.other) if step.flag else proposing(None, **{step.other: 0.8})
            self._system.classifier.answers[step.name] = answer
        method, path, body = REQUESTS[step.does](step, self)
        return shown(self.ask(step.org, method, path, body))

    def id(self, step: Step, path: str, /, **where: str) -> int:
        """Return the id of a thing of a step's `whose`, one that nobody has where there is none."""
        condition = "&".join(f"{name}={value}" for name, value in where.items())
        rows = self.ask(step.whose, "GET", f"{path}?{condition}").json()
        found = [row["id"] for row in rows if row.get("org_id", step.whose) == step.whose]
        return int(found[0]) if found else NO_ID

    def suggestion(self, step: Step) -> int:
        """Return the id of a suggestion of the name that is open."""
        rows = self.ask(step.whose, "GET", "/skills/suggestions").json()
        found = [row["id"] for row in rows if row["suggested_name"] == step.other]
        return int(found[0]) if found else NO_ID

    def seen_by(self, org: str | None) -> dict[str, Any]:
        """Return everything that an organisation is answered, its operator and an agent of it, by what was asked."""
        found: dict[str, Any] = {}
        for scope, agent in (("admin", "email"), ("search", "files")):
            for method, path, body in QUESTIONS:
                answer = self.ask(org, method, path, body, scope=scope, agent=agent)
                found[f"{scope} {agent} {method} {path} {body}"] = shown(answer)
        return found


# What is done


def _of_entity(kind: str, does: str) -> Any:
    method, suffix = {"delete": ("DELETE", "")}.get(does, ("POST", f"/{does}"))
    return lambda s, w: (method, f"/{kind}s/{w.id(s, f'/{kind}s', path=s.name)}{suffix}", None)


def _delete_mail(kind: str, by: str = "key") -> Any:
    return lambda s, w: ("DELETE", f"/mail/{kind}s/{w.id(s, f'/mail/{kind}s', **{by: s.name})}", None)


def _entity(step: Step) -> dict[str, Any]:
    return {"path": f"/{step.name}", "name": step.name, "description": step.text, "tags": [step.other]}


def _server(step: Step, _: World) -> Request:
    tools = [{"name": step.other, "description": step.text}, {"name": f"{step.name}_2", "description": step.other}]
    return "PUT", "/servers", {"servers": [{**_entity(step), "tools": tools if step.flag else tools[:1]}]}


def _agent(step: Step, _: World) -> Request:
    return "PUT", "/agents", {"agents": [{**_entity(step), "skills": [{"name": step.other}]}]}


def _tools(step: Step, _: World) -> Request:
    server = f"/{step.other}" if step.flag else None
    names = (step.name, step.other, step.text[:64])
    # Those without a server say nothing of requests: what an organisation's own have stays.
    more = {"requests": [f"{step.other} {step.text}"[:300]]} if step.flag else {}
    items = [{"name": each, "server": server, "description": step.text, **more} for each in names]
    return "PUT", "/tools", {"items": items}


def _message(step: Step, _: World) -> Request:
    about = {"key": step.name, "project": step.other, "from": step.name, "to": [step.other], "cc": ["carol"]}
    return "PUT", "/mail/messages", {"messages": [{**about, "subject": step.text, "body": step.text, "created_ts": 7}]}


def _acknowledge(step: Step, world: World) -> Request:
    id_ = world.id(step, "/mail/messages", key=step.name)
    return "POST", f"/mail/messages/{id_}/acknowledge", {"agent": step.other}


def _tool_id(step: Step, world: World) -> int:
    return world.id(step, "/tools", name=step.name)


def _assign(step: Step, world: World) -> Request:
    skills = [{"skill_id": id_, "confidence": 0.9} for id_ in dict.fromkeys((step.other, step.name))]
    return "PUT", f"/tools/{_tool_id(step, world)}/skills", {"skills": skills[: 1 + step.flag]}


def _review(does: str) -> Any:
    bodies: Mapping[str, Any] = {"approve": None, "reject": {"reason": "no"}}
    return lambda s, w: (
        "POST",
        f"/skills/suggestions/{w.suggestion(s)}/{does}",
        {"skill_id": s.name} if does == "merge" else bodies[does],
    )


REQUESTS: dict[str, Any] = {
    "tools": _tools,
    "tool deleted": lambda s, w: ("DELETE", f"/tools/{_tool_id(s, w)}", None),
    "skill": lambda s, w: (
        "POST",
        "/skills",
        {"id": s.name, "name": f"{s.name} of {s.org}", "description": f"All about {s.text}"},
    ),
    "skill described": lambda s, w: ("PATCH", f"/skills/{s.name}", {"description": f"Rather about {s.text}"}),
    "skill switched": lambda s, w: ("PATCH", f"/skills/{s.name}", {"is_active": s.flag}),
    "skill deleted": lambda s, w: ("DELETE", f"/skills/{s.name}", None),
    "model describes": lambda s, w: ("POST", f"/skills/{s.name}/describe", None),
    "assign": _assign,
    "classify": lambda s, w: ("POST", "/skills/classify", {"tool_id": _tool_id(s, w), "force_reclassify": True}),
    "approve": _review("approve"),
    "reject": _review("reject"),
    "merge": _review("merge"),
    "server": _server,
    "server enabled": _of_entity("server", "enable"),
    "server disabled": _of_entity("server", "disable"),
    "server deleted": _of_entity("server", "delete"),
    "agent": _agent,
    "agent disabled": _of_entity("agent", "disable"),
    "agent deleted": _of_entity("agent", "delete"),
    "project": lambda s, w: (
        "PUT",
        "/mail/projects",
        {"projects": [{"key": each, "name": each, "description": s.text} for each in dict.fromkeys((s.name, s.other))]},
    ),
    "project deleted": _delete_mail("project"),
    "product": lambda s, w: (
        "PUT",
        "/mail/products",
        {"products": [{"key": s.name, "name": s.name, "description": s.text, "projects": [s.other]}]},
    ),
    "product deleted": _delete_mail("product"),
    "mail agent": lambda s, w: (
        "PUT",
        "/mail/agents",
        {"agents": [{"name": s.name, "description": s.text, "projects": [s.other]}]},
    ),
    "mail agent deleted": _delete_mail("agent", "name"),
    "message": _message,
    "acknowledge": _acknowledge,
    "message deleted": _delete_mail("message"),
    "search": lambda s, w: ("POST", "/search", {"query": s.text, "strategy": "hybrid", "mode": "lexical"}),
}

texts = st.lists(st.sampled_from(WORDS), min_size=1, max_size=6).map(" ".join)


def beginning(org: str | None) -> list[Step]:
    """Return steps by which an organisation comes to have one of everything; it shares the skill `files`, of nobody."""
    done = (
        ("skill", "files" if org is None else "weather", "email", "zebra letter"),
        ("tools", "email", "files", "rain zebra"),
        ("assign", "email", "files", ""),
        ("classify", "files", "weather", ""),
        ("server", "weather", "files", "merge request"),
        ("agent", "email", "weather", "invoice"),
        ("project", "files", "email", "letter"),
        ("product", "email", "files", "rain"),
        ("mail agent", "files", "files", "zebra"),
        ("message", "email", "files", "rain invoice"),
    )
    return [Step(org, does, org, name, other, text, does != "assign") for does, name, other, text in done]


def steps(*orgs: str | None) -> st.SearchStrategy[Step]:
    """Return steps of these organisations; each may be about what another one has."""
    names, whose = st.sampled_from(NAMES), st.sampled_from([None, ACME, GLOBEX])
    return st.builds(
        lambda org, does, mine, of, *rest: Step(org, does, org if mine else of, *rest),
        st.sampled_from(orgs), st.sampled_from([*REQUESTS, "relay"]), st.integers(0, 3).map(bool), whose, names, names,
        texts, st.booleans(),
    )  # fmt: skip
