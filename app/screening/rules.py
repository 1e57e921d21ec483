"""The rules for secrets, in their order.

Public rule sets look for `name = "value"` in code; what reaches us are sentences ("the key X was rejected."). So each
row looks for a shape in prose: a cheap trigger for the gate, a pattern that finds the candidate, and what the
candidate must look like to count. What is named `value` in a pattern is the candidate; without it, the match is.
"""

import re
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Rule:
    """One row: `trigger` is RE2 without look-around, `pattern` is linear in Python's `re`."""

    id: str
    trigger: str
    pattern: re.Pattern[str]
    shortest: int = 1
    least_entropy: float = 0.0
    """Bits a character."""
    least_classes: int = 1
    """Of lower case, upper case, digits and others."""
    needs_digit: bool = False
    may_be_word: bool = False
    """Whether a candidate of plain lower-case letters counts."""
    is_named: bool = True
    """Whether the text itself calls the candidate a credential; then even a UUID or a digest counts."""


_NAME = (
    r"(?:pass(?:word|wd|phrase|code)|pwd|secret(?:[ _-]?key)?|(?:api|access|auth|bearer|client|private|refresh|session|"
    r"signing|service|admin|security|encryption|master|deploy|webhook|account)[ _-]?(?:key|token|secret|password)|"
    r"(?<![a-z_]page )(?<![a-z_]next )(?<![a-z])token|api[ _-]?key|credentials?|(?<![a-z_-])pin)"
)
_NAME_TRIGGER = (
    r"(?i)pass(?:word|wd|phrase|code)|pwd|secret|token|credential|\bpin\b|(?:api|access|auth|private|signing|service|"
    r"encryption|master|deploy|account|admin|security|webhook|session|client)[ _-]?key"
)
_TOKEN = r"[A-Za-z0-9_+/=.~-]"


def _re(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)


