"""Personal data in free text: candidates by pattern, checked by the libraries that implement the formats."""

import re
import string
from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple

import phonenumbers
from stdnum import iban, luhn
from stdnum.us import ssn

MIN_IBAN_LENGTH, MAX_IBAN_LENGTH = 15, 34

MAX_CACHED = 1024

_LETTER_VALUES = {ord(letter): str(value) for value, letter in enumerate(string.ascii_uppercase, 10)}
"""The numbers that stand for letters where the check digits of an account number are verified."""

_EMAIL = re.compile(r"(?<![\w.+-])([\w.%+-]{1,64})@((?:[\w-]{1,63}\.){1,8}([^\W\d_]{2,24}))(?![\w@-])")
_RESERVED_DOMAIN = re.compile(
    r"(?:^|\.)(?:example\.(?:com|net|org)|example|test|invalid|localhost|internal|local|lan|svc|service|socket|timer)\Z",
    re.I,
)
# icon@2x.png and lodash@4.17.21.tgz name files.
_FILE = re.compile(
    r"(?:.*\.)?v?\d+x?\.(?:png|jpe?g|gif|svg|webp|ico|tgz|gz|zip|whl|js|ts|css|json|ya?ml|deb|rpm)\Z", re.I
)

_CARD = re.compile(
    r"(?<![\w.])(?:\d{12,19}|\d{4}(?:[ .-]\d{4}){2}[ .-]\d{1,4}|\d{4}[ .-]\d{6}[ .-]\d{4,5})(?P<more>[ .-]\d{3})?(?!\w)"
)
_CARD_ISSUER = re.compile(
    r"(?:4(?:\d{12}|\d{15}|\d{18})|5[1-5]\d{14}|2(?:22[1-9]|2[3-9]\d|[3-6]\d\d|7[01]\d|720)\d{12}|3[47]\d{13}|"
    r"3(?:0[0-5]|[689]\d)\d{11}|6(?:011|4[4-9]\d|5\d\d)\d{12}|62\d{14,17}|35(?:2[89]|[3-8]\d)\d{12}|"
    r"(?:5018|5020|5038|5893|6304|6759|676[1-3])\d{8,15})\Z"
)
_IBAN = re.compile(r"(?<![A-Za-z0-9])[A-Z]{2}\d{2}(?:[ -]?[A-Z0-9]){11,30}(?![A-Za-z0-9])", re.I)
_SSN = re.compile(
    r"(?<![\w-])(?:\d{3}-\d{2}-\d{4}|(?:(?<=ssn )|(?<=social security number ))\d{3} ?\d{2} ?\d{4})(?![\w-])",
    re.I,
)
_PHONE = re.compile(r"(?<![\w+./:-])\+?\(?\d[\d ().-]{5,20}\d(?!\w)")
_PHONE_WORD = re.compile(
    r"\b(?:(?:tele)?phone|tel|mobile|cell|fax|sms|whatsapp|call(?:ed)?(?= (?:me|us|him|her|them|back|at|on)\b)|dial)"
    r"(?:\s(?:number|no|nr|is|was|at|on|to|me|us|him|her|them|back)){0,3}[\s:.#(]{0,4}\Z",
    re.I,
)
_FORMATTED = re.compile(r"(?:1[ .-])?(?:\([2-9]\d\d\)[ .-]?[2-9]\d\d[ .-]|[2-9]\d\d([.-])[2-9]\d\d\1)\d{4}\Z")
_DATE_OR_ADDRESS = re.compile(r"\d{4}-\d{2}-\d{2}|\d{1,3}(?:\.\d{1,3}){3}\Z")


def _is_email(text: str, match: re.Match[str]) -> bool:
    # git@host:path names a repository, and scheme://login@host a server, not a person.
    is_repository = match[1].lower() == "git" or text[match.end() : match.end() + 1] == ":"
    is_login = text[max(0, match.start() - 2) : match.start()] == "//"
    return not (is_repository or is_login or _RESERVED_DOMAIN.search(match[2]) or _FILE.match(match[2]))


def _is_card(_text: str, match: re.Match[str]) -> bool:
    # Three more digits may be the end of the number or what is printed on its back.
    without = match[0].removesuffix(match["more"] or "")
    return any(_is_card_number(re.sub(r"\D", "", number)) for number in (match[0], without))


def _is_card_number(digits: str) -> bool:
    return bool(_CARD_ISSUER.match(digits)) and len(set(digits)) > 1 and luhn.is_valid(digits)


def _is_iban(_text: str, match: re.Match[str]) -> bool:
    # Words may follow; the account number ends where its check digits say.
    words = re.split(r"[ -]", match[0])
    return any(_is_account_number("".join(words[:count])) for count in range(len(words), 0, -1))


def _is_account_number(number: str) -> bool:
    # The check digits are looked at first: the library takes fifty times as long.
    if not MIN_IBAN_LENGTH <= len(number) <= MAX_IBAN_LENGTH:
        return False
    digits = (number[4:] + number[:4]).upper().translate(_LETTER_VALUES)
    if digits.isascii() and digits.isdigit() and int(digits) % 97 != 1:
        return False
    return bool(iban.is_valid(number))


def _is_social_security_number(_text: str, match: re.Match[str]) -> bool:
    return bool(ssn.is_valid(match[0].replace(" ", "")))


def _is_phone(text: str, match: re.Match[str]) -> bool:
    number = match[0].strip(" .-")
    if ")" not in number:
        number = number.lstrip("(")
    if _DATE_OR_ADDRESS.match(number):
        return False
    if number.startswith("+"):
        return _is_possible(number)
    if _FORMATTED.match(number):
        return _is_possible("+1 " + number.removeprefix("1"))
    is_named = _PHONE_WORD.search(text[max(0, match.start() - 30) : match.start()])
    return bool(is_named) and 7 <= sum(map(str.isdigit, number)) <= 15


@lru_cache(MAX_CACHED)
def _is_possible(number: str) -> bool:
    try:
        return phonenumbers.is_possible_number(phonenumbers.parse(number, None))
    except phonenumbers.NumberParseException:
        return False


class Detector(NamedTuple):
    """One kind of personal data: a trigger for the prefilter, a pattern for candidates, and a check of each."""

    id: str
    trigger: str
    pattern: re.Pattern[str]
    is_valid: Callable[[str, re.Match[str]], bool]

    def matches(self, text: str) -> bool:
        """Tell whether a text has this kind of data."""
        return any(self.is_valid(text, match) for match in self.pattern.finditer(text))


def clear_caches() -> None:
    """Clear the cache of texts that were checked."""
    _is_possible.cache_clear()


DETECTORS: tuple[Detector, ...] = (
    Detector("email", r"@", _EMAIL, _is_email),
    Detector("iban", r"(?i)[A-Z]{2}\d{2}[ -]?[A-Z0-9]{4}", _IBAN, _is_iban),
    Detector("card", r"\d{4}[ .-]?\d{4}", _CARD, _is_card),
    Detector("ssn", r"(?i)\d{3}-\d{2}-\d{4}|(?:ssn|security number) \d", _SSN, _is_social_security_number),
    Detector("phone", r"\d[\d ().-]{5}", _PHONE, _is_phone),
)
