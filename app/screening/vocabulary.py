"""The words of the rules: names of credentials, names of objects that have identifiers, and placeholders."""

import re


def regex(pattern: str) -> re.Pattern[str]:
    """Compile a pattern that ignores case."""
    return re.compile(pattern, re.IGNORECASE)


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_OBJECTS = _words(
    "page next previous prev pagination paging continuation continue cursor sync resume scroll delta start stop end "
    "unexpected special change watch skip position marker list idempotency dedup dedupe retry sort primary foreign "
    "partition public cache row object s3 lookup unique composite hash range map dict json config setting feature "
    "flag translation i18n registry issue project routing group shard join index host message event record item file "
    "document metric label tag parameter query metadata redis ordering natural surrogate input output"
)
"""A token or key with one of these before it, as in `page_token` or `sort key`, is no credential."""


_QUALIFIERS = _words(
    "api access auth authentication authorization client private secret signing service admin security encryption "
    "master deploy webhook account license storage subscription consumer app shared ssh root"
)
"""A key with one of these before it is a credential; `key` alone often is not."""


def _lookbehind_bodies(words: frozenset[str], noun: str) -> list[str]:
    """Return the bodies of look-behinds for words before a noun; `re` requires that each has one width."""
    widths = sorted({len(word) for word in words})
    groups = ["|".join(sorted(word for word in words if len(word) == width)) for width in widths]
    return [f"(?:{group}){separator}{noun}" for group in groups for separator in ("", "[ _-]")]


def _without_object_prefix(noun: str) -> str:
    # The noun comes first, so that the search passes over every place where it does not stand.
    return noun + "".join(f"(?<!{body})" for body in _lookbehind_bodies(_OBJECTS, noun))


ACCESS_KEY = _without_object_prefix("key")
ACCESS_TOKEN = _without_object_prefix("token")
ANY_KEY = rf"(?:{ACCESS_KEY}|{ACCESS_TOKEN}|secret|credential)"
_QUALIFIED_KEY = f"key(?:{'|'.join(f'(?<={body})' for body in _lookbehind_bodies(_QUALIFIERS, 'key'))})"
KEY = rf"(?:{_QUALIFIED_KEY}|secret|credentials?|{ACCESS_TOKEN})"
PASSWORD = r"(?:pass[ _-]?(?:word|wd|phrase|code)|pass(?:(?==)|(?<=[_-]pass)(?![a-z]))|pwd|pw(?<![a-z]pw)(?![a-z]))"

CREDENTIAL_NOUN = regex(rf"(?:{ANY_KEY}|password|passphrase)s?\b")
"""A long random token near one of these is a secret."""

OBJECTS = _words(
    "acc account acct act actv ad addon address adj ads adset agent agt alarm album alert alrt ami ann app "
    "appointment apt archive art article artifact asin asset assets asst att attachment auction aud audience audio "
    "backend backup balance bank barcode base64 bat batch bid billing bin bk bkg bld blk blob block booking branch "
    "browser bucket bug build bundle buyer cache call campaign campaigns canary card cards cart case cat cell cfg ch "
    "channel chart chat chatcmpl check checkout checksum chg chk chunk chunks cid claim claims class cli click client "
    "cluster cm cmd cmp cmt cohort col comment commit contact container contract conv conversation conversion corr "
    "correlation coupon courier course cpn creative cron cronjob crt cs cst csv ctn ctr ctx cur cursor cus cust "
    "customer customers dag dashboard database dataset deal deals dedup delivery dep dependabot deploy deployment dev "
    "develop device di diff digest dir dispute disputes dlg dlv dns doc docker docs document domain download "
    "downloads dp dpl dpt draft drawer drive driver drv ds dump ean eid email embedding eml emp endpoint ent entry "
    "env episode error est etag eval event events evnt evt exec execution exp experiment export exports feat feature "
    "fid field fil file filename finetune fingerprint firmware fixture fl flag fld flight flow folder frm frontend ft "
    "func function gateway gauge gen gid git goal grade group grp gtin guest guid hash head hex hook host hostname "
    "hotel hotfix hst iccid id idem idempotency ids il image images imei img import impression in incident index "
    "ingredient inst instance int integrity interaction inv invitation invite invoice invoices ip ipv6 isbn issue "
    "item itm java job jobs jrn kb kind ksuid lab label latest layer layers lbl ldg lead leads lesson lgr li lic "
    "license line link linux list listing lnk load loc location lock log logs lot lst mac main mandate map master mbr "
    "mch md5 media meeting mem member memory menu merchant merge message messages meta meter method metric mid "
    "migration model module monitor msg msgbatch mtg name namespace nanoid nb network nft nightly node nodes nonce "
    "note notebook notification ntf obj object objectid obs offer offset ofr oid op operation opp opt ord order "
    "orders org pack package page pageview pallet panel parcel part partition party patch path patient pay payment "
    "payout pays pcl pg pgm photo pi pid pipeline pixel pkg pkt plan playlist plc ply pm pmt po pod pods policy poll "
    "pos post pr prc prd prediction prf price prj prm probe process prod product profile proj project promo property "
    "provider proxy prt ps pst ptr pub pvc python qry qst que query queue quiz quote quotes rate rcp rcv re reader "
    "reading rec receipt recipe record recording ref reference refs refund refunds region release renovate rep "
    "replicaset reply repo report req request requests res reservation resource resp response restore return returns "
    "rev review revision rfnd rid ride rma role room route row rpl rpt rq rsp rsv rtn rtr ruby rule run runner runs "
    "rust s3 sbs scan sch schema screenshot sct search seat seg segment seller sensor serial server service ses sess "
    "session sessions seti sha sha1 sha256 sha384 sha512 sheet shf shift ship shipment shipments shop shp shpt si sid "
    "site sku slot slug smp snap snapshot snp song source space span spanid spans spc spec spreadsheet sri stage "
    "staging statefulset statement static station step stk stm stop store stp str stream student sub submission "
    "subscription suite survey surveys svc swap sync table tag task tbl team teams telemetry template tenant terminal "
    "tgt thing thread thumbprint ticket tickets tid tier till title tkt tmp tmr toggle toolu topic tpl trace traceid "
    "traceparent track tracking trajectory tran trans transaction transcript transfer tree trf trg trial trip trk trn "
    "trx tsk twin tx txn txns txr txt typ type uid ulid unt upd upl upload uploads uri url urn usage user users usg "
    "usr uuid vch vehicle vendor vendors ver version video view vin visit visitor vm vnd vol volume vote vs vw wallet "
    "warehouse wbhk wbk wdg web webhook webhooks wf wfl wh whd whs widget wkf wkr wkt worker workflow workspace ws "
    "wsp www zone"
)
"""A random token after one of these, as in `ord_8f3k…` or `order 8f3k…`, is the identifier of an object."""

