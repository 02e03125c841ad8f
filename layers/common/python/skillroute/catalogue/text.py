"""The texts of a tool that are embedded, and those that are indexed for words. Reasons and numbers: docs/adr/0003.

A tool's vector is stored with its text's words in this order, so a change here asks for a new embedding of every tool.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from skillroute.core.documents.texts import IndexedText
from skillroute.core.embedding.views import VIEW_WEIGHTS
from skillroute.core.hashing import text_hash

# Names that camelCase would break: "git hub" is neither what people type nor what the model learned.
_COMPOUNDS = (
    "BigQuery|DuckDB|DynamoDB|GitHub|GitLab|GraphQL|IPv|JavaScript|LinkedIn|MongoDB|MySQL|OAuth|OpenAI|PayPal|"
    "PostgreSQL|PowerPoint|SQLite|TypeScript|WhatsApp|WordPress|YouTube"
)
_NAME_WORD = re.compile(
    rf"(?:{_COMPOUNDS})(?![a-z])\d*"  # GitHub, OAuth2, IPv6
    r"|[A-Z]{2,}s(?![a-z])"  # URLs
    r"|[A-Z]{2,}\d*(?![a-z])"  # HTTP, EC2
    r"|[A-Z]+(?=[A-Z][a-z])"  # the HTTP of HTTPServer
    r"|[A-Z]?[^\W\dA-Z_]+\d*"  # Server, base64, any other script
    r"|[A-Z]+\d*"  # the X of getX
    r"|\d+[^\W\dA-Z_]*"  # 3d
)
_WORD = re.compile(r"[^\W_]+")
_SERVER_NOISE = frozenset({"mcp", "server"})
# What names of tools begin with, whatever they are about.
# fmt: off
VERBS = frozenset({
    "add", "calculate", "check", "compute", "create", "delete", "execute", "fetch", "find", "generate", "get", "list",
    "make", "query", "read", "remove", "retrieve", "run", "search", "set", "show", "update", "write",
})
# fmt: on
_MAX_GIST_LENGTH = 200
_MAX_WHOLE_LENGTH = 8_000
"""Characters: no embedding model reads more (core.embedding.wire)."""
_MAX_WORDS = 64_000
"""Characters that BM25 counts words in: more than a description may have, and enough for any schema's arguments."""

MAX_ARGUMENTS = 256
"""Arguments of a schema that are read, and characters of an argument's name."""


def split_name(name: str) -> str:
    """Split a tool's or argument's name into lower-case words.

    Separators, camelCase and acronyms end a word; digits stay with the letters before them. On three judged sets words
    instead of the raw name are worth 1.4 points of mean recall@5 (0.728 to 0.741).

    Examples
    --------
    >>> split_name("getHealthWorkforce")
    'get health workforce'
    >>> split_name("badge_api.BadgeApi.list_EC2Instances")
    'badge api badge api list ec2 instances'
    >>> split_name("createGitHubIssue")
    'create github issue'
    """
    return " ".join(match.group().lower() for match in _NAME_WORD.finditer(name))


def name_words(name: str, server: str | None) -> frozenset[str]:
    """Return the words of a tool's name without those of its server's name, unless none is left then.

    Examples
    --------
    >>> name_words("playwright_click", "Playwright MCP Server"), name_words("search", "search")
    (frozenset({'click'}), frozenset({'search'}))
    """
    words = frozenset(split_name(name).split()) or frozenset([name])
    return words.difference(*(of_server.split() for of_server in _server_words(server))) or words


def argument_names(input_schema: Mapping[str, Any] | None) -> list[str]:
    """Return the names of a tool's top-level arguments, in the schema's order; none for a schema without any.

    Of more than 256 the first are read, and of a longer name the first 256 characters.
    """
    return [name for name, _ in _arguments(input_schema)]


def argument_descriptions(input_schema: Mapping[str, Any] | None) -> list[str]:
    """Return what the schema says about the top-level arguments, in its order; arguments without a text are left out.

    Examples
    --------
    >>> argument_descriptions({"properties": {"city": {"description": "Name of the city."}, "days": True}})
    ['Name of the city.']
    """
    described = (schema.get("description") for _, schema in _arguments(input_schema) if isinstance(schema, Mapping))
    return [text for text in described if isinstance(text, str) and text.strip()]


@dataclass(frozen=True, slots=True)
class ToolText:
    """The texts of a tool as far as they are searched."""

    name: str
    description: str = ""
    argument_names: Sequence[str] = ()
    argument_descriptions: Sequence[str] = ()
    server: str | None = None