RULES: tuple[Rule, ...] = (
    Rule(
        "own_key",
        r"af_live_|af_company_|afr2_|aqr1_",
        re.compile(r"(?:af_live|af_company|afr2|aqr1)_[A-Za-z0-9_.-]{12,}"),
    ),
    Rule(
        "private_key",
        r"PRIVATE KEY|PuTTY-User-Key",
        re.compile(r"-----BEGIN[A-Z0-9 ]* PRIVATE KEY|PuTTY-User-Key-File"),
    ),
    Rule("jwt", r"eyJ", re.compile(r"\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}")),
    Rule(
        "url_password",
        r"://[^\s/@]*:[^\s/@]+@",
        re.compile(r"\b[A-Za-z][A-Za-z0-9+.-]{1,30}://[^\s/:@]{0,200}:(?P<value>[^\s/@]{3,200})@"),
        may_be_word=True,
    ),
    Rule(
        "access_key_id",
        r"(?:AKIA|ASIA|AROA|ABIA|ACCA)[A-Z0-9]{12}|AIza|LTAI|AKID",
        re.compile(
            r"\b(?:(?:AKIA|ASIA|AROA|ABIA|ACCA)[A-Z0-9]{16}\b|AIza[A-Za-z0-9_-]{35}|LTAI[A-Za-z0-9]{16,24}\b|AKID[A-Za-z0-9]{28,36}\b)"
        ),
    ),
    Rule(
        "authorization",
        r"(?i)\b(?:bearer|basic|authorization|x-api-key|x-auth-token)\b",
        _re(
            r"\b(?:(?:bearer|basic)(?:[ ]+(?:token|key|value|credentials?))?(?:\s*[:=]\s*|[ ]+(?:is[ ]+|was[ ]+)?)|"
            r"(?:authorization|x-api-key|x-auth-token)[\"']?\s*[:=]\s*)[\"'`]?(?P<value>" + _TOKEN + r"{8,})"
        ),
        shortest=8,
    ),
    Rule(
        "query_credential",
        r"(?i)[?&;](?:api[_-]?key|key|[a-z_-]*token|auth|[a-z_-]*secret|password|pwd|sig|signature|code)=",
        _re(
            r"[?&;](?:api[_-]?key|key|[a-z_-]{0,20}token|auth|[a-z_-]{0,20}secret|password|pwd|sig|signature|code)="
            r"(?P<value>[^\s&#\"']{6,})"
        ),
        shortest=6,
    ),
    Rule(
        "cookie",
        r"(?i)cookie|sess(?:ion)?_?id",
        _re(
            r"(?:\bcookie[\"']?\s*[:=]\s*[\w.-]{1,60}=|\b(?:php|j|asp\.net_)?sess(?:ion)?_?id\s*=\s*)[\"']?(?P<value>"
            + _TOKEN
            + r"{12,})"
        ),
        shortest=12,
        needs_digit=True,
    ),
    Rule(
        "assignment",
        _NAME_TRIGGER,
        _re(r"\b\w{0,30}?" + _NAME + r"[\"'`]?\s{0,3}(?:=>|:=|=)\s{0,3}[\"'`]?(?P<value>[^\s\"'`,;]{4,})"),
        shortest=4,
        may_be_word=True,
    ),
    Rule(
        "labelled",
        _NAME_TRIGGER,
        _re(r"\b" + _NAME + r"[\"'`]?\s{0,3}:\s{0,3}[\"'`]?(?P<value>[^\s\"'`,;]{6,})"),
        shortest=6,
        least_classes=2,
    ),
    Rule(
        "quoted",
        _NAME_TRIGGER,
        _re(
            r"\b"
            + _NAME
            + r"\s{1,3}(?:(?:is|was|of|to|as|like|named|called|set|changed|being|value|the|with|used)\s{1,3}){0,4}"
            r"[\"'`](?P<value>[^\s\"'`]{6,})[\"'`]"
        ),
        shortest=6,
        least_classes=2,
    ),
    Rule(
        "prose",
        _NAME_TRIGGER,
        _re(
            r"\b"
            + _NAME
            + r"\s{1,3}(?:(?:is|was|are|were|be|being|has been|had been|set|reset|changed|updated|rotated|"
            r"equals|remains|became|still|now|called|reads|value|to|as)\s{1,3}){1,4}[\"'`(]?(?P<value>[^\s\"'`,;]{6,})"
        ),
        shortest=6,
        least_classes=2,
        least_entropy=2.0,
    ),
    Rule(
        "named_token",
        r"(?i)\b(?:key|token|secret|password|passphrase|credentials?|passcode)s?\b",
        _re(
            r"\b(?:key|token|secret|password|passphrase|passcode|credentials?)s?[\s:(\"'`]{1,4}(?P<value>"
            + _TOKEN
            + r"{16,})"
        ),
        shortest=16,
        least_entropy=2.8,
        least_classes=2,
        needs_digit=True,
    ),
    Rule(
        "prefixed_secret",
        r"(?i)[_-](?:live|test|prod|secret|sk|pat|key|token|api)[_-]|\b(?:sk|pk|rk|pat|key|secret|token)[_-]",
        _re(
            r"(?<![\w-])(?:[a-z][a-z0-9]{0,11}[_-])?(?:live|test|prod|secret|sk|rk|pat|key|token|api)[_-]"
            r"(?P<value>[A-Za-z0-9_-]{16,})"
        ),
        shortest=16,
        least_entropy=3.0,
        least_classes=2,
        needs_digit=True,
    ),
    Rule(
        "vendor_token",
        r"\b[A-Za-z][A-Za-z0-9]{1,11}[_.-][A-Za-z0-9_.-]{20}",
        re.compile(
            r"(?<![\w/.@-])(?P<prefix>[A-Za-z][A-Za-z0-9]{1,11}(?:[_-]v[0-9])?)[_.-](?P<value>[A-Za-z0-9_.-]{20,})"
        ),
        shortest=20,
        least_entropy=3.4,
        least_classes=2,
        needs_digit=True,
        is_named=False,
    ),
    Rule(
        "near_credential",
        r"[A-Za-z0-9_+/=-]{20}",
        re.compile(r"(?<![\w+/=.-])(?P<value>[A-Za-z0-9_+/=-]{20,})"),
        shortest=20,
        least_entropy=3.3,
        least_classes=2,
        needs_digit=True,
        is_named=False,
    ),
)

