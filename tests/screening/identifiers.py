"""Identifiers, paths, versions and numbers as agents quote them, generated."""

import base64
import random
import string
import uuid
from collections.abc import Callable

from tests.screening.generators import fill, words

CROCKFORD = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"

OBJECT_NAMES = words(
    "order invoice customer shipment refund booking reservation ticket report document session request run job task "
    "event message thread file upload export import batch payment subscription account project workspace item "
    "product cart checkout search query page record row user conversation deployment build pipeline commit branch "
    "release image container volume cluster node instance queue topic partition snapshot backup dataset model "
    "webhook delivery notification calendar meeting contact lead campaign survey response transaction transfer "
    "dispute coupon quote"
)
OBJECT_PREFIXES = words(
    "ord inv cus ch pi pm evt sub req run job msg thread file asst resp batch sess prod price txn trx pay po re "
    "rfnd shp trk cart item user usr org proj ws doc task tkt ticket ver img vol snap dep build node wh whd call "
    "conv rec"
)
ADJECTIVES = words(
    "first second last only new old stale missing duplicate empty partial final slow wrong correct expected "
    "archived cancelled pending failed public private draft nested optional"
)
VERBS = words(
    "returned listed showed rejected accepted created updated deleted skipped ignored repeated renamed fetched "
    "cached exported imported validated logged referenced included omitted truncated reordered"
)
SERVICES = words(
    "billing search catalog checkout shipping inventory payments gateway scheduler mailer indexer auth storage "
    "orders reports analytics recommendations"
)
FIELDS = words(
    "status total currency createdAt updated_at line_items nextPage totalCount shipping_address unitPrice errorCode "
    "retryAfter order_id customerId page_size sortBy filters expiresAt description tax_rate is_active"
)
ERRORS = words(
    "ERR_CONNECTION_REFUSED ECONNRESET ETIMEDOUT E11000 ORA-00942 SQLSTATE[23505] 0x80070005 TS2345 E0308 CS8602 "
    "HTTP_429_TOO_MANY_REQUESTS INVALID_ARGUMENT RESOURCE_EXHAUSTED DEADLINE_EXCEEDED SSLV3_ALERT_HANDSHAKE_FAILURE "
    "PGRST116 P2002 WinError10061 ERR_PNPM_PEER_DEP_ISSUES NU1605 MSB3277 ValidationException "
    "ConditionalCheckFailed ORDER_ALREADY_SHIPPED rate_limit_exceeded invalid_request_error "
    "insufficient_permissions quota_exceeded_for_day"
)
Generator = Callable[[random.Random], str]


def _uuid(rng: random.Random) -> str:
    value = str(uuid.UUID(int=rng.getrandbits(128), version=rng.choice([1, 3, 4, 5])))
    spelling = rng.choice(["{}", "{}", "{}", "{}", "{{{}}}", "urn:uuid:{}", "UPPER", "'{}'", "`{}`", '"{}"', "({})"])
    return value.upper() if spelling == "UPPER" else spelling.format(value)


def _time_ordered_uuid(rng: random.Random) -> str:
    return fill("018f{hex:4}-{hex:4}-7{hex:3}-b{hex:3}-{hex:12}", rng)


def _ulid(rng: random.Random) -> str:
    return "01" + rng.choice("HJK") + "".join(rng.choices(CROCKFORD, k=23))


def _type_id(rng: random.Random) -> str:
    return f"{rng.choice(OBJECT_NAMES)}_{_ulid(rng).lower()}"


def _object_id(rng: random.Random) -> str:
    tail = rng.choice(["{base62:14}", "{base62:24}", "{base36:20}", "{hex:24}", "{base62:16}", "{base36:26}"])
    return rng.choice(OBJECT_PREFIXES) + rng.choice("__-") + fill(tail, rng)


def _digest(rng: random.Random) -> str:
    form = ("{hex:7}", "{hex:8}", "{hex:12}", "{hex:24}", "{hex:32}", "{hex:40}", "{hex:64}", "sha256:{hex:64}")
    return fill(rng.choice((*form, "sha512:{hex:128}", "0x{hex:40}", "0x{hex:64}", "{HEX:32}")), rng)


def _trace(rng: random.Random) -> str:
    form = ("00-{hex:32}-{hex:16}-01", "Root=1-{hex:8}-{hex:24}", "{hex:16}-FRA", "{hex:32}:{hex:16}:0:1")
    return fill(rng.choice(form), rng)


def _cloud_id(rng: random.Random) -> str:
    kind = rng.choice(["i", "vpc", "subnet", "sg", "vol", "ami", "eni", "snap", "rtb", "fs"])
    queue = f"{rng.choice(OBJECT_NAMES)}-queue"
    arn = f"arn:aws:{rng.choice(['s3', 'sqs', 'lambda'])}:eu-west-1:{fill('{digits:12}', rng)}:{queue}"
    return rng.choice([fill(kind + "-0{hex:16}", rng), arn])


def _pod(rng: random.Random) -> str:
    letters = "bcdfghjklmnpqrstvwxz2456789"
    tails = ("".join(rng.choices(letters, k=rng.choice([9, 10]))), "".join(rng.choices(letters, k=5)))
    return "-".join((rng.choice(SERVICES), rng.choice(["api", "worker", "web", "cron"]), *tails))


