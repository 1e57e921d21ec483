"""Decide whether what a rule's pattern matched is a secret."""

import base64
import re
from functools import lru_cache

from app.screening.rules import Kind, Rule
from app.screening.shapes import MAX_CACHED, Shape, classify, is_unreadable, trim
from app.screening.vocabulary import CREDENTIAL_NOUN, LAST_WORD, MODIFIERS, OBJECT_LINK, OBJECTS

NEARBY = 40
"""How many characters before a random token a word can make it a credential; behind it, half as many."""

MIN_TOKEN_LENGTH = 20
"""Of an unnamed token, with its prefix."""

MIN_HEX_LENGTH = 32
MAX_HEX_PREFIX_LENGTH = 5
"""A short prefix before a long digest makes a token; behind a longer one it is an image tag or a file."""

MIN_BARE_UNREADABLE = 24
"""Of the unreadable chunks of an unnamed token without a prefix."""

ENCODED_START_LENGTH = 12
"""Nine bytes: at random, one token in ten thousand begins with as many printable characters."""

_URL_ALPHABET = str.maketrans("-_", "+/")
_IDENTIFIER = re.compile(
    # UUID, ULID (also behind a type name), Go's pseudo-version, a compact instant.
    r"(?<![0-9a-z])(?:[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}|0[0-7][0-9a-hjkmnp-tv-z]{24}|"
    r"\d{14}-[0-9a-f]{12}|20\d{6}t?\d{4,6}z?)(?![0-9a-z])",
    re.I,
)
_DIGEST_RUN = re.compile(r"(?<![0-9a-z])(?:0x)?[0-9a-f]{6,}(?![0-9a-z])", re.I)
_DIGESTS = re.compile(r"(?:0x)?[0-9a-f]+(?:[-:.][0-9a-f]+)*\Z", re.I)
_CONTENT_ADDRESS = re.compile(r"(?:Qm[1-9A-HJ-NP-Za-km-z]{44}|baf[a-z2-7]{50,}|(?:bc|tb)1[a-z0-9]{30,})\Z")
_SEPARATOR = re.compile(r"[^A-Za-z0-9]")
_FILE_OR_HOST = re.compile(r"\.[a-z]{2,12}\Z")
_MEMBER = re.compile(r"\w{1,30}=(?=\w)")
_LETTERS_THEN_HEX = re.compile(r"[A-Za-z]{2,5}[0-9a-f]{32,}\Z")
_WORD_PART = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+")
_WORDS_ONLY = re.compile(r"[a-z]+(?:[_./+=-][a-z]+)*\Z")
_SENTENCE_END = re.compile(r"[.;!?]\s")


def is_secret(rule: Rule, text: str, match: re.Match[str]) -> bool:
    """Decide about one match of a rule's pattern."""
    groups = match.groupdict()
    if "value" not in groups:
        return True
    value = trim(groups["value"] or groups["other"])
    if len(value) < rule.min_length:
        return False
    if rule.kind is Kind.NAMED:
        return classify(value) >= rule.min_shape
    prefix, mark = (match["prefix"], match["mark"]) if rule.kind is Kind.PREFIXED else ("", "")
    # What surrounds a token is looked at last: it costs more, and few candidates are random.
    if not is_random_token(rule.kind, prefix, mark, value):
        return False
    if rule.kind is Kind.NEARBY and not _is_near_credential(text, match):
        return False
    before = text[max(0, match.start() - NEARBY) : match.start()]
    return not _is_object_id(before, _head(prefix, value))


@lru_cache(MAX_CACHED)
def is_random_token(kind: Kind, prefix: str, mark: str, value: str) -> bool:
    """Decide by itself about a token that nothing calls a credential directly."""
    if _WORDS_ONLY.match(value) or _FILE_OR_HOST.search(value) or _CONTENT_ADDRESS.match(value):
        return False
    if not prefix:
        value = _MEMBER.sub("", value, count=1)
    head, *modifiers = _SEPARATOR.split((prefix or value).lower())
    names = {head, *(set(modifiers) - MODIFIERS)} if prefix else {head}
    if not OBJECTS.isdisjoint(names):
        return False
    if kind is Kind.PREFIXED:
        return _is_prefixed_token(head, modifiers, mark, value)
    if _DIGESTS.match(value) or _is_encoded_text(value):
        return False
    return _is_bare_token(value) if kind is Kind.BARE else _is_nearby_token(value, head)


