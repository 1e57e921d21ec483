"""The forms of a text that are scanned: as displayed, with encodings decoded, and with look-alike letters replaced."""

import html
import re
import unicodedata
from collections.abc import Iterator
from urllib.parse import unquote

MAX_DECODINGS = 3
"""How many layers of percent-encoding, HTML entities and JSON escapes are decoded."""

# Patterns: `str.translate` with a dict takes ten times as long.
_INVISIBLE = re.compile(
    r"[\u00AD\u034F\u061C\u180E\uFEFF\u200B-\u200F\u202A-\u202E\u2060-\u2064\uFE00-\uFE0F\uD800-\uDFFF]"
)

_LOOK_ALIKES = {
    "a": "аαɑ",
    "b": "Ь",
    "c": "сϲ",
    "d": "ԁɗ",
    "e": "еєε",
    "g": "ɡց",
    "h": "һհ",
    "i": "іıιɩ",
    "j": "јϳ",
    "k": "кκ",
    "l": "ӏ",
    "m": "м",
    "n": "пոη",
    "o": "оοօσ",
    "p": "рρ",
    "q": "ԛգ",
    "r": "гɾ",
    "s": "ѕꜱ",
    "t": "тτ",
    "u": "υսʋ",
    "v": "ѵν",
    "w": "ԝшωա",
    "x": "хχ",
    "y": "уγү",
    "z": "ᴢ",
    "A": "АΑ",
    "B": "ВΒ",
    "C": "СϹ",
    "E": "ЕΕ",
    "H": "НΗ",
    "I": "ІΙӀ",
    "J": "Ј",
    "K": "КΚ",
    "M": "МΜ",
    "N": "Ν",
    "O": "ОΟ",
    "P": "РΡ",
    "S": "Ѕ",
    "T": "ТΤ",
    "W": "Ԝ",
    "X": "ХΧ",
    "Y": "ҮΥ",
    "Z": "Ζ",
}
"""ASCII letters and the Cyrillic, Greek, Armenian and Latin letters that are drawn like them."""

_TO_ASCII = {letter: ascii_ for ascii_, letters in _LOOK_ALIKES.items() for letter in letters}
_LOOK_ALIKE = re.compile(f"[{''.join(_TO_ASCII)}]")
_JSON_ESCAPE = re.compile(r"\\u([0-9a-fA-F]{4})|(?<!\\)\\+([\"'/])")


def text_forms(text: str) -> Iterator[str]:
    """Yield the text as it is displayed, then each decoded form, then the form without look-alike letters."""
    text = _displayed(text)
    yield text
    for _ in range(MAX_DECODINGS):
        decoded_text = _decode(text)
        if decoded_text == text:
            break
        text = _displayed(decoded_text)
        yield text
    if not text.isascii() and (plain_text := _without_look_alikes(text)) != text:
        yield plain_text


def _displayed(text: str) -> str:
    return text if text.isascii() else _INVISIBLE.sub("", unicodedata.normalize("NFKC", text))


def _decode(text: str) -> str:
    """Remove one layer of encoding."""
    if "%" in text:
        text = unquote(text, errors="replace")
    if "&" in text:
        text = html.unescape(text)
    if "\\" in text:
        text = _JSON_ESCAPE.sub(lambda match: chr(int(match[1], 16)) if match[1] else match[2], text)
    return text


def _without_look_alikes(text: str) -> str:
    """Replace letters that look like ASCII letters, and remove accents."""
    letters = unicodedata.normalize("NFKD", _LOOK_ALIKE.sub(lambda match: _TO_ASCII[match[0]], text))
    return "".join(letter for letter in letters if not unicodedata.combining(letter))
