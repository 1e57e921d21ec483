"""The rules for secrets, in their order.

Public rule sets look for `name = "value"` in code; what reaches us are sentences ("the key X was rejected."). So each
row looks for a shape in prose: a cheap trigger for the prefilter, a pattern that finds the candidate, and what the
candidate must at least look like. What is named `value` in a pattern is the candidate; without it, the match is.
"""

import re
from dataclasses import dataclass
from enum import Enum

from app.screening.shapes import Shape
from app.screening.vocabulary import ACCESS_KEY, ACCESS_TOKEN, ANY_KEY, KEY, PASSWORD, regex


class Kind(Enum):
    """How a rule's pattern knows its candidate."""

    NAMED = 0
    """The text itself calls the candidate a credential; then even a UUID or a digest counts."""
    PREFIXED = 1
    """A vendor's prefix stands before it."""
    BARE = 2
    """By its length and shape alone."""
    NEARBY = 3
    """A credential noun stands near it."""


@dataclass(frozen=True, slots=True)
class Rule:
    """One row: `trigger` is RE2 without look-around, `pattern` is linear in Python's `re`."""

    id: str
    trigger: str
    pattern: re.Pattern[str]
    min_shape: Shape = Shape.WORD
    min_length: int = 1
    kind: Kind = Kind.NAMED


_TOKEN = r"[A-Za-z0-9_+/=.~-]"
_QUOTES = r"\"'`“”‘’«»"
_OPEN = rf"[{_QUOTES}(*\[]{{0,3}}"
_VALUE = rf"(?P<value>[^\s{_QUOTES},;]{{%s,}})"
_PASSWORD_TRIGGER = r"(?i)pass[ _-]?(?:word|wd|phrase|code)|pwd|[_-]pass|\bpw\b|pass="
_TOKEN_TRIGGER = r"[A-Za-z0-9_+/=.-]{16}"
"""One for all: in an RE2 set, several long repetitions multiply each other's states."""
_KEY_TRIGGER = r"(?i)secret|token|credential|[a-z][ _-]?key"

_ABOUT = r"(?:\s(?:for|of|on|in|at|that|which|i|we|it|they)(?:\s[\w./-]{1,30}){1,3}?)?"
_VERBS = (
    r"is|was|are|were|be|being|been|has|had|will|would|should|must|set|reset|changed|updated|rotated|equals?|remains|"
    r"became|becomes|still|now|called|reads|says|shows|turned|came|out|back|value|to|as|just|currently|actually|used|like"
)
_ASIDE = r"(?:\s?\([^()\s][^()]{0,30}\))?"
_MARK = r"(?::|-{1,2}>|→|>)"
_ASSIGNED = rf"[{_QUOTES}\])]{{0,2}}\s{{0,3}}(?:=>|:=|={{1,3}})\s{{0,3}}{_OPEN}"
_STATED = (
    rf"[{_QUOTES}*]{{0,2}}{_ASIDE}{_ABOUT}"
    rf"(?:\s{{0,3}}{_MARK}\s{{0,3}}|(?:\s{{1,3}}(?:{_VERBS})){{1,4}}:?\s{{1,3}}|\s{{1,3}}(?=[{_QUOTES}])){_OPEN}"
)
"""`: `, ` -> `, `is `, `for staging was changed to `, or nothing but a quotation mark."""