def embedding_views(tool: ToolText) -> tuple[str, str, str]:
    """Return the three texts whose vectors, weighted by `embed.VIEW_WEIGHTS`, make a tool's vector.

    The whole: ``name: description (arguments). About them. server``. The subject: the name without its verbs. The gist:
    the description's first sentence. A long text dilutes what the tool is about, and the two short ones bring it back.

    Measured over metatool, sealtools and bfcl with the int8 model, mean recall@1 / recall@5 / recall@5 at the default
    threshold of 0.3: the whole alone 0.528 / 0.761 / 0.726, all three 0.542 / 0.766 / 0.744.

    Examples
    --------
    >>> embedding_views(ToolText("sendMessage", "Send an email.", ["to", "bodyText"], ["Who gets it"], "gmail-mcp"))
    ('send message: Send an email (to, body text). Who gets it. gmail', 'send message', 'Send an email')
    """
    return _whole(tool), _subject(tool), _gist(tool)


def lexical_text(tool: ToolText) -> str:
    """Return the text that BM25 counts words in: raw name, its words, description, arguments and server.

    Order and punctuation mean nothing to BM25. The raw name is there for who searches by it. Measured over the same
    sets with Qdrant's BM25, mean recall@5: raw name and description 0.727, with the name's words too 0.748, with
    argument names 0.762, with their descriptions 0.770.
    """
    words = split_name(tool.name)
    arguments = [split_name(argument) for argument in tool.argument_names]
    parts = [
        tool.name,
        words if words != tool.name else "",
        tool.description,
        *arguments,
        *tool.argument_descriptions,
    ]
    return " ".join(" ".join([*parts, *_server_words(tool.server)]).split())[:_MAX_WORDS]


def text_with(text: IndexedText, requests: Iterable[str], server_text: str | None) -> IndexedText:
    """Return what a tool says to the index with these requests that it serves, instead of those that it had.

    Words do not count them: docs/adr/0067.

    Parameters
    ----------
    server_text : str or None
        What its registered server says of itself, behind `CONTEXT_MARK` (docs/adr/0069).
    """
    views = (*text.embedding_texts[: len(VIEW_WEIGHTS)], *requests, *([server_text] if server_text else ()))
    return IndexedText(views, text.lexical_text, text_hash(*views, text.lexical_text))


def rerank_text(name: str, description: str, server: str | None) -> str:
    """Return the text of a tool that a reranker reads beside the request; it is cut after some forty tokens.

    Examples
    --------
    >>> rerank_text("sendMessage", "Send an email.", "gmail-mcp")
    'send message (gmail): Send an email'
    """
    title = " ".join([split_name(name) or name, *(f"({words})" for words in _server_words(server))])
    return ": ".join(part for part in (title, _sentence(description)) if part)[:_MAX_WHOLE_LENGTH]


def _whole(tool: ToolText) -> str:
    title = ": ".join(part for part in (split_name(tool.name) or tool.name, _sentence(tool.description)) if part)
    arguments = ", ".join(words for words in map(split_name, tool.argument_names) if words)
    first = f"{title} ({arguments})" if arguments else title
    sentences = map(_sentence, tool.argument_descriptions)
    return ". ".join([first, *filter(None, sentences), *_server_words(tool.server)])[:_MAX_WHOLE_LENGTH]


def _subject(tool: ToolText) -> str:
    words = split_name(tool.name).split()
    return " ".join([word for word in words if word not in VERBS] or words) or tool.name


def _gist(tool: ToolText) -> str:
    first_sentence = tool.description.strip().split(". ")[0].split("\n")[0]
    return _sentence(first_sentence)[:_MAX_GIST_LENGTH] or _subject(tool)


def _arguments(input_schema: Mapping[str, Any] | None) -> Iterator[tuple[str, Any]]:
    """Return names and schemas of the top-level arguments. Schemas come from strangers: anything may be of any type."""
    properties = input_schema.get("properties") if isinstance(input_schema, Mapping) else None
    if isinstance(properties, Mapping):
        named = ((name[:MAX_ARGUMENTS], schema) for name, schema in properties.items() if isinstance(name, str))
        yield from islice(named, MAX_ARGUMENTS)


def _sentence(text: str) -> str:
    """Return one line without its full stop."""
    return " ".join(text.split()).rstrip(".")


def _server_words(server: str | None) -> list[str]:
    """Return the server's name as words, without those that every server has; one element or none.

    Not `split_name`: a server's name is prose ("YouTube Transcript Server") more often than an identifier.
    """
    words = [word for word in _WORD.findall((server or "").lower()) if word not in _SERVER_NOISE]
    return [" ".join(words)] if words else []
