"""The page that a browser comes back to: one sentence, without scripts."""

from __future__ import annotations

from html import escape

HEADERS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}
"""Of the page. Its address has a code in it, which no other site may learn."""

_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>{title}</title>
<meta name="viewport" content="width=device-width, initial-scale=1"></head>
<body><main><h1>{title}</h1><p>{sentence}</p></main></body></html>
"""


def page(title: str, sentence: str) -> str:
    """Return the page with a sentence in plain words."""
    return _PAGE.format(title=escape(title), sentence=escape(sentence))
