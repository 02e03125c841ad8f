"""Make N messages of agent mail, with the projects and agents they need; the same ones for the same seed.

A sentence is one of the shipped corpus (examples/messages.jsonl, those in English) with most of its content words
replaced by others with the same ending, so that grammar and the mix of short and long words stay. Half of what is put
in comes from the thread's own few words, so that a thread is about something; the rest from the whole vocabulary, the
more often the more common a word is there (Zipf-Mandelbrot, weight 1/(rank + 30): the offset keeps the most common
word out of most messages, as in a text without its stop words). Each thread adds a ticket number, a made-up customer
and a made-up system, so the vocabulary keeps growing with the corpus, as it does in real mail. Numbers in a sentence
are drawn again.

    python -m benchmarks.corpora.message_corpus --messages 10000 --output DIR

writes projects.jsonl, products.jsonl, mail_agents.jsonl and messages.jsonl there, in the form of examples/.
"""

from __future__ import annotations

import argparse
import json
import random
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from itertools import accumulate
from pathlib import Path
from typing import Any

from skillroute.registry.search.query import STOP_WORDS

Json = dict[str, Any]

SHIPPED = Path(__file__).parents[2] / "examples" / "messages.jsonl"
YEAR_START_US = 1_735_689_600_000_000  # 2025-01-01T00:00:00Z: before the shipped messages, so the two can be mixed
YEAR_US = 365 * 24 * 3600 * 1_000_000

_AREAS = ("canyon", "falcon", "granite", "juniper", "lagoon", "summit")
_SUBJECTS = ("ledger", "portal", "pipeline", "fleet")
_COLOURS = ("Azure", "Bronze", "Crimson", "Dusty", "Ebony", "Frosty", "Gentle", "Hidden", "Ivory", "Jolly")
_PLACES = ("Badger", "Cliff", "Delta", "Ember", "Fjord", "Grove")
_IMPORTANCES = ("low", "normal", "high", "urgent")
_IMPORTANCE_SHARES = (12, 66, 17, 5)
_ENDINGS = ("ing", "ed", "ly", "s")
_SYLLABLES = tuple(a + b for a in ("b", "d", "f", "k", "l", "m", "n", "pr", "r", "st", "t", "v", "z") for b in "aeiou")

_OPEN_THREADS = 40
_NEW_THREAD_SHARE = 0.3
_ALONE_SHARE = 0.15
_MAX_THREAD_LENGTH = 8
_KEPT_SHARE = 0.15
_NAMED_SHARE = 0.06
_TOPIC_SHARE = 0.5
_TOPIC_WORDS = 30
_RANK_OFFSET = 30
_SENTENCE_WORDS = 26

_TOKEN = re.compile(r"[A-Za-z][A-Za-z']*|\d+|[^A-Za-z\d]+")
_AGENT = re.compile(r"(?:[A-Z][a-z]+){2}")
_ODD = re.compile(r"[^\x20-\x7e]|[=`@/_<>{}]|--")
_NUMERALS = (
    *("two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve", "fifteen", "twenty"),
    *("thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety", "hundred"),
)
_HOLDING = """
    almost already always another anybody anything away back everybody everything instead much must never now nobody
    nothing soon somebody something still today together tomorrow too yesterday would monday tuesday wednesday thursday
    friday saturday sunday january february march april june july august september october november december
"""
# What holds a sentence together stays where it is.
_HELD = STOP_WORDS | frozenset(_HOLDING.split())


def projects() -> list[Json]:
    """Return the 24 projects."""
    return [
        {"key": f"{area}-{subject}", "name": f"{area} {subject}".title(), "description": f"The {subject} of {area}."}
        for area in _AREAS
        for subject in _SUBJECTS
    ]


def products() -> list[Json]:
    """Return the six products, each of four projects."""
    return [
        {"key": area, "name": area.title(), "projects": [f"{area}-{subject}" for subject in _SUBJECTS]}
        for area in _AREAS
    ]


