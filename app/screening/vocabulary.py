"""The words that the rules know: what names a credential, what names a mere thing, and what stands for a secret."""

import re


def _re(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_THINGS = _words(
    "page next previous prev pagination paging continuation continue cursor sync resume scroll delta start stop end "
    "unexpected special change watch skip position marker list idempotency dedup dedupe retry sort primary foreign "
    "partition public cache row object s3 lookup unique composite hash range map dict json config setting feature "
    "flag translation i18n registry issue project routing group shard join index host message event record item file "
    "document metric label tag parameter query metadata redis ordering natural surrogate input output"
)
"""A token or key of one of these, as in `page_token` or `sort key`, is no credential."""


_QUALIFIERS = _words(
    "api access auth authentication authorization client private secret signing service admin security encryption "
    "master deploy webhook account license storage subscription consumer app shared ssh root"
)
"""A key of one of these is a credential; a mere `key` often is not."""


def _behind(words: frozenset[str], noun: str) -> list[str]:
    """Return what stands before a noun as bodies for look-behinds, each of one width, as `re` wants it."""
    widths = sorted({len(word) for word in words})
    groups = ["|".join(sorted(word for word in words if len(word) == width)) for width in widths]
    return [f"(?:{group}){separator}{noun}" for group in groups for separator in ("", "[ _-]")]


def _of_no_thing(noun: str) -> str:
    # The noun comes first, so that the search passes over every place where it does not stand.
    return noun + "".join(f"(?<!{body})" for body in _behind(_THINGS, noun))


ANY_KEY = rf"(?:{_of_no_thing('key')}|{_of_no_thing('token')}|secret|credential)"
_QUALIFIED_KEY = f"key(?:{'|'.join(f'(?<={body})' for body in _behind(_QUALIFIERS, 'key'))})"
KEY = rf"(?:{_QUALIFIED_KEY}|secret|credentials?|{_of_no_thing('token')})"
PASSWORD = r"(?:pass[ _-]?(?:word|wd|phrase|code)|pass(?:(?==)|(?<=[_-]pass)(?![a-z]))|pwd|pw(?<![a-z]pw)(?![a-z]))"

CREDENTIAL_NOUN = _re(rf"(?:{ANY_KEY}|password|passphrase)s?\b")
"""What makes a long random token nearby a secret."""

OBJECTS = _words(
    "account acct address ami artifact asset asst attachment backup batch billing branch bucket build bundle call "
    "cart case ch channel chart chat chatcmpl checkout checksum chunk claim cluster cm comment commit config "
    "contact container conv conversation correlation coupon cpn csv ctr ctx cursor cus cust customer data dataset "
    "delivery deploy deployment dev device di digest dir dlv doc docs document dp dpl draft ds email embedding "
    "endpoint entry env episode error etag event evt exec execution exp export file fingerprint fl flow folder form "
    "ft func function gen git group hash head hook host id idempotency ids il image img import in index inst "
    "instance int interaction inv invoice issue item job label layer lead lesson li line link list log main mandate "
    "map md5 media meeting memory merge message meta method model module msg msgbatch namespace network node nonce "
    "note notification obj object offset op operation opp ord order org output pack package page parcel part "
    "partition party path pay payment payout pi pipeline pkg plan pm po pod post pr price process prod product "
    "profile proj project promo ps query queue quote re receipt record ref reference refund region release rep "
    "reply repo report req request res resource resp response result rev review revision rfnd row rs rule run s3 "
    "scan schema screenshot search segment sess session seti sha sha1 sha256 sha384 sha512 sheet ship shipment shp "
    "si site sku slot snap snapshot source space span stage staging step store stream sub subscription survey table "
    "tag task team template tenant test thread ticket tmp toolu topic trace track tracking trajectory tran "
    "transaction transfer trip trk tx txn txr upl upload user usr uuid ver version video view visit vol volume vs "
    "warehouse web wf widget workflow workspace ws"
)
"""A random tail behind one of these, as in `ord_8f3k…` or `order 8f3k…`, is the name of a thing."""

LAST_WORD = re.compile(r"([A-Za-z0-9]+)[\s:#=\"'`(\[]{0,4}\Z")

PLACEHOLDER = re.compile(
    r"[<\[{(]+\D*\Z|\$\{|\$\(|\$[A-Z_]+\Z|\{\{|%[sd(]|(?:process\.env|os\.environ|env|secrets|config|settings|vars)[.\[(]|"
    r"[A-Za-z_.]+[\[(]|(?i:(?:your|my|the|some|example|dummy|fake|sample|null|todo|insert)[\W_]|"
    r"(?:redacted|placeholder|changeme|hidden|masked))"
)
"""A candidate that begins like this stands for a secret without being one."""

MASKED = re.compile(r"\*{3,}|[xX]{4,}|\.{3,}|…|•{3,}|#{3,}|_{4,}")

PLAIN_WORDS = _words(
    "required missing invalid empty expired wrong reset incorrect null none nil true false unknown undefined optional "
    "needed present absent valid provided rejected denied refused accepted correct hidden masked string text value "
    "authentication authorization auth header headers scheme token tokens based login access error errors flow "
    "challenge credentials credential requests request support only failed works worked password pass secret bearer "
    "basic await input redacted removed omitted revoked rotated unset blank default enabled disabled"
)

CREDENTIAL_NAME = _re(
    r"(?:access|refresh|id|api|auth|session|csrf|client|bearer|user)[ _-]?(?:token|key|secret|password)s?\Z"
)
"""A field's name is not its value."""

WORD_PARTS = _words(
    "based style auth header headers scheme only protected authenticated authorized issued side level free aware less "
    "type format self pre non re handling authentication authorization enabled signed encoded hashed encrypted related"
)
"""A joined word with one of these parts is English, not a credential."""

SPECIFICATION = _re(
    r"(?:v?\d+(?:\.\d+)+\w*|\d{4}-\d\d(?:-\d\d)?(?:T[\d:.+-]+Z?)?|\d\d?:\d\d\S*|\d+%|0x[0-9a-f]{1,8}|"
    r"\d+(?:-\d+)?[-_]?(?:(?:char|character|bit|byte|digit|day|hour|minute|second|letter|word|week|month|year|time|"
    r"factor|step|part|way)s?|st|nd|rd|th)(?:-[a-z]+)*|"
    r"(?:sha|md|rs|hs|es|ps|aes|rsa|ed|base|oauth|http|tls|rfc|utf|argon|pbkdf|hmac|auth|s/|p|x)[-_/ ]?\d[\d.]{0,4}"
    r"(?:[-_/.][a-z]*\d{0,4})*)\Z"
)
"""A version, date, size or algorithm describes a credential."""

TECHNICAL = _re(
    r"(?:[a-z]{1,3}\d{1,4}[a-z]?|\d{1,6}[a-z]{1,3}|[a-z]\d{1,2}[a-z]{1,2}|"
    r"(?:sha|http|oauth|auth|base|node|python|step|page|row|line|stage|phase|level|tier|part|test|user|ipv|argon|port|"
    r"version|item|order|file|log|host|type|java|debian|ubuntu|alpine|postgres|mysql|redis|east|west|north|south|"
    r"central|windows|worker|server|shard|zone|round|attempt|case|day|week)\d{1,4}|\d{8}T\d{4,6}Z?)\Z"
)
"""Letters and digits that belong together in any engineer's prose."""
