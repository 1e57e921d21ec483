"""The rules for secrets, in their order.

Public rule sets look for `name = "value"` in code; what reaches us are sentences ("the key X was rejected."). So each
row looks for a shape in prose: a cheap trigger for the gate, a pattern that finds the candidate, and what the
candidate must at least look like. What is named `value` in a pattern is the candidate; without it, the match is.
"""

import re
from dataclasses import dataclass

from app.screening.shapes import Looks
from app.screening.vocabulary import ANY_KEY, KEY, PASSWORD


@dataclass(frozen=True, slots=True)
class Rule:
    """One row: `trigger` is RE2 without look-around, `pattern` is linear in Python's `re`."""

    id: str
    trigger: str
    pattern: re.Pattern[str]
    least: Looks = Looks.WORD
    shortest: int = 1
    is_named: bool = True
    """Whether the text itself calls the candidate a credential; then even a UUID or a digest counts."""


def _re(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)


_TOKEN = r"[A-Za-z0-9_+/=.~-]"
_QUOTES = r"\"'`“”‘’«»"
_OPEN = rf"[{_QUOTES}(*\[]{{0,3}}"
_VALUE = rf"(?P<value>[^\s{_QUOTES},;]{{%s,}})"
_PASSWORD_TRIGGER = r"(?i)pass[ _-]?(?:word|wd|phrase|code)|pwd|[_-]pass|\bpw\b|pass="
_KEY_TRIGGER = r"(?i)secret|token|credential|[a-z][ _-]?key"

_ABOUT = r"(?:\s(?:for|of|on|in|at|that|which|i|we|it|they)(?:\s[\w./-]{1,30}){1,3}?)?"
_VERBS = (
    r"is|was|are|were|be|being|been|has|had|will|would|should|must|set|reset|changed|updated|rotated|equals?|remains|"
    r"became|becomes|still|now|called|reads|says|shows|turned|came|out|back|value|to|as|just|currently|actually|used|like"
)
_ASIDE = r"(?:\s?\([^()\s][^()]{0,30}\))?"
_MARK = r"(?::|-{1,2}>|→|>)"
_ASSIGNED = rf"[{_QUOTES}\])]{{0,2}}\s{{0,3}}(?:=>|:=|={{1,3}})\s{{0,3}}{_OPEN}"
_SAID = (
    rf"[{_QUOTES}*]{{0,2}}{_ASIDE}{_ABOUT}"
    rf"(?:\s{{0,3}}{_MARK}\s{{0,3}}|(?:\s{{1,3}}(?:{_VERBS})){{1,4}}:?\s{{1,3}}|\s{{1,3}}(?=[{_QUOTES}])){_OPEN}"
)
"""`: `, ` -> `, `is `, `for staging was changed to `, or nothing but a quotation mark."""

