"""The formats that must always be found, keys as well as personal data, made at run time."""

import base64
import itertools
import random
import string
from collections.abc import Callable, Iterator

import phonenumbers
from stdnum import iban, luhn

from tests.screening.generators import fill


def _own_key(rng: random.Random) -> str:
    return fill(
        rng.choice(
            (
                "af_live_{hex:32}_{hex:32}_{base64url:43}",
                "af_company_{hex:32}_{base64url:43}",
                "af_read_{hex:32}_{base64url:43}",
                "afr2_{hex:32}.{base64url:120}.{base64url:43}",
                "aqr1_{hex:32}.{base64url:43}",
            )
        ),
        rng,
    )


def _private_key(rng: random.Random) -> str:
    kind = rng.choice(["", "RSA ", "EC ", "DSA ", "OPENSSH ", "ENCRYPTED "])
    return f"-----BEGIN {kind}PRIVATE KEY----- " + fill("{base62:40}", rng)


def _jwt(rng: random.Random) -> str:
    parts = ['{"alg":"HS256","typ":"JWT"}', fill('{"sub":"{digits:10}","iat":{digits:10}}', rng)]
    segments = [base64.urlsafe_b64encode(part.encode()).decode().rstrip("=") for part in parts]
    return ".".join([*segments, fill("{base64url:43}", rng)])


def _url_password(rng: random.Random) -> str:
    scheme = rng.choice(["postgres", "mysql", "mongodb+srv", "amqp", "redis", "https", "ftp"])
    password = fill(rng.choice(["{base62:16}", "{word}", "{word}{digits:2}"]), rng)
    return f"{scheme}://{rng.choice(['ops', 'admin', ''])}:{password}@host.dev/x"


def _access_key_id(rng: random.Random) -> str:
    return (
        fill(rng.choice(["AKIA", "ASIA"]) + "{BASE36:16}", rng)
        if rng.random() < 0.5
        else fill("AIza{base64url:35}", rng)
    )


def _email(rng: random.Random) -> str:
    login = rng.choice(("jane.{base36:5}", "{base36:8}", "jane+{base36:3}", "j_{digits:4}", "JANE{digits:2}"))
    return fill(login, rng) + "@" + rng.choice(["corp-mail.com", "mail.co.uk", "uni-bonn.de", "163.com", "a.b.firm.io"])


_CARDS = (
    ("4", 16, (4, 4, 4, 4)),
    ("4", 13, (13,)),
    ("51", 16, (4, 4, 4, 4)),
    ("55", 16, (4, 4, 4, 4)),
    ("2221", 16, (4, 4, 4, 4)),
    ("2720", 16, (4, 4, 4, 4)),
    ("34", 15, (4, 6, 5)),
    ("37", 15, (4, 6, 5)),
    ("36", 14, (4, 6, 4)),
    ("305", 14, (4, 6, 4)),
    ("6011", 16, (4, 4, 4, 4)),
    ("65", 16, (4, 4, 4, 4)),
    ("644", 16, (4, 4, 4, 4)),
    ("62", 16, (4, 4, 4, 4)),
    ("62", 19, (4, 4, 4, 4, 3)),
    ("3528", 16, (4, 4, 4, 4)),
    ("6759", 16, (4, 4, 4, 4)),
)


def _card(rng: random.Random) -> str:
    prefix, length, groups = rng.choice(_CARDS)
    digits = prefix + "".join(rng.choices(string.digits, k=length - len(prefix) - 1))
    digits += luhn.calc_check_digit(digits)
    offsets = itertools.accumulate(groups, initial=0)
    number = rng.choice(["", " ", "-"]).join(digits[start:end] for start, end in itertools.pairwise(offsets))
    return number + rng.choice(["", " 12/29", " 123"])


_IBANS = (
    "DE{check}{digits:18}",
    "NL{check}ABNA{digits:10}",
    "GB{check}WEST{digits:14}",
    "AT{check}{digits:16}",
    "CH{check}{digits:17}",
    "IE{check}AIBK{digits:14}",
    "PL{check}{digits:24}",
    "SE{check}{digits:20}",
    "DK{check}{digits:14}",
    "LU{check}{digits:16}",
)


def _iban(rng: random.Random) -> str:
    while True:
        number = fill(rng.choice(_IBANS), rng)
        number = number.replace("{check}", iban.calc_check_digits(number.replace("{check}", "00")))
        if iban.is_valid(number, check_country=True):
            break
    text = " ".join(number[start : start + 4] for start in range(0, len(number), 4))
    return rng.choice([number, text, number.lower()])


def _ssn(rng: random.Random) -> str:
    area = rng.choice([*range(1, 666), *range(667, 900)])
    return f"{area:03}-{rng.randrange(1, 100):02}-{rng.randrange(1, 10_000):04}"


_REGIONS = ("US", "DE", "GB", "FR", "ES", "IN", "BR", "JP", "AU", "PL", "NL", "ZA", "MX", "CN", "SE", "CH")


def _international_phone(rng: random.Random) -> str:
    style = rng.choice([phonenumbers.PhoneNumberFormat.E164, phonenumbers.PhoneNumberFormat.INTERNATIONAL])
    kind = rng.choice([phonenumbers.PhoneNumberType.MOBILE, phonenumbers.PhoneNumberType.FIXED_LINE])
    number = phonenumbers.example_number_for_type(rng.choice(_REGIONS), kind)
    assert number is not None
    return phonenumbers.format_number(number, style)


def _american_phone(rng: random.Random) -> str:
    area, exchange, line = rng.randrange(201, 990), rng.randrange(200, 1000), rng.randrange(10_000)
    style = rng.choice(["({}) {}-{:04}", "{}-{}-{:04}", "{}.{}.{:04}", "1-{}-{}-{:04}", "({}){}-{:04}"])
    return style.format(area, exchange, line)


def _named_phone(rng: random.Random) -> str:
    introduction = rng.choice(
        ["phone", "phone number is", "mobile:", "Tel.", "fax", "call him at", "WhatsApp", "cell:"]
    )
    return introduction + " " + rng.choice(["0", "", "1"]) + fill("{digits:9}", rng)


FORMATS: dict[str, tuple[str, Callable[[random.Random], str]]] = {
    "own_key": ("own_key", _own_key),
    "private_key": ("private_key", _private_key),
    "jwt": ("jwt", _jwt),
    "url_password": ("url_password", _url_password),
    "access_key_id": ("access_key_id", _access_key_id),
    "email": ("email", _email),
    "card": ("card", _card),
    "iban": ("iban", _iban),
    "ssn": ("ssn", _ssn),
    "international_phone": ("phone", _international_phone),
    "american_phone": ("phone", _american_phone),
    "named_phone": ("phone", _named_phone),
}
"""Format, the rule that knows it, and what makes one."""

LISTED_SENTENCES = (
    "The answer had {it} in it.",
    "{it}",
    "It showed {it}.",
    "The tool printed ({it}) for no reason.",
    "The customer entered {it} and the call failed 3 times.",
    "After 2 tries it returned {it}, which is odd.",
    'Then "{it}" was refused.',
    "Found: {it}; nothing else.",
)


def generate_texts(name: str, rng: random.Random, rounds: int = 12) -> Iterator[str]:
    """Yield many of one listed format, each in each sentence."""
    for _ in range(rounds):
        for sentence in LISTED_SENTENCES:
            yield sentence.replace("{it}", FORMATS[name][1](rng))