def agents() -> list[Json]:
    """Return the 60 agents, each a member of four projects: nine to eleven in a project."""
    keys = [project["key"] for project in projects()]
    names = [colour + place for colour in _COLOURS for place in _PLACES]
    return [
        {
            "name": name,
            "description": f"Looks after {keys[number % len(keys)]} and three others.",
            "contact": f"mailto:{name.lower()}@agents.example",
            "projects": [keys[(number + 7 * step) % len(keys)] for step in range(4)],
        }
        for number, name in enumerate(names)
    ]


def _ending(word: str) -> str:
    return next((ending for ending in _ENDINGS if word.endswith(ending) and len(word) > len(ending) + 2), "")


def _is_content(token: str) -> bool:
    return len(token) > 2 and token.isalpha() and token.lower() not in _HELD and token not in _NUMERALS


@dataclass(frozen=True, slots=True)
class _Language:
    """Sentences as tokens, and for each ending its words, the most common first, with running sums of their weights."""

    sentences: list[list[str]]
    words: dict[str, list[str]]
    weights: dict[str, list[float]]


@cache
def _language() -> _Language:
    sentences = []
    for line in SHIPPED.read_text(encoding="utf-8").splitlines():
        body = json.loads(line)["body"]
        if body.isascii() and not body.count("\n"):
            sentences += [part for part in re.split(r"(?<=[.?!]) (?=[A-Z])", body) if not _ODD.search(part)]
    split = [_TOKEN.findall(part) for part in sentences if len(part.split()) <= _SENTENCE_WORDS]
    counted = Counter(
        token.lower() for tokens in split for token in tokens if _is_content(token) and not _AGENT.fullmatch(token)
    )
    words: dict[str, list[str]] = {ending: [] for ending in (*_ENDINGS, "")}
    for word, _ in sorted(counted.items(), key=lambda pair: (-pair[1], pair[0])):
        words[_ending(word)].append(word)
    weights = {
        ending: list(accumulate(1 / (rank + _RANK_OFFSET) for rank in range(len(found))))
        for ending, found in words.items()
    }
    return _Language(split, words, weights)


class _Thread:
    """The shared fields of a thread's messages."""

    def __init__(self, rng: random.Random, number: int, project: str, members: list[str]) -> None:
        self.project = project
        self.ticket = f"{''.join(word[:2] for word in project.split('-')).upper()}-{100 + number}"
        self.id = None if rng.random() < _ALONE_SHARE else self.ticket
        self.left = 1 if self.id is None else rng.randint(2, _MAX_THREAD_LENGTH)
        self.people = rng.sample(members, rng.randint(2, 5))
        self.names = ["".join(rng.choices(_SYLLABLES, k=3)).capitalize() for _ in range(2)]
        words = _language().words
        self.topic = {ending: rng.sample(found, min(len(found), _TOPIC_WORDS)) for ending, found in words.items()}
        self.subject = _subject(rng, self)
        self.sent = 0


def _subject(rng: random.Random, thread: _Thread) -> str:
    words = [rng.choice(thread.topic[""]) for _ in range(rng.randint(2, 4))]
    words.insert(rng.randint(0, len(words)), rng.choice(thread.names))
    text = " ".join([rng.choice(thread.topic["ing"]), *words])
    return f"{thread.ticket}: {text}" if thread.id else text.capitalize()


def _word(rng: random.Random, thread: _Thread, token: str) -> str:
    """Return what stands in the sentence instead of a token."""
    if token.isdigit():
        return str(rng.randint(10 ** (len(token) - 1), 10 ** len(token) - 1))
    if token in _NUMERALS:
        return rng.choice(_NUMERALS)
    if _AGENT.fullmatch(token):
        return rng.choice(thread.people)
    if not _is_content(token) or (drawn := rng.random()) < _KEPT_SHARE:
        return token
    if drawn < _KEPT_SHARE + _NAMED_SHARE:
        return rng.choice(thread.names)
    ending = _ending(token.lower())
    if rng.random() < _TOPIC_SHARE:
        word = rng.choice(thread.topic[ending])
    else:
        language = _language()
        word = rng.choices(language.words[ending], cum_weights=language.weights[ending])[0]
    return word.capitalize() if token[0].isupper() else word


