"""A page of a browser as tests read it: its form, its links and its tags."""

from __future__ import annotations

from html.parser import HTMLParser


class Page(HTMLParser):
    """What a page has."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.action = self.method = self.link = ""
        self.hidden: dict[str, str] = {}
        self.tags: set[str] = set()
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        has = {name: value or "" for name, value in attrs}
        self.tags.add(tag)
        if tag == "form":
            self.action, self.method = has["action"], has["method"]
        if tag == "input" and has["type"] == "hidden":
            self.hidden[has["name"]] = has["value"]
        if tag == "a":
            self.link = has["href"]