def path(rng: random.Random) -> str:
    parts = [rng.choice((*SERVICES, *OBJECT_NAMES, "src", "lib", "v2", "api", "tests", "data")) for _ in range(4)]
    name = rng.choice(
        (
            f"{rng.choice(OBJECT_NAMES)}_{rng.choice(FIELDS)}.py",
            fill("main.{hex:8}.js", rng),
            fill("chunk-{BASE36:8}.css", rng),
            fill("vendors.{hex:20}.bundle.js", rng),
            "index.html",
            f"2026-0{rng.randint(1, 9)}-{rng.randint(10, 28)}.tar.gz",
            fill("IMG_2026{digits:4}_{digits:6}.jpg", rng),
            str(uuid.UUID(int=rng.getrandbits(128), version=4)),
            fill("{digits:6}", rng),
        )
    )
    return rng.choice(["/", "./", "~/", "", "https://docs.example.com/", "s3://reports-eu/"]) + "/".join([*parts, name])


def version(rng: random.Random) -> str:
    number = f"{rng.randint(0, 20)}.{rng.randint(0, 40)}.{rng.randint(0, 90)}"
    name = rng.choice(["lodash", "django", "react-dom", "@types/node", "serde_json", "org.apache.kafka:kafka-clients"])
    forms = (
        number,
        f"v{number}-rc.{rng.randint(1, 9)}",
        f"{name}@{number}",
        f"{name} {number}",
        fill("v0.0.0-2026{digits:4}103000-{hex:12}", rng),
        fill(number + "+build.{hex:7}", rng),
        f"torch-{number}+cu118-cp311-cp311-manylinux_2_17_x86_64.whl",
        f"python:{number}-slim-bookworm",
        f"gpt-4o-mini-2026-0{rng.randint(1, 9)}-18",
        f"{rng.choice(SERVICES)}-service:{number}-alpine3.19",
    )
    return rng.choice(forms)


def _number(rng: random.Random) -> str:
    forms = (
        "ORD-2026-{digits:6}",
        "INV-{digits:4}-{digits:4}",
        "SKU-{BASE36:4}-XL-BLK-{digits:4}",
        "1Z{digits:3}AA{digits:11}",
        "#{digits:7}",
        "PROJ-{digits:4}",
        "PO{digits:8}",
        "RMA-{digits:6}-{BASE36:2}",
        "{digits:18}",
        "B0{BASE36:8}",
        "CASE-{digits:8}",
        "C0{BASE36:9}",
        "rec{base62:14}",
        "{hex:4}:{hex:4}:{hex:4}::{hex:4}",
        "TXN{digits:14}",
        "EU-{digits:3}-{digits:5}-A",
    )
    return fill(rng.choice(forms), rng)


def instant(rng: random.Random) -> str:
    day = f"2026-{rng.randint(1, 12):02}-{rng.randint(1, 28):02}"
    return rng.choice([f"{day}T{rng.randint(10, 23)}:{rng.randint(10, 59)}:00Z", day, f"{day} 10:30", "1767225600123"])


def cursor(rng: random.Random) -> str:
    text = base64.urlsafe_b64encode(f'{{"id":{rng.randint(1, 10**9)},"d":"next"}}'.encode()).decode()
    name = rng.choice(["cursor", "next cursor", "page token", "nextPageToken", "continuation token", "etag", "ETag"])
    return f"{name} {rng.choice(['', '= ', 'was '])}{rng.choice([text, fill('{base62:22}', rng)])}".replace("  ", " ")


def _node_id(rng: random.Random) -> str:
    scheme = rng.choice(["gid://shop", "cursor:v2:", "0123:", "arrayconnection:"])
    return base64.b64encode(f"{scheme}/{rng.choice(OBJECT_NAMES)}/{rng.randint(1, 10**12)}".encode()).decode()


def _short_id(rng: random.Random) -> str:
    return fill(rng.choice(["{base64url:21}", "{base62:11}", "{base62:20}", "c{base36:24}", "{base36:10}"]), rng)


def _code_name(rng: random.Random) -> str:
    camel = "".join(word.title() for word in rng.sample([*OBJECT_NAMES, *SERVICES, *VERBS], 4))
    snake = "_".join(rng.sample([*OBJECT_NAMES, *VERBS, *ADJECTIVES], 4))
    kebab = "-".join(rng.sample([*OBJECT_NAMES, *SERVICES, *ADJECTIVES], 4))
    forms = (
        camel,
        f"{camel}V{rng.randint(1, 4)}",
        camel[0].lower() + camel[1:],
        snake,
        snake.upper(),
        kebab,
        f"test_{snake}_{rng.randint(2, 999)}",
        f"com.example.{rng.choice(SERVICES)}.v{rng.randint(1, 3)}.{camel}Impl",
        f"feature/{rng.choice(string.ascii_uppercase)}PI-{rng.randint(10, 9999)}-{kebab}",
        f"{kebab}-{rng.randint(1, 99)}",
        f"{rng.choice(SERVICES)}.internal:{rng.randint(1024, 9999)}",
        f"{camel}.{rng.choice(FIELDS)}",
        f"{rng.choice(FIELDS)}={rng.randint(1, 99)}",
        "us-east-1a",
        "x86_64-unknown-linux-gnu",
    )
    return rng.choice(forms)


MAKERS: tuple[Generator, ...] = (
    *(_uuid, _uuid, _uuid, _time_ordered_uuid, _ulid, _type_id, _object_id, _object_id, _digest, _digest, _trace),
    *(_cloud_id, _node_id, _pod, path, path, version, _number, _number, instant, _code_name, _code_name),
    lambda rng: rng.choice(ERRORS),
)
"""What a note may quote without any word that says what it is."""

NAMED_MAKERS: tuple[Generator, ...] = (*MAKERS, _short_id)
"""What a note may quote behind the word that says what it is."""
