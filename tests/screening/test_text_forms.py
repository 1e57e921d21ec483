"""Encodings and look-alike letters hide no secret."""

import html
import random
from collections.abc import Callable
from urllib.parse import quote

import pytest

from app.screening.scanner import find_private
from app.screening.text_forms import text_forms
from tests.screening.generators import fill

PASSWORD = fill("{word}{base36:6}!7", random.Random(1))
STATEMENT = f'It sent {{"password":"{PASSWORD}"}} to the service.'


def percent(text: str) -> str:
    return quote(text, safe="")


def entities(text: str) -> str:
    return "".join(f"&#{ord(letter)};" for letter in text)


def hex_entities(text: str) -> str:
    return "".join(f"&#x{ord(letter):x};" for letter in text)


def json_escapes(text: str) -> str:
    return "".join(f"\\u{ord(letter):04x}" for letter in text)


@pytest.mark.parametrize("first", [percent, html.escape, entities, hex_entities, json_escapes])
@pytest.mark.parametrize("second", [str, percent, html.escape])
def test_an_encoding_hides_no_secret(first: Callable[[str], str], second: Callable[[str], str]) -> None:
    assert find_private(second(first(STATEMENT))) is not None


@pytest.mark.parametrize("escape", ['\\"', '\\\\\\"', "&quot;", "%22", "%2522", "&amp;quot;", "\\u0022"])
def test_an_escaped_quotation_mark_hides_no_password(escape: str) -> None:
    assert find_private(STATEMENT.replace('"', escape)) is not None


@pytest.mark.parametrize(
    "word", ["pаssword", "раsswоrd", "pаѕѕwоrd", "рassωord", "Ρassword", "pássword", "pαsswοrd", "passwоrԁ"]
)
def test_a_look_alike_letter_hides_no_password(word: str) -> None:
    assert find_private(f"The {word} is {PASSWORD} for now.") is not None


@pytest.mark.parametrize("word", ["tоken", "аpi_key", "ѕеcrеt", "аccess tοken"])
def test_a_look_alike_letter_hides_no_key(word: str) -> None:
    assert find_private(f"The {word} is {fill('{base62:24}', random.Random(2))} for now.") is not None


@pytest.mark.parametrize(
    "note",
    [
        "Das Ergebnis für München war vollständig.",
        "Поиск вернул три заказа, сумма верна.",
        "Ο χρήστης βρήκε την παραγγελία αμέσως.",
        "The filter name%20like%20x &amp; y worked.",
        "100% of R&D pages loaded; C:\\data\\new was empty.",
        "検索は二回目で成功しました。",
    ],
)
def test_other_languages_and_encodings_pass(note: str) -> None:
    assert find_private(note) is None


@pytest.mark.parametrize("text", ["plain words", "", "a=1&b=2", "C:\\new\\path"])
def test_a_text_without_encodings_has_one_form(text: str) -> None:
    assert list(text_forms(text)) == [text]


def test_the_number_of_forms_is_bounded() -> None:
    text = "é %" + "25" * 50 + "41"
    assert len(list(text_forms(text))) <= 5