def _pointer(rng: random.Random, thread: _Thread) -> str:
    """Return a sentence with something that can be looked up: a file, a request, a date, a code."""
    noun = rng.choice(thread.topic[""])
    return rng.choice(
        (
            f"See {noun}/{rng.choice(thread.topic['s'])}.py, line {rng.randint(1, 900)}.",
            f"It is in PR {rng.randint(100, 9999)} and belongs to {thread.ticket}.",
            f"Due on {rng.randint(1, 28)}.{rng.randint(1, 12)}. at the latest.",
            f"The code was ERR_{noun.upper()}_{rng.randint(1, 99):02}.",
            f"Build {rng.randint(2024, 2025)}.{rng.randint(1, 12)}.{rng.randint(0, 30)} has it.",
        )
    )


def _body(rng: random.Random, thread: _Thread) -> str:
    """Return a body of 30 to 120 words."""
    wanted = rng.randint(30, 120 - _SENTENCE_WORDS)
    parts = [_pointer(rng, thread)] if rng.random() < 0.5 else []
    while sum(map(len, map(str.split, parts))) < wanted:
        parts.append("".join(_word(rng, thread, token) for token in rng.choice(_language().sentences)))
    rng.shuffle(parts)
    return " ".join(parts)


def generate(count: int, seed: int = 0) -> Iterator[Json]:
    """Yield messages in the order in which they were sent, spread over the year 2025.

    Parameters
    ----------
    count : int
        How many.
    seed : int
        Of everything that is drawn. A larger corpus begins with the messages of a smaller one, sent closer together.

    Yields
    ------
    dict
        A message in the form of examples/messages.jsonl; senders and recipients are members of its project.
    """
    rng = random.Random(seed)
    members: dict[str, list[str]] = {}
    for agent in agents():
        for project in agent["projects"]:
            members.setdefault(project, []).append(agent["name"])
    keys = sorted(members)
    # The first projects get the most mail.
    shares = list(accumulate(1 / (rank + 3) for rank in range(len(keys))))
    threads: list[_Thread] = []
    begun = 0
    for number in range(count):
        if not threads or (len(threads) < _OPEN_THREADS and rng.random() < _NEW_THREAD_SHARE):
            project = rng.choices(keys, cum_weights=shares)[0]
            threads.append(_Thread(rng, begun, project, members[project]))
            begun += 1
        thread = rng.choice(threads)
        yield _message(rng, thread, number, YEAR_START_US + int((number + rng.random()) * YEAR_US / count))
        if thread.sent == thread.left:
            threads.remove(thread)


def _message(rng: random.Random, thread: _Thread, number: int, created_us: int) -> Json:
    sender, *others = rng.sample(thread.people, len(thread.people))
    direct = rng.randint(1, len(others))
    copied, hidden = others[direct:], []
    if len(copied) > 1 and rng.random() < 0.2:
        hidden = [copied.pop()]
    thread.sent += 1
    return {
        "key": f"made-{number + 1:06}",
        "project": thread.project,
        "thread_id": thread.id,
        "from": sender,
        "to": others[:direct],
        "cc": copied,
        "bcc": hidden,
        "subject": thread.subject if thread.sent == 1 else f"Re: {thread.subject}",
        "body": _body(rng, thread),
        "importance": rng.choices(_IMPORTANCES, _IMPORTANCE_SHARES)[0],
        "ack_required": rng.random() < 0.08,
        "created_ts": created_us,
    }


def _write(file: Path, lines: Iterable[Json]) -> None:
    with file.open("w", encoding="utf-8") as out:
        out.writelines(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)


def main() -> None:
    """Write the four files."""
    from benchmarks.harness import progress

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--messages", type=int, required=True, metavar="N")
    parser.add_argument("--output", type=Path, required=True, metavar="DIR", help="is made where it does not exist")
    parser.add_argument("--seed", type=int, default=0, help="of everything that is drawn (default: 0)")
    args = parser.parse_args()
    args.output.mkdir(parents=True, exist_ok=True)
    _write(args.output / "projects.jsonl", projects())
    _write(args.output / "products.jsonl", products())
    _write(args.output / "mail_agents.jsonl", agents())
    with progress() as bar:
        made = bar.track(generate(args.messages, args.seed), total=args.messages, description="messages")
        _write(args.output / "messages.jsonl", made)


if __name__ == "__main__":
    main()
