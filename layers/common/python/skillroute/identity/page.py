"""The pages that a browser comes back to: a question, and a sentence; without scripts."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from html import escape

from skillroute.core.input.hidden_text import named
from skillroute.identity.model import Pending


def _headers(form_action: str, referrer: str) -> dict[str, str]:
    rules = f"default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action {form_action}"
    return {
        "Cache-Control": "no-store",
        "Content-Security-Policy": rules,
        "Cross-Origin-Opener-Policy": "same-origin",
        "Referrer-Policy": referrer,
        "X-Content-Type-Options": "nosniff",
        "X-Frame-Options": "DENY",
    }


HEADERS = _headers("'none'", "no-referrer")
"""Of the pages. Their addresses have codes in them, which no other site may learn."""

FORM_HEADERS = _headers("'self'", "same-origin")
"""Of a page with a form. With `no-referrer` browsers would send it with `Origin: null`, as if from no page of ours."""

_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>{title}</title>
<meta name="viewport" content="width=device-width, initial-scale=1"></head>
<body><main><h1>{title}</h1>{content}</main></body></html>
"""

_FORM = """<form method="post" action="{action}">{hidden}
<p><label><input type="checkbox" name="mine" value="yes" required> {mine}</label></p>
<p><button name="answer" value="refuse" formnovalidate>Refuse</button>
<button name="answer" value="allow">{allow}</button></p></form>"""

_MAX_CHARS = 200


def page(title: str, sentence: str) -> str:
    """Return the page with a sentence in plain words."""
    return _PAGE.format(title=escape(title), content=f"<p>{escape(sentence)}</p>")


def question(pending: Pending, action: str, sent: Mapping[str, str | None]) -> str:
    """Return the page that asks whose login this is, with what came back in its form.

    It says who began the login first: who was handed the page by that person must see that it is another one.
    """
    who, server = plain(pending.who), plain(pending.server)
    title = f"Let {who} act as you at “{server}”?"
    rows = {
        "Begun by": who if pending.subject is None else f"{who}, known only as {plain(pending.subject)}",
        "Begun at": f"{_time(pending.begun_at)}; good until {_time(pending.expires_at)}",
        "Server": f"{server}, {plain(pending.address)}",
        "You logged in at": plain(pending.issuer),
        "Allowed there": plain(", ".join(pending.scopes), 1000) or "what the authorization server gives unasked",
    }
    content = (
        "<p>The person who began this login will act at the server with your account there. If another person sent "
        "you here, or gave you the page where you logged in, it is theirs: refuse.</p>"
        + listed(rows)
        + form(action, sent, mine="I began this login myself, a moment ago.", allow="Allow")
    )
    return _PAGE.format(title=escape(title), content=content)


def invitation(pending: Pending, action: str, ticket: str) -> str:
    """Return the page of a link: whom it is for, and a way on."""
    who, server = plain(pending.who), plain(pending.server)
    title = f"Log in at “{server}” for {who}?"
    rows = {
        "Made for": who if pending.subject is None else f"{who}, known only as {plain(pending.subject)}",
        "Made at": f"{_time(pending.begun_at)}; good until {_time(pending.expires_at)}",
        "Server": f"{server}, {plain(pending.address)}",
    }
    hidden = f'<input type="hidden" name="ticket" value="{escape(ticket)}">'
    content = (
        f"<p>A call of a tool at this server needs a login. Go on only if that is you, and your own agent gave you "
        f"this link; from anyone else it lets them act with your account.</p>{listed(rows)}"
        f'<form method="post" action="{escape(action)}">{hidden}<p><button>Go on to log in</button></p></form>'
    )
    return _PAGE.format(title=escape(title), content=content)


def onward(url: str) -> str:
    """Return a page that leads on to another site: browsers do not follow a form's answer there (`form-action`)."""
    at = escape(url)
    content = (
        f'<meta http-equiv="refresh" content="0; url={at}"><p><a href="{at}" rel="noreferrer">Go on to log in</a></p>'
    )
    return _PAGE.format(title="Log in", content=content)


def listed(rows: Mapping[str, str]) -> str:
    """Return names and values as a list; the direction of a value's letters changes nothing outside of it."""
    items = (f"<dt>{escape(name)}</dt><dd><bdi>{escape(value)}</bdi></dd>" for name, value in rows.items())
    return f"<dl>{''.join(items)}</dl>"


def form(action: str, sent: Mapping[str, str | None], *, mine: str, allow: str) -> str:
    """Return a form that allows or refuses; a click that was lured alone does not tick its box."""
    fields: Iterable[tuple[str, str]] = ((name, value) for name, value in sent.items() if value is not None)
    hidden = "".join(f'<input type="hidden" name="{escape(name)}" value="{escape(value)}">' for name, value in fields)
    return _FORM.format(action=escape(action), hidden=hidden, mine=escape(mine), allow=escape(allow))


def plain(text: str, most: int = _MAX_CHARS) -> str:
    """Return a text that others wrote with what is not seen, or turns the letters around, named, and not too long.

    Examples
    --------
    >>> plain("ann\\u202ekrow"), plain("ann\\u3164")
    ('ann<U+202E>krow', 'ann<U+3164>')
    """
    shown = "".join("\ufffd" if unicodedata.category(each) in _UNSEEN else each for each in named(text))
    return shown if len(shown) <= most else f"{shown[: most - 1]}…"


_UNSEEN = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}


def _time(at: datetime) -> str:
    return at.astimezone(UTC).strftime("%Y-%m-%d %H:%M UTC")