RULES: tuple[Rule, ...] = (
    Rule(
        "own_key",
        r"(?i)af_live_|af_company_|afr2_|aqr1_",
        _re(r"(?:af_live|af_company|afr2|aqr1)_(?P<value>[A-Za-z0-9_.-]{12,})"),
        Looks.MIXED,
        shortest=12,
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
        Looks.RANDOM,
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
        _re(
            r"\bbearer(?:\s{1,3}(?:token|key|value|credentials?|is|was)){0,3}(?:\s{0,3}[:=]\s{0,3}|\s{1,3})"
            rf"{_OPEN}(?P<value>{_TOKEN}{{6,}})(?!{_TOKEN}|[\[(])"
        ),
        Looks.JOINED,
        shortest=6,
    ),
    Rule(
        "basic",
        r"(?i)basic",
        _re(rf"\bbasic(?:\s{{0,3}}[:=]\s{{0,3}}|\s{{1,3}}){_OPEN}(?P<value>{_TOKEN}{{10,}})"),
        Looks.RANDOM,
        shortest=10,
    ),
    Rule(
        "authorization",
        r"(?i)authorization|x-[a-z-]*(?:key|token)",
        _re(
            rf"\b(?:authorization|x-(?:[a-z]{{1,12}}-){{0,2}}(?:key|token))[{_QUOTES}]?(?:\s{{0,3}}[:=]\s{{0,3}}|"
            rf"\s{{1,3}}(?:header\s{{1,3}})?(?:is|was|of)?\s{{0,3}}){_OPEN}(?:(?:token|apikey|key|digest)\s)?"
            rf"(?P<value>{_TOKEN}{{8,}})"
        ),
        Looks.MIXED,
        shortest=8,
    ),
    Rule(
        "query_credential",
        r"(?i)[?&;#](?:key|auth|sig|signature|code|jwt|sas|hmac|access|x-amz-signature)=",
        _re(r"[?&;#](?:key|auth|sig|signature|code|jwt|sas|hmac|access|x-amz-signature)=(?P<value>[^\s&#\"']{12,})"),
        Looks.RANDOM,
        shortest=12,
    ),
    Rule(
        "cookie",
        r"(?i)cookie|sid=|sess(?:ion)?=|session_?id=|remember|xsrf",
        _re(
            r"(?:\bcookie[\"']?\s{0,3}[:=]\s{0,3}[\w.-]{1,60}|(?<![a-z])(?:connect\.sid|sid|sess|\w{0,20}session|"
            r"\w{0,10}sess(?:ion)?id|remember\w{0,10}|xsrf\w{0,10}))"
            rf"=[\"']?(?P<value>{_TOKEN}{{12,}})"
        ),
        Looks.RANDOM,
        shortest=12,
    ),
    Rule("password_assigned", _PASSWORD_TRIGGER, _re(PASSWORD + _ASSIGNED + _VALUE % 4), Looks.WORD, shortest=4),
    Rule("key_assigned", _KEY_TRIGGER, _re(KEY + _ASSIGNED + _VALUE % 4), Looks.NAME, shortest=4),
    Rule("password_said", _PASSWORD_TRIGGER, _re(PASSWORD + _SAID + _VALUE % 6), Looks.NAME, shortest=6),
    Rule("key_said", _KEY_TRIGGER, _re(KEY + _SAID + _VALUE % 6), Looks.MIXED, shortest=6),
    Rule(
        "foreign_password",
        r"(?i)passwort|kennwort|mot de passe|contraseña|senha|пароль|密码|密碼|パスワード|비밀번호",
        _re(
            r"(?:passwort|kennwort|mot de passe|contraseña|senha|пароль|密码|密碼|パスワード|비밀번호)\s{0,3}"
            rf"(?:(?:ist|war|lautet|est|était|es|era|é|это|是|为|為|は|:|=)\s{{0,3}})?{_OPEN}" + _VALUE % 6
        ),
        Looks.MIXED,
        shortest=6,
    ),
    Rule(
        "one_time_code",
        r"(?i)\bpin\b|passcode|password|\botp\b|(?:verification|one-time|security|2fa|mfa|login) code",
        _re(
            r"(?:\b(?:pin|otp)|passcode|password|(?:verification|one-time|security|2fa|mfa|login)\scode)"
            r"(?:\s{1,3}(?:code|number|is|was|it|sent|to|now|set)){0,4}\s{0,3}[:=]?\s{0,3}[\"'`(]?"
            # A number of characters, seconds or tries is no code.
            r"(?P<value>\d{4,10})(?![.:/-]?\w|%|\s(?:ms|min|[a-z]{3,20}s)\b)"
        ),
        Looks.NAME,
        shortest=4,
    ),
    Rule(
        "password_beside",
        _PASSWORD_TRIGGER,
        _re(PASSWORD + r"s?,?\s{1,3}" + _OPEN + _VALUE % 7),
        Looks.MIXED,
        shortest=7,
    ),
    Rule(
        "key_beside",
        r"(?i)key|token|secret|credential|auth\s?[:=]",
        _re(
            rf"(?:{ANY_KEY}s?|\bauth(?=\s?[:=])){_ABOUT}(?:\s{{1,3}}(?:{_VERBS})){{0,4}}[:=,]?\s{{0,3}}{_OPEN}"
            rf"(?P<value>{_TOKEN}{{16,}})"
        ),
        Looks.RANDOM,
        shortest=16,
    ),
    Rule(
        "named_after",
        r"(?i)(?:is|was|as)\s(?:the|an?|my|our|its|their|your)\s",
        _re(
            rf"(?<![^\s{_QUOTES}(]){_VALUE % 6}[{_QUOTES})*]{{0,2}}\s(?:is|was|as)\s(?:the|an?|my|our|its|their|your)\s"
            rf"(?:[\w-]{{1,20}}\s){{0,2}}?(?:{PASSWORD}|{KEY})(?![\w-]|\s(?!and|but|for|in|of|to|on|which|there|here))"
        ),
        Looks.MIXED,
        shortest=6,
    ),
    Rule(
        "prefixed_secret",
        r"(?i)(?:sk|rk|pat|secret|key|token)[_-]|[_-](?:live|test|prod|api)[_-]",
        _re(
            r"(?<![\w-])(?:(?:[a-z][a-z0-9]{0,11}[_-]){0,2}(?:sk|rk|pat|secret|key|token)|"
            r"(?:[a-z][a-z0-9]{0,11}[_-]){1,2}(?:live|test|prod|api))[_-](?P<value>[A-Za-z0-9_-]{16,})"
        ),
        Looks.RANDOM,
        shortest=16,
    ),
    Rule(
        "vendor_token",
        r"[A-Za-z][A-Za-z0-9]{1,11}[_.-][A-Za-z0-9_.-]{20}",
        re.compile(
            r"(?<![\w/.@=&?-])(?P<prefix>[A-Za-z][A-Za-z0-9]{1,11}(?:[_-](?:v?[0-9]|[a-z]{2,8}))?)(?P<mark>[_.-])"
            r"(?P<value>[A-Za-z0-9_.-]{20,})"
        ),
        Looks.RANDOM,
        shortest=20,
        is_named=False,
    ),
    Rule(
        "near_credential",
        r"[A-Za-z0-9_+/=-]{16}",
        re.compile(r"(?<![\w+/=.-])(?P<value>[A-Za-z0-9_+/=.-]{16,})"),
        Looks.RANDOM,
        shortest=16,
        is_named=False,
    ),
)
