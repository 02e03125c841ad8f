"""Requests in Japanese, Chinese, Korean and Thai, by words: both indexes, every strategy, the model there or away."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.builders import System, lent_system
from tests.doubles import EdgeIndexes, at

TOOLS = {
    "search_laws": "日本の法令を検索します。憲法や政令も検索できます。",
    "mail_send": "이메일을 보냅니다",
    "wechat_mail": "发送邮件给联系人",
    "weather_cn": "查询城市的天气预报",
    "pdf_convert": "PDFファイルを別の形式に変換します",
    "air_today": "พยากรณ์อากาศวันนี้",
    "send_email": "Send an email to people.",
}
ASKED = {
    "法令を調べて": "search_laws",
    "憲法": "search_laws",
    "이메일": "mail_send",
    "이메일을 보내줘": "mail_send",
    "帮我发送邮件": "wechat_mail",
    "今天天气怎么样": "weather_cn",
    "PDF を変換": "pdf_convert",
    "ＰＤＦを変換してください": "pdf_convert",
    "อากาศ": "air_today",
    "send an email": "send_email",
}


@pytest.fixture(params=["embedded", "postgres"])
def system(request: pytest.FixtureRequest, database_url: str, edge_indexes: EdgeIndexes) -> Iterator[System]:
    with lent_system(database_url, edge_indexes, index=request.param) as system:
        for name, description in TOOLS.items():
            system.tool(name, at(0.5), description=description)
        yield system


@pytest.mark.parametrize("strategy", ["hierarchical", "direct", "hybrid"])
def test_by_words_the_right_tool_is_first(system: System, strategy: str) -> None:
    found = {query: system.names(query, mode="lexical", strategy=strategy)[:1] for query in ASKED}
    assert found == {query: [name] for query, name in ASKED.items()}


def test_while_the_model_is_away_it_is_as_well(system: System) -> None:
    system.embedder.away = True
    answers = {query: system.search(query, mode="hybrid", strategy="direct") for query in ASKED}
    assert {answer.metadata.search_mode for answer in answers.values()} == {"lexical-only"}
    assert {query: answer.tools[0].name for query, answer in answers.items()} == ASKED


def test_a_skill_is_found_by_words_too(system: System) -> None:
    system.skill("law", at(0.4), description="日本の法律と判例を調査する")
    system.tool("list_courts", at(0.5), skills=["law"], description="裁判所の一覧")
    answer = system.search("法律", mode="lexical", strategy="hierarchical")
    assert [skill.id for skill in answer.matched_skills] == ["law"]


def test_what_shares_no_word_is_not_found(system: System) -> None:
    assert system.names("東京駅", mode="lexical", strategy="direct") == []


def test_an_answer_says_in_which_language_the_request_is(system: System) -> None:
    asked = {"法令を調べて": "ja", "이메일": "ko", "send an email to all people": None}
    answers = {query: system.search(query, strategy="direct").metadata.language for query in asked}
    assert answers == asked
