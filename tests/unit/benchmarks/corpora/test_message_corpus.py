"""The shipped mail and its judged queries hold together, and the generator makes mail of the same form.

Source: message-search, section 9.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from datetime import UTC, datetime
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from skillroute.registry.search.query import STOP_WORDS

from benchmarks.corpora import message_corpus

Json = dict[str, Any]

ROOT = Path(__file__).parents[4]
EXAMPLES = ROOT / "examples"
KEY = re.compile(r"[A-Za-z0-9._-]+")
FIELDS = {
    *("key", "project", "thread_id", "from", "to", "cc", "bcc", "subject", "body"),
    *("importance", "ack_required", "created_ts"),
}
# A Chinese character counts as a word.
WORD = re.compile(r"[\u4e00-\u9fff]|[^\W\u4e00-\u9fff]+")
MADE = 2_000


@cache
def lines(file: Path) -> list[Json]:
    return [json.loads(line) for line in file.read_text("utf-8").splitlines()]


def shipped(name: str) -> list[Json]:
    return lines(EXAMPLES / f"{name}.jsonl")


def queries(name: str = "message_queries") -> list[Json]:
    return lines(ROOT / "benchmarks" / f"{name}.jsonl")


@cache
def made() -> list[Json]:
    return list(message_corpus.generate(MADE, seed=3))


CORPORA = {
    "shipped": lambda: (shipped("projects"), shipped("products"), shipped("mail_agents"), shipped("messages")),
    "made": lambda: (message_corpus.projects(), message_corpus.products(), message_corpus.agents(), made()),
}


@pytest.fixture(params=CORPORA)
def corpus(request: pytest.FixtureRequest) -> tuple[list[Json], ...]:
    return CORPORA[request.param]()


def test_keys_are_unique_and_well_formed(corpus: tuple[list[Json], ...]) -> None:
    projects, products, agents, messages = corpus
    for keys in ([line["key"] for line in lines] for lines in (projects, products, messages)):
        assert all(KEY.fullmatch(key) for key in keys)
        assert len(set(keys)) == len(keys)
    names = [agent["name"] for agent in agents]
    assert all(re.fullmatch(r"([A-Z][a-z]+){2}", name) for name in names)
    assert len({name.lower() for name in names}) == len(names)


def test_what_is_named_exists(corpus: tuple[list[Json], ...]) -> None:
    projects, products, agents, messages = corpus
    known = {project["key"] for project in projects}
    assert {key for product in products for key in product["projects"]} <= known
    assert {key for agent in agents for key in agent["projects"]} <= known
    assert all(re.match(r"(mailto:|https://)\S+", agent["contact"]) and agent["description"] for agent in agents)
    assert {message["project"] for message in messages} <= known


def test_messages_have_the_form_of_the_routes(corpus: tuple[list[Json], ...]) -> None:
    for message in corpus[3]:
        assert set(message) == FIELDS
        assert message["subject"].strip()
        assert message["thread_id"] is None or KEY.fullmatch(message["thread_id"])
        assert type(message["ack_required"]) is bool
        assert type(message["created_ts"]) is int
        assert message["importance"] in {"low", "normal", "high", "urgent"}


def test_senders_and_recipients_are_members_of_the_project_and_named_once(corpus: tuple[list[Json], ...]) -> None:
    member_of = {agent["name"]: set(agent["projects"]) for agent in corpus[2]}
    for message in corpus[3]:
        people = [message["from"], *message["to"], *message["cc"], *message["bcc"]]
        assert message["to"]
        assert len(set(people)) == len(people)
        assert all(message["project"] in member_of[name] for name in people), message["key"]


def test_threads_stay_in_a_project_and_are_written_in_the_order_of_time(corpus: tuple[list[Json], ...]) -> None:
    threads: dict[str, list[Json]] = {}
    for message in corpus[3]:
        if message["thread_id"] is not None:
            threads.setdefault(message["thread_id"], []).append(message)
    assert max(map(len, threads.values())) <= 8
    for messages in threads.values():
        assert len({message["project"] for message in messages}) == 1
        assert all(first["created_ts"] < second["created_ts"] for first, second in pairwise(messages))


def test_every_kind_of_message_is_there(corpus: tuple[list[Json], ...]) -> None:
    messages = corpus[3]
    assert {message["importance"] for message in messages} == {"low", "normal", "high", "urgent"}
    assert {message["ack_required"] for message in messages} == {False, True}
    for field in ("thread_id", "cc", "bcc"):
        assert {bool(message[field]) for message in messages} == {False, True}, field


def test_the_shipped_corpus_is_of_the_size_the_contract_asks_for() -> None:
    messages = shipped("messages")
    assert 200 <= len(messages) <= 240
    assert len(shipped("projects")) == len({message["project"] for message in messages}) == 6
    assert len(shipped("mail_agents")) == len({message["from"] for message in messages}) == 16
    assert len(shipped("products")) == 2
    threads = Counter(message["thread_id"] for message in messages if message["thread_id"])
    assert min(threads.values()) == 2
    assert all(20 <= len(WORD.findall(message["body"])) <= 150 for message in messages)
    times = [datetime.fromtimestamp(message["created_ts"] / 1e6, UTC) for message in messages]
    assert {(time.year, time.month) for time in times} == {(2026, 1), (2026, 2), (2026, 3)}


def test_no_shipped_sentence_is_written_twice() -> None:
    sentences = Counter(
        sentence
        for message in shipped("messages")
        for sentence in re.split(r"(?<=[.?!。]) ", message["body"])
        if len(sentence.split()) >= 6
    )
    assert [sentence for sentence, count in sentences.items() if count > 1] == []


@pytest.mark.parametrize(
    "secret",
    [
        pytest.param(r"password=\S{8,}", id="a password as key=value"),
        pytest.param(r"_key=AKIAEXAMPLE\w+", id="an API key"),
        pytest.param(r"_token: \"\S{20,}\"", id="a token"),
        pytest.param(r"Bearer [\w-]+\.[\w-]+\.[\w-]+", id="a bearer token"),
        pytest.param(r"-----BEGIN PRIVATE KEY-----\n[\w+/=\n]+-----END PRIVATE KEY-----", id="a private key"),
    ],
)
def test_a_made_up_secret_of_each_kind_is_there_to_be_masked(secret: str) -> None:
    assert any(re.search(secret, message["body"]) for message in shipped("messages"))


@pytest.mark.parametrize("name", ["message_queries", "message_queries_2"])
def test_queries_judge_messages_that_exist(name: str) -> None:
    keys = {message["key"] for message in shipped("messages")}
    for query in queries(name):
        assert set(query) == {"query", "kind", "relevant"}
        assert set(query["relevant"]) <= keys
        assert set(query["relevant"].values()) <= {1, 2}
        assert 2 in query["relevant"].values()
    texts = [query["query"].lower() for query in queries(name)]
    assert len(set(texts)) == len(texts)


def test_queries_are_of_the_three_kinds() -> None:
    kinds = Counter(query["kind"] for query in queries())
    assert set(kinds) == {"paraphrase", "keyword", "identifier"}
    assert kinds["paraphrase"] >= 60
    assert kinds["keyword"] == 12
    assert kinds["identifier"] == 8


@pytest.mark.parametrize("name", ["message_queries", "message_queries_2"])
def test_an_identifier_is_judged_wherever_it_is_named(name: str) -> None:
    for query in (query for query in queries(name) if query["kind"] == "identifier"):
        named = re.compile(rf"(?<![\w-]){re.escape(query['query'])}(?![\w-])")
        found = {m["key"] for m in shipped("messages") if named.search(f"{m['subject']}\n{m['body']}")}
        assert found
        assert found <= set(query["relevant"]), query["query"]


def content_words(text: str) -> set[str]:
    # Cut to five letters, so that "refund" and "refunds" are one word.
    return {word[:5] for word in WORD.findall(text.lower()) if len(word) > 1 and word not in STOP_WORDS}


def test_paraphrases_say_it_in_other_words() -> None:
    texts = {
        message["key"]: content_words(f"{message['subject']} {message['body']}") for message in shipped("messages")
    }
    apart = 0
    for query in (query for query in queries() if query["kind"] == "paraphrase"):
        words = content_words(query["query"])
        answers = [key for key, grade in query["relevant"].items() if grade == 2]
        apart += max(len(words & texts[key]) / len(words) for key in answers) <= 0.5
    assert apart >= 50


def test_the_same_seed_makes_the_same_messages() -> None:
    assert list(message_corpus.generate(50, seed=5)) == list(message_corpus.generate(50, seed=5))
    assert list(message_corpus.generate(50, seed=5)) != list(message_corpus.generate(50, seed=6))


def test_a_larger_corpus_begins_with_a_smaller_one() -> None:
    def untimed(count: int) -> list[Json]:
        return [message | {"created_ts": 0} for message in message_corpus.generate(count, seed=5)][:50]

    assert untimed(100) == untimed(50)


def test_made_messages_are_as_long_as_real_ones_and_fill_a_year() -> None:
    assert len(made()) == MADE
    assert all(30 <= len(message["body"].split()) <= 120 for message in made())
    times = [message["created_ts"] for message in made()]
    end_us = message_corpus.YEAR_START_US + message_corpus.YEAR_US
    assert times == sorted(times)
    assert message_corpus.YEAR_START_US <= times[0] < times[-1] < end_us
    assert len({datetime.fromtimestamp(time / 1e6, UTC).month for time in times}) == 12


def test_no_content_word_is_in_more_than_a_fifth_of_the_made_messages() -> None:
    counts = Counter(
        word
        for message in made()
        for word in set(re.findall(r"[a-z]{3,}", message["body"].lower()))
        if word not in STOP_WORDS
    )
    word, count = counts.most_common(1)[0]
    assert count <= MADE / 5, word


def test_vocabulary_grows_with_the_corpus() -> None:
    def distinct(messages: list[Json]) -> int:
        return len({word for message in messages for word in re.findall(r"[a-z]+", message["body"].lower())})

    assert distinct(made()) > 1.1 * distinct(made()[: MADE // 2])