RULES: tuple[Rule, ...] = (
    Rule(
        "own_key",
        r"(?i)af_live_|af_company_|af_read_|afr2_|aqr1_",
        regex(r"(?:af_live|af_company|af_read|afr2|aqr1)_(?P<value>[A-Za-z0-9_.-]{12,})"),
        Shape.MIXED,
        min_length=12,
    ),
    Rule(
        "private_key",
        r"PRIVATE KEY|PuTTY-User-Key",
        re.compile(r"-----BEGIN[A-Z0-9 ]{0,40} PRIVATE KEY|PuTTY-User-Key-File"),
    ),
    Rule("jwt", r"eyJ", re.compile(r"(?<![A-Za-z0-9_-])eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}")),
    Rule(
        "url_password",
        r"://[^\s/@]*:[^\s/@]+@",
        re.compile(r"://[^\s/:@]{0,200}:(?P<value>[^\s/@]{3,200})@"),
    ),
    Rule(
        "url_token",
        r"://[^\s/@:]{16,}@",
        re.compile(r"://(?P<value>[^\s/:@]{16,200})@"),
        Shape.RANDOM,
    ),
    Rule(
        "access_key_id",
        r"(?:AKIA|ASIA|AROA|ABIA|ACCA)[A-Z0-9]{12}|AIza|LTAI|AKID|GOOG",
        re.compile(
            r"(?<![A-Za-z0-9])(?:(?:AKIA|ASIA|AROA|ABIA|ACCA)[A-Z0-9]{16}(?![A-Za-z0-9])|AIza[A-Za-z0-9_-]{35}|"
            r"LTAI[A-Za-z0-9]{16,24}(?![A-Za-z0-9])|AKID[A-Za-z0-9]{28,36}(?![A-Za-z0-9])|GOOG1?[A-Z0-9]{20,60})"
        ),
    ),
    Rule(
        "bearer",
        r"(?i)bearer",
        regex(
            r"\bbearer(?:\s{1,3}(?:token|key|value|credentials?|is|was)){0,3}(?:\s{0,3}[:=]\s{0,3}|\s{1,3})"
            rf"{_OPEN}(?![a-z_.]+/[a-z_.]+/)(?P<value>{_TOKEN}{{6,}})(?!{_TOKEN}|[\[(])"
        ),
        Shape.COMPOUND,
        min_length=6,
    ),
    Rule(
        "basic",
        r"(?i)basic",
        regex(rf"\bbasic(?:\s{{0,3}}[:=]\s{{0,3}}|\s{{1,3}}){_OPEN}(?P<value>{_TOKEN}{{10,}})"),
        Shape.RANDOM,
        min_length=10,
    ),
    Rule(
        "authorization",
        r"(?i)authorization|x-[a-z-]*(?:key|token)",
        regex(
            rf"\b(?:authorization|x-(?:[a-z]{{1,12}}-){{0,2}}(?:key|token))[{_QUOTES}]?(?:\s{{0,3}}[:=]\s{{0,3}}|"
            rf"\s{{1,3}}(?:header\s{{1,3}})?(?:is|was|of)?\s{{0,3}}){_OPEN}(?:(?:token|apikey|key|digest)\s)?"
            rf"(?P<value>{_TOKEN}{{8,}})"
        ),
        Shape.MIXED,
        min_length=8,
    ),
    Rule(
        "query_credential",
        r"(?i)[?&;#](?:key|auth|sig|signature|code|jwt|sas|hmac|access|x-amz-signature)=",
        regex(r"[?&;#](?:key|auth|sig|signature|code|jwt|sas|hmac|access|x-amz-signature)=(?P<value>[^\s&#\"']{12,})"),
        Shape.RANDOM,
        min_length=12,
    ),
    Rule(
        "cookie",
        r"(?i)cookie|sid=|sess(?:ion)?=|session_?id=|remember|xsrf",
        regex(
            r"(?:\bcookie[\"']?\s{0,3}[:=]\s{0,3}[\w.-]{1,60}|(?<![a-z])(?:connect\.sid|sid|sess|\w{0,20}session|"
            r"\w{0,10}sess(?:ion)?id|remember\w{0,10}|xsrf\w{0,10}))"
            rf"=[\"']?(?P<value>{_TOKEN}{{12,}})"
        ),
        Shape.RANDOM,
        min_length=12,
    ),
    Rule("password_assigned", _PASSWORD_TRIGGER, regex(PASSWORD + _ASSIGNED + _VALUE % 4), Shape.WORD, min_length=4),
    Rule("key_assigned", _KEY_TRIGGER, regex(KEY + _ASSIGNED + _VALUE % 4), Shape.IDENTIFIER, min_length=4),
    Rule("password_said", _PASSWORD_TRIGGER, regex(PASSWORD + _STATED + _VALUE % 6), Shape.IDENTIFIER, min_length=6),
    Rule("key_said", _KEY_TRIGGER, regex(KEY + _STATED + _VALUE % 6), Shape.MIXED, min_length=6),
    Rule(
        "foreign_password",
        r"(?i)passwort|kennwort|mot de passe|contraseña|senha|пароль|密码|密碼|パスワード|비밀번호",
        regex(
            r"(?:passwort|kennwort|mot de passe|contraseña|senha|пароль|密码|密碼|パスワード|비밀번호)\s{0,3}"
            rf"(?:(?:ist|war|lautet|est|était|es|era|é|это|是|为|為|は|:|=)\s{{0,3}})?{_OPEN}" + _VALUE % 6
        ),
        Shape.MIXED,
        min_length=6,
    ),
    Rule(
        "one_time_code",
        r"(?i)\bpin\b|passcode|password|\botp\b|(?:verification|one-time|security|2fa|mfa|login) code",
        regex(
            r"(?:\b(?:pin|otp)|passcode|password|(?:verification|one-time|security|2fa|mfa|login)\scode)"
            r"(?:\s{1,3}(?:code|number|is|was|it|sent|to|now|set)){0,4}\s{0,3}[:=]?\s{0,3}[\"'`(]?"
            # A number of characters, seconds or tries is no code.
            r"(?P<value>\d{4,10})(?![.:/-]?\w|%|\s(?:ms|min|[a-z]{3,20}s)\b)"
        ),
        Shape.IDENTIFIER,
        min_length=4,
    ),
    Rule(
        "password_beside",
        _PASSWORD_TRIGGER,
        regex(PASSWORD + r"s?,?\s{1,3}" + _OPEN + _VALUE % 7),
        Shape.MIXED,
        min_length=7,
    ),
    Rule(
        "key_beside",
        r"(?i)key|token|secret|credential|auth\s?[:=]",
        regex(
            rf"(?:{ANY_KEY}s?|\bauth(?=\s?[:=])){_ABOUT}(?:\s{{1,3}}(?:{_VERBS})){{0,4}}"
            rf"(?:\s{{0,3}}[:=,]\s{{0,3}}|\s{{1,3}}|(?=[{_QUOTES}(*\[])){_OPEN}(?P<value>{_TOKEN}{{16,}})"
        ),
        Shape.RANDOM,
        min_length=16,
    ),
    Rule(
        "named_after",
        r"(?i)(?:is|was|as)\s(?:the|an?|my|our|its|their|your)\s",
        regex(
            rf"(?<![^\s{_QUOTES}(]){_VALUE % 6}[{_QUOTES})*]{{0,2}}\s(?:(?:is|was|got)\s[a-z]{{3,12}}\s)?"
            r"(?:is|was|as)\s(?:the|an?|my|our|its|their|your)\s"
            rf"(?:[\w-]{{1,20}}\s){{0,2}}?(?:{PASSWORD}|{KEY})(?![\w-]|\s(?!and|but|for|in|of|to|on|which|there|here))"
        ),
        Shape.MIXED,
        min_length=6,
    ),
    Rule(
        "used_as_password",
        r"(?i)\sas\s",
        regex(
            r"\b(?:us(?:e|es|ed|ing)|with|enter(?:s|ed|ing)?|typ(?:e|es|ed|ing)|tried|trying|sen[dt]|sending|gave|put|set)"
            rf"\s{_OPEN}{_VALUE % 4}[{_QUOTES})*]{{0,2}}\sas\s(?:(?:the|an?|my|our|its|their|your|his|her)\s)?"
            rf"(?:[\w-]{{1,20}}\s){{0,2}}?{PASSWORD}(?![\w-]|\s(?!and|but|for|in|of|to|on|which|there|here|with))"
        ),
        Shape.IDENTIFIER,
        min_length=4,
    ),
    Rule(
        "command_login",
        r"(?i)\s(?:-u|--user|--proxy-user)[ =]?[^\s:]+:",
        regex(
            r"\b(?:curl|wget|https?|xh|ab)\b[^|;\n]{0,160}?\s(?:-u|--user|--proxy-user)[ =]{0,2}[\"']?[^\s:\"']{1,64}:"
            r"(?P<value>[^\s\"'`]{3,})"
        ),
        Shape.WORD,
        min_length=3,
    ),
    Rule(
        "command_password",
        r"\s-p[^\s]|\s-[paw]\s",
        re.compile(
            r"\b(?:(?:mysql|mariadb)[\w-]{0,12}\b[^|;\n]{0,120}?\s-p(?!ort\b)[\"']?(?P<value>[^\s\"'`]{3,})|"
            r"(?:sshpass\s-p|redis-cli\b[^|;\n]{0,80}?\s-a|(?:docker|podman|helm)\b[^|;\n]{0,40}?\slogin\b[^|;\n]{0,80}?\s-p|"
            r"mongo(?:sh|dump)?\b[^|;\n]{0,80}?\s-p|ldap\w{1,10}\b[^|;\n]{0,120}?\s-w)\s[\"']?(?P<other>[^\s\"'`]{3,}))"
        ),
        Shape.WORD,
        min_length=3,
    ),
    Rule(
        "login_pair",
        r"(?i)pass(?:wd)?[\"']?\s?[:=]|cred(?:ential)?s?\b|log(?:ged)?[ -]?in\b",
        regex(
            rf"\b(?:user(?:[ _-]?name)?|login|account|email)[{_QUOTES}]?\s{{0,2}}[:=]\s{{0,2}}{_OPEN}"
            rf"[^\s{_QUOTES},;]{{1,64}}[{_QUOTES}]?[\s,;/|&]{{1,3}}(?:and\s)?{_OPEN}pass"
            rf"[{_QUOTES}]?\s{{0,2}}[:=]\s{{0,2}}{_OPEN}{_VALUE % 4}"
        ),
        Shape.WORD,
        min_length=4,
    ),
    Rule(
        "credential_pair",
        r"(?i)cred(?:ential)?s?\b|log(?:ged)?[ -]?in\b",
        regex(
            r"(?<![\w.-])(?:cred(?:ential)?s?|log(?:ged|s)?[ -]?in)"
            rf"(?:\s(?:are|were|is|was|with|as|using|for|of|by|the)){{0,3}}:?\s{_OPEN}[\w.@+-]{{2,40}}\s?[/:|]\s?"
            + _VALUE
            % 5
        ),
        Shape.IDENTIFIER,
        min_length=5,
    ),
    Rule(
        "prefixed_secret",
        r"(?i)(?:sk|rk|pat|secret|key|token)[_-]",
        regex(
            rf"(?<![\w-])(?:[a-z][a-z0-9]{{0,11}}[_-]){{0,2}}"
            rf"(?:sk|rk|pat|secret|{ACCESS_KEY}|{ACCESS_TOKEN})[_-](?P<value>[A-Za-z0-9_-]{{16,}})"
        ),
        Shape.RANDOM,
        min_length=16,
    ),
    Rule(
        "vendor_token",
        _TOKEN_TRIGGER,
        re.compile(
            r"(?<![\w/.@=&?%-])(?P<prefix>[A-Za-z][A-Za-z0-9]{0,11}(?:[_.-](?:v?[0-9]{1,2}|[a-z]{2,8})){0,2})"
            r"(?P<mark>[_.-])(?P<value>[A-Za-z0-9_.-]{16,})(?![/@(])"
        ),
        Shape.RANDOM,
        min_length=16,
        kind=Kind.PREFIXED,
    ),
    Rule(
        "random_token",
        _TOKEN_TRIGGER,
        re.compile(r"(?<![\w/.@=&?%+-])(?P<value>[A-Za-z0-9_.-]{30,})(?![\w/@(])"),
        Shape.RANDOM,
        min_length=30,
        kind=Kind.BARE,
    ),
    Rule(
        "near_credential",
        _TOKEN_TRIGGER,
        re.compile(r"(?<![\w+/=.-])(?P<value>[A-Za-z0-9_+/=.-]{16,})"),
        Shape.RANDOM,
        min_length=16,
        kind=Kind.NEARBY,
    ),
)
