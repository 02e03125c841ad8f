"""Agent mail: messages, and the projects, products and agents that they are of."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Unpack

from skillroute_client.calls import Body, Call, given, nothing, one, path_of, plain_list
from skillroute_client.engines import M
from skillroute_client.models.mail import MailAgent, Message, MessageAnswer, Product, Project, ProjectMessages
from skillroute_client.models.written import Written
from skillroute_client.operations import Resource, operation, paged
from skillroute_client.pages import Listing
from skillroute_client.resources.options import (
    ListKeyed,
    ListMailAgents,
    ListMessages,
    MessageOptions,
    ProductMessageOptions,
    ProjectMessageOptions,
)


class Messages(Resource[M]):
    """Messages between agents."""

    @operation
    def put(self, messages: Iterable[Body], *, dry_run: bool | None = None) -> Call[Written]:
        """Create or change up to 500 messages, each judged on its own. A dry run only tries."""
        return _put("messages", messages, dry_run)

    @paged
    def list(self, **where: Unpack[ListMessages]) -> Listing[Message]:
        """List messages, the newest first; all conditions must hold."""
        return Listing(path_of("mail", "messages"), Message, where)

    @operation
    def get(self, message_id: int) -> Call[Message]:
        """Return a message."""
        return Call(method="GET", path=path_of("mail", "messages", message_id), read=one(Message))

    @operation
    def delete(self, message_id: int) -> Call[None]:
        """Delete a message."""
        return Call(method="DELETE", path=path_of("mail", "messages", message_id), read=nothing)

    @operation
    def acknowledge(self, message_id: int, agent: str) -> Call[Message]:
        """Note that an agent has taken note of a message; the first time counts."""
        path = path_of("mail", "messages", message_id, "acknowledge")
        return Call(method="POST", path=path, body={"agent": agent}, read=one(Message))

    @operation
    def search(self, text: str = "", **options: Unpack[MessageOptions]) -> Call[MessageAnswer]:
        """Find messages, or the agents or projects that `doc_kind` says."""
        body = {"text": text, **given(options)}
        return Call(method="POST", path=path_of("search", "messages"), body=body, read=one(MessageAnswer))

    @operation
    def search_project(
        self, project_key: str, query: str, **options: Unpack[ProjectMessageOptions]
    ) -> Call[ProjectMessages]:
        """Find messages of a project, as agents' tool `search_messages` does."""
        body = {"project_key": project_key, "query": query, **given(options)}
        return Call(method="POST", path=path_of("tools", "search_messages"), body=body, read=one(ProjectMessages))

    @operation
    def search_product(
        self, product_key: str, query: str, **options: Unpack[ProductMessageOptions]
    ) -> Call[ProjectMessages]:
        """Find messages of all projects of a product, as agents' tool `search_messages_product` does."""
        path = path_of("tools", "search_messages_product")
        body = {"product_key": product_key, "query": query, **given(options)}
        return Call(method="POST", path=path, body=body, read=one(ProjectMessages))


class Projects(Resource[M]):
    """Projects, within which agents write to each other."""

    @operation
    def put(self, projects: Iterable[Body], *, dry_run: bool | None = None) -> Call[Written]:
        """Create or change up to 100 projects, each judged on its own. A dry run only tries."""
        return _put("projects", projects, dry_run)

    @paged
    def list(self, **where: Unpack[ListKeyed]) -> Listing[Project]:
        """List projects."""
        return Listing(path_of("mail", "projects"), Project, where)

    @operation
    def get(self, project_id: int) -> Call[Project]:
        """Return a project."""
        return Call(method="GET", path=path_of("mail", "projects", project_id), read=one(Project))

    @operation
    def delete(self, project_id: int) -> Call[None]:
        """Delete a project without messages."""
        return Call(method="DELETE", path=path_of("mail", "projects", project_id), read=nothing)


class Products(Resource[M]):
    """Products: several projects each."""

    @operation
    def put(self, products: Iterable[Body], *, dry_run: bool | None = None) -> Call[Written]:
        """Create or change up to 100 products, each judged on its own. A dry run only tries."""
        return _put("products", products, dry_run)

    @paged
    def list(self, **where: Unpack[ListKeyed]) -> Listing[Product]:
        """List products."""
        return Listing(path_of("mail", "products"), Product, where)

    @operation
    def get(self, product_id: int) -> Call[Product]:
        """Return a product."""
        return Call(method="GET", path=path_of("mail", "products", product_id), read=one(Product))

    @operation
    def delete(self, product_id: int) -> Call[None]:
        """Delete a product; its projects stay."""
        return Call(method="DELETE", path=path_of("mail", "products", product_id), read=nothing)


class MailAgents(Resource[M]):
    """Agents that write and get mail."""

    @operation
    def put(self, agents: Iterable[Body], *, dry_run: bool | None = None) -> Call[Written]:
        """Create or change up to 100 mail agents, each judged on its own. A dry run only tries."""
        return _put("agents", agents, dry_run)

    @paged
    def list(self, **where: Unpack[ListMailAgents]) -> Listing[MailAgent]:
        """List mail agents."""
        return Listing(path_of("mail", "agents"), MailAgent, where)

    @operation
    def get(self, agent_id: int) -> Call[MailAgent]:
        """Return a mail agent."""
        return Call(method="GET", path=path_of("mail", "agents", agent_id), read=one(MailAgent))

    @operation
    def delete(self, agent_id: int) -> Call[None]:
        """Delete a mail agent that no message refers to."""
        return Call(method="DELETE", path=path_of("mail", "agents", agent_id), read=nothing)


def _put(kind: str, values: Iterable[Body], dry_run: bool | None) -> Call[Written]:
    body, params = {kind: plain_list(values)}, given({"dry_run": dry_run})
    return Call(method="PUT", path=path_of("mail", kind), params=params, body=body, read=one(Written))