CREDENTIAL_NOUN = _re(
    r"(?<![a-z_-])(?:api|access|auth|secret|private|signing)?[ _-]?(?:keys?|tokens?|secrets?|"
    r"passwords?|credentials?|passphrase|authenticat\w+|authoriz\w+)\b"
)
"""What makes a long random token nearby a secret."""

NEARBY = 40

OBJECT_PREFIXES = frozenset(
    [
        "req",
        "request",
        "run",
        "evt",
        "event",
        "ord",
        "order",
        "inv",
        "invoice",
        "cus",
        "customer",
        "sub",
        "prod",
        "product",
        "price",
        "pi",
        "ch",
        "re",
        "tx",
        "txn",
        "trace",
        "span",
        "job",
        "task",
        "msg",
        "message",
        "thread",
        "file",
        "doc",
        "page",
        "item",
        "user",
        "usr",
        "acct",
        "account",
        "org",
        "proj",
        "project",
        "session",
        "sess",
        "ctx",
        "build",
        "deploy",
        "release",
        "commit",
        "sha",
        "sha1",
        "sha256",
        "sha512",
        "md5",
        "uuid",
        "id",
        "ref",
        "batch",
        "case",
        "ticket",
        "issue",
        "step",
        "node",
        "pod",
        "img",
        "image",
        "asst",
        "chatcmpl",
        "resp",
        "call",
        "toolu",
        "interaction",
        "cart",
        "checkout",
        "shipment",
        "ship",
        "pkg",
        "package",
        "ver",
        "version",
        "cursor",
        "sku",
    ]
)
"""A random tail behind one of these is the name of a thing."""

OBJECT_NOUN = _re(
    r"(?:\b(?:ids?|uuid|guid|hash|digest|checksum|commit|cursor|trace|span|sha-?\d*|md5|etag|revision|request|order|"
    r"reference|fingerprint|build|nonce|offset|idempotency|page|next|sort|primary|foreign|partition|public|cache|row|"
    r"object|file|s3|version)|(?:page|next|sort|primary|foreign|partition|public|cache)[ _-](?:token|key))"
    r"[\s:#=\"'`(]{0,4}\Z"
)
"""Said just before a token, it is the name of a thing."""

PLACEHOLDER = _re(
    r"[<\[{(]|\$\{|\$[A-Z_]|%[sd(]|\*{3}|x{4,}|\.{3}|…|(?:your|my|the|some|example|dummy|fake|sample|redacted|placeholder|"
    r"changeme|none|null|true|false|undefined|todo|insert)[\W_]|(?:redacted|placeholder|changeme|hidden|masked)"
)
"""A candidate that begins like this stands for a secret without being one."""

PLAIN_WORDS = frozenset(
    [
        "required",
        "missing",
        "invalid",
        "empty",
        "expired",
        "wrong",
        "reset",
        "incorrect",
        "null",
        "none",
        "true",
        "false",
        "unknown",
        "undefined",
        "optional",
        "needed",
        "present",
        "absent",
        "valid",
        "provided",
        "rejected",
        "denied",
        "refused",
        "accepted",
        "correct",
        "hidden",
        "masked",
        "string",
        "text",
        "value",
        "authentication",
        "authorization",
        "auth",
        "header",
        "headers",
        "scheme",
        "token",
        "tokens",
        "based",
        "login",
        "access",
        "error",
        "errors",
        "flow",
        "challenge",
        "credentials",
        "credential",
        "requests",
        "request",
        "support",
        "only",
        "failed",
        "works",
        "worked",
    ]
)

WORD_PARTS = frozenset(
    [
        "based",
        "style",
        "auth",
        "header",
        "headers",
        "scheme",
        "only",
        "protected",
        "authenticated",
        "issued",
        "side",
        "level",
        "free",
        "aware",
        "less",
        "type",
        "format",
        "token-based",
        "api-based",
        "self",
        "pre",
        "non",
        "re",
        "third",
        "first",
        "second",
        "two",
    ]
)
"""A hyphenated word with one of these parts is English, not a credential."""