MODIFIERS = _words("live test prod production dev staging sandbox api svc pat sk bot")
"""Words between a vendor's prefix and the random part of a key, as in `abc_live_…`."""

LAST_WORD = re.compile(r"([A-Za-z0-9]+)[\s:#=\"'`(\[{]{0,5}\Z")

OBJECT_LINK = regex(
    r"\b(?:ids?|identifier|uuid|guid|numbers?|cursors?|(?:e|next|page|resume|continuation)[ _-]?(?:tag|token)|hash|"
    r"digest|checksum|commit|fingerprint|reference|trace|revision|address|serial|sku|branch|build|version|tag)"
    r"[\"'`]?\s(?:is|was|were|are|of|being|like|called|named|equals|became)"
    r"(?:\s(?:now|still|just|the|value))?\s[\"'`(\[{]{0,3}\Z"
)
"""A noun for an identifier and the words before its value: `id was`, `checksum of the`."""

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

CREDENTIAL_NAME = regex(
    r"(?:access|refresh|id|api|auth|session|csrf|client|bearer|user)[ _-]?(?:token|key|secret|password)s?\Z"
)
"""A field's name is not its value."""

WORD_PARTS = _words(
    "based style auth header headers scheme only protected authenticated authorized issued side level free aware less "
    "type format self pre non re handling authentication authorization enabled signed encoded hashed encrypted related"
)
"""A joined word with one of these parts is English, not a credential."""

SPECIFICATION = regex(
    r"(?:v?\d+(?:\.\d+)+\w*|\d{4}-\d\d(?:-\d\d)?(?:T[\d:.+-]+Z?)?|\d\d?:\d\d\S*|\d+%|0x[0-9a-f]{1,8}|"
    r"\d+(?:-\d+)?[-_]?(?:(?:char|character|bit|byte|digit|day|hour|minute|second|letter|word|week|month|year|time|"
    r"factor|step|part|way)s?|st|nd|rd|th)(?:-[a-z]+)*|"
    r"(?:sha|md|rs|hs|es|ps|aes|rsa|ed|base|oauth|http|tls|rfc|utf|argon|pbkdf|hmac|auth|s/|p|x)[-_/ ]?\d[\d.]{0,4}"
    r"(?:[-_/.][a-z]*\d{0,4})*)\Z"
)
"""A version, date, size or algorithm describes a credential."""

TECHNICAL = regex(
    r"(?:[a-z]{1,3}\d{1,4}[a-z]?|\d{1,6}[a-z]{1,3}|[a-z]\d{1,2}[a-z]{1,2}|"
    r"(?:sha|http|oauth|auth|base|node|python|step|page|row|line|stage|phase|level|tier|part|test|user|ipv|argon|port|"
    r"version|item|order|file|log|host|type|java|debian|ubuntu|alpine|postgres|mysql|redis|east|west|north|south|"
    r"central|windows|worker|server|shard|zone|round|attempt|case|day|week)\d{1,4}|\d{8}T\d{4,6}Z?)\Z"
)
"""Letters and digits that belong together in any engineer's prose."""
