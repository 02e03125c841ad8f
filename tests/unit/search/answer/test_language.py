"""The language of a request, told by its script or its words."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from skillroute.search.answer.language import language_of


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("法令を調べて", "ja"), ("ｶﾚﾝﾀﾞｰ", "ja"), ("PDF を変換", "ja"), ("发送邮件", "zh"), ("이메일을 보내줘", "ko"),
        ("ส่งอีเมล", "th"), ("отправить письмо", "ru"), ("знайди мій файл у Google Drive", "uk"),
        ("ارسل رسالة", "ar"), ("στείλε ένα μήνυμα", "el"), ("שלח הודעה", "he"), ("संदेश भेजो", "hi"),
        ("Wie wird das Wetter morgen in Berlin?", "de"), ("quelle est la météo à Paris", "fr"),
        ("Quiero ver los archivos de mi proyecto", "es"), ("mostre os arquivos do meu projeto", "pt"),
        ("FINDE ALLE DATEIEN DIE ICH HABE", "de"), ("Los archivos de mi proyecto", "es"),
        ("enviar un correo", "es"), ("Wetter in Berlin", "de"), ("Restaurants in der Nähe", "de"),
        ("envoyer un mail", "fr"), ("criar uma tarefa", "pt"), ("weer morgen", "nl"), ("skapa en faktura", "sv"),
        ("meteo a Roma", "it"), ("usuń plik", "pl"), ("hava durumu", "tr"), ("kirim email", "id"),
        ('"enviar un correo"', "es"),
        ("thời tiết ở Hà Nội", "vi"), ("quali sono i file della cartella", "it"),
        ("stuur een e-mail naar mijn baas", "nl"),
    ],
)  # fmt: skip
def test_another_language_is_named(text: str, language: str) -> None:
    assert language_of(text) == language


@pytest.mark.parametrize(
    "text",
    [
        "", "?!", "42", "send an email", "café menu", "naïve façade", "translate 'hello' into 日本語",
        "flights to La Paz",
        "book a table at El Toro in Las Vegas", "search for die hard on the web", "AQHI from O3 NO2 PM2.5", "😀",
        "is DE123456789 a genuine european business tax id", "list the files of the Los Angeles and San Diego offices",
        "\ud800", "Los Angeles Las Vegas flight price", "Los Alamos to Las Cruces bus", "El Paso del Norte weather",
        "MIT die cast parts", "hotel agenda", "nova client documents", "envoy proxy", "envia_documento", "open files",
        "translate 'enviar un correo'", "datos.gob.es catalogue", "send to maria@correo.es", "calculate sales tax",
        "SSH into server \"server.com\" as user \"remote_user\"", "terminate job", "map data", "photo editor",
        "restaurant menu file", "résumé parser", "jalapeño recipe", "São Paulo weather", "Zürich train times",
    ],
)  # fmt: skip
def test_english_and_what_cannot_be_told_is_no_other_language(text: str) -> None:
    assert language_of(text) is None


def test_short_requests_in_other_languages_are_told_from_english() -> None:
    told: Counter[bool] = Counter()
    for line in (Path(__file__).parents[3] / "data" / "foreign_requests.txt").read_text("utf-8").splitlines():
        if not line.startswith("#"):
            told[language_of(line.partition(": ")[2]) is not None] += 1

    assert told[True] >= 0.95 * told.total()