def _head(prefix: str, value: str) -> str:
    """Return the first part of a token's prefix, or of a token without one."""
    return _SEPARATOR.split((prefix or _MEMBER.sub("", value, count=1)).lower(), maxsplit=1)[0]


def _is_prefixed_token(head: str, modifiers: list[str], mark: str, body: str) -> bool:
    token = "-".join((head, *modifiers, body))
    if len(token) < MIN_TOKEN_LENGTH or _DIGESTS.match(token):
        return False
    if (remainder := _IDENTIFIER.sub("", token)) != token:
        return classify(trim(remainder)) is Shape.RANDOM
    if _DIGESTS.match(body) and mark != "_" and MODIFIERS.isdisjoint(modifiers):
        return len(head) <= MAX_HEX_PREFIX_LENGTH and len(body) >= MIN_HEX_LENGTH
    return classify(body) is Shape.RANDOM


def _is_nearby_token(value: str, head: str) -> bool:
    """Tell whether a token is random without its identifiers; a long digest behind a word stays."""
    remainder = _IDENTIFIER.sub("", value)
    if not head.isalpha() or len(remainder) < MIN_HEX_LENGTH:
        remainder = _DIGEST_RUN.sub("", remainder)
    return classify(trim(remainder)) is Shape.RANDOM


def _is_bare_token(value: str) -> bool:
    """Tell whether a long token mixes letters of both cases and digits, or is too long and random for a name."""
    if value.startswith("eyJ") or _IDENTIFIER.search(value):
        return False
    if _LETTERS_THEN_HEX.match(value):
        return True
    chunks = [chunk for chunk in _SEPARATOR.split(value) if is_unreadable(chunk) and not _DIGESTS.match(chunk)]
    unreadable_text = "".join(chunks)
    if len(unreadable_text) < MIN_BARE_UNREADABLE:
        return False
    if any(map(str.isupper, unreadable_text)) and any(map(str.islower, unreadable_text)):
        return any(map(str.isdigit, unreadable_text))
    return len(chunks) == 1 and len(unreadable_text) >= MIN_HEX_LENGTH and sum(map(str.isdigit, unreadable_text)) >= 3


def _is_encoded_text(value: str) -> bool:
    """Tell whether a token begins with readable text in base64, as cursors and node ids do."""
    try:
        start = base64.b64decode(value[:ENCODED_START_LENGTH].translate(_URL_ALPHABET), validate=True)
    except ValueError:
        return False
    return start.isascii() and start.decode().isprintable()


def _is_object_id(words_before: str, head: str) -> bool:
    """Tell whether the words before a token name a thing: `order`, `customerId`, `the id was`, `base64,`."""
    if OBJECT_LINK.search(words_before) or words_before.endswith("base64,"):
        return True
    word = LAST_WORD.search(words_before)
    if word is None:
        return False
    parts = [part.lower() for part in _WORD_PART.findall(word[1])]
    # `shipment ship_…`: a prefix that shortens the noun before it.
    is_short_form = len(head) >= 3 and word[1].lower().startswith(head) and not CREDENTIAL_NOUN.match(word[1])
    return is_short_form or not OBJECTS.isdisjoint((word[1].lower(), *parts))


def _is_near_credential(text: str, match: re.Match[str]) -> bool:
    """Tell whether the same sentence has a credential noun close to a match."""
    words_before = _SENTENCE_END.split(text[max(0, match.start() - NEARBY) : match.start()])[-1]
    words_after = _SENTENCE_END.split(text[match.end() : match.end() + NEARBY // 2], maxsplit=1)[0]
    return bool(CREDENTIAL_NOUN.search(words_before) or CREDENTIAL_NOUN.search(words_after))
