"""Personal data in free text: candidates by pattern, confirmed by the libraries that know the formats."""

import re
from collections.abc import Callable, Iterator

import phonenumbers
from stdnum import iban, luhn
from stdnum.us import ssn

_EMAIL = re.compile(r"(?<![\w.+-])([A-Za-z0-9._%+-]{1,64})@((?:[A-Za-z0-9-]{1,63}\.)+([A-Za-z]{2,24}))(?![\w@-])")
_RESERVED_DOMAIN = re.compile(
    r"(?:^|\.)(?:example\.(?:com|net|org)|(?:[a-z0-9-]+\.)*(?:example|test|invalid|localhost))\Z", re.I
)
_CARD = re.compile(r"(?<![\w.-])(?:\d[ -]?){12,18}\d(?![\w-])")
_CARD_ISSUER = re.compile(r"4|5[1-5]|2[2-7]|3[47]|3(?:0[0-5]|[68])|6(?:011|4[4-9]|5|2|0|7)|35")
_IBAN = re.compile(r"(?<![A-Za-z0-9])[A-Z]{2}\d{2}(?:[ ]?[A-Z0-9]){11,30}(?![A-Za-z0-9])")
_SSN = re.compile(r"(?<![\w-])\d{3}-\d{2}-\d{4}(?![\w-])")
_PHONE = re.compile(r"(?<![\w+./:-])\+?\(?\d[\d ().-]{6,20}\d(?![\w])")
_PHONE_WORD = re.compile(
    r"\b(?:phone|call(?:ed)?|tel|telephone|mobile|cell|fax|sms|whatsapp|dial|number)\b[\w\s:.#(]{0,14}\Z", re.I
)
_FORMATTED = re.compile(r"\(\d{3}\)|\d{3}[ .-]\d{3}[ .-]\d{4}\Z")
_LOOKS_LIKE_TIME = re.compile(r"\d{4}-\d{2}-\d{2}|\d{1,3}(?:\.\d{1,3}){3}\Z")


def _emails(text: str) -> Iterator[str]:
    for match in _EMAIL.finditer(text):
        # git@host:path names a repository, not a person.
        is_repository = match[1].lower() == "git" or text[match.end() : match.end() + 1] == ":"
        if not is_repository and not _RESERVED_DOMAIN.search(match[2]):
            yield match[0]


def _cards(text: str) -> Iterator[str]:
    for match in _CARD.finditer(text):
        digits = re.sub(r"\D", "", match[0])
        if _CARD_ISSUER.match(digits) and len(set(digits)) > 1 and luhn.is_valid(digits):
            yield match[0]


def _ibans(text: str) -> Iterator[str]:
    for match in _IBAN.finditer(text):
        # Words may follow in capitals; the account number ends where its check digits say.
        words = match[0].split(" ")
        if any(iban.is_valid("".join(words[:count])) for count in range(len(words), 0, -1)):
            yield match[0]


def _social_security_numbers(text: str) -> Iterator[str]:
    for match in _SSN.finditer(text):
        if ssn.is_valid(match[0]):
            yield match[0]


def _phones(text: str) -> Iterator[str]:
    for match in _PHONE.finditer(text):
        number = match[0].strip(" .-")
        if _LOOKS_LIKE_TIME.match(number):
            continue
        is_international = number.startswith("+")
        is_named = _PHONE_WORD.search(text[max(0, match.start() - 30) : match.start()])
        if (is_international or is_named or _FORMATTED.search(number)) and _is_phone(number, is_international):
            yield match[0]


def _is_phone(number: str, is_international: bool) -> bool:
    try:
        parsed = phonenumbers.parse(number, None if is_international else "US")
    except phonenumbers.NumberParseException:
        return False
    if is_international:
        return phonenumbers.is_possible_number(parsed)
    return phonenumbers.is_valid_number(parsed) or len(re.sub(r"\D", "", number)) >= 10


Finder = Callable[[str], Iterator[str]]

FINDERS: tuple[tuple[str, str, Finder], ...] = (
    ("email", r"@", _emails),
    ("card", r"(?:\d[ -]?){13}", _cards),
    ("iban", r"[A-Z]{2}\d{2}[ ]?[A-Z0-9]{4}", _ibans),
    ("ssn", r"\d{3}-\d{2}-\d{4}", _social_security_numbers),
    ("phone", r"\d[\d ().-]{6}", _phones),
)
"""Rule, trigger for the gate, and what finds the data."""
