"""Measure what a ring of secrets costs: looking a customer up and checking a key, with one pepper and with two."""

import argparse
import re
import secrets
import statistics
import tempfile
import time
import uuid
from collections.abc import Callable
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import psycopg2
from psycopg2.extensions import connection as Connection
from psycopg2.extensions import cursor as Cursor

from app import create_app
from app.cli import migrations
from app.cli.dev.postgres import EmbeddedPostgres
from app.cli.dev.server_process import socket_folder
from app.context.service import RETRIEVE_CONTEXT
from app.core.purposes import Pepper, PepperRing
from app.customers.rules import digest_references
from app.products import keys
from app.products.rules import KeyKind
from config.settings import Settings
from tests.conftest import Servers, environment

CUSTOMERS = 20_000
CALLS = 3_000

PRODUCT = str(uuid.uuid4())

_FILL = """
    INSERT INTO customers SELECT %(product)s, md5('c' || n)::uuid, now(), now() FROM generate_series(1, %(count)s) AS n;
    INSERT INTO customer_references (product_id, kind, digest, scope, customer_id, created_at)
    SELECT %(product)s, 'user', sha256(n::text::bytea), '', md5('c' || n)::uuid, now()
    FROM generate_series(1, %(count)s) AS n;
    ANALYZE customers, customer_references
"""


def main() -> None:
    """Print the median time of each lookup and each check; the variants take turns, so that all see one machine."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=5)
    rounds = parser.parse_args().rounds
    for name, times_us in {**_retrievals(rounds), **_checks(rounds)}.items():
        print(f"{name:<52}{statistics.median(times_us):>10.2f} us")


def _retrievals(rounds: int) -> dict[str, list[float]]:
    sockets = socket_folder()
    with tempfile.TemporaryDirectory() as folder:
        postgres = EmbeddedPostgres(Path(folder) / "postgres", sockets, Path(folder) / "log", is_durable=False)
        postgres.start()
        try:
            servers = Servers(postgres.url(), "redis://127.0.0.1:1")
            url = servers.database("rings")
            app = create_app(Settings.from_env(environment(servers, url)), serves_http=False)
            with app.app_context():
                migrations.upgrade()
            with closing(psycopg2.connect(url)) as connection:
                return _measure_retrievals(connection, rounds)
        finally:
            postgres.stop()


def _measure_retrievals(connection: Connection, rounds: int) -> dict[str, list[float]]:
    connection.autocommit = True
    cursor = connection.cursor()
    cursor.execute(_FILL, {"product": PRODUCT, "count": CUSTOMERS})
    # The statement of the service takes arrays of digests; the other is the same with a single digest in their place.
    scalar = re.sub(r"ANY\((\$\d+(?:::bytea\[\])?)\)", r"\1", RETRIEVE_CONTEXT.prepare).replace("bytea[]", "bytea")
    cursor.execute(scalar.replace("PREPARE retrieve_context", "PREPARE retrieve_scalar"))
    cursor.execute(RETRIEVE_CONTEXT.prepare)
    digests = [psycopg2.Binary(secrets.token_bytes(32)) for _ in range(CUSTOMERS)]
    older = psycopg2.Binary(secrets.token_bytes(32))
    variants: dict[str, Callable[[int], object]] = {
        "retrieval by one digest": lambda n: _retrieve(cursor, "retrieve_scalar", digests[n]),
        "retrieval by an array, one pepper": lambda n: _retrieve(cursor, "retrieve_context", [digests[n]]),
        "retrieval by an array, two peppers": lambda n: _retrieve(cursor, "retrieve_context", [digests[n], older]),
    }
    return _take_turns(variants, rounds)


def _retrieve(cursor: Cursor, name: str, users: object) -> None:
    values = dict.fromkeys(RETRIEVE_CONTEXT.parameters) | {
        "product_id": PRODUCT,
        "environment_id": PRODUCT,
        "retrieval_id": str(uuid.uuid4()),
        "users": users,
        "purpose": "product_personalization",
        "now": datetime.now(UTC),
    }
    cursor.execute(RETRIEVE_CONTEXT.execute_sql.replace("retrieve_context", name), list(values.values()))
    cursor.fetchall()


def _checks(rounds: int) -> dict[str, list[float]]:
    text = keys.mint(KeyKind.PRODUCT, uuid.uuid4()).text
    old_ring, new_ring = PepperRing([b"old"]), PepperRing([b"new", b"old"])
    digest, pepper = Pepper(b"old").digest_key(text), Pepper(b"old")
    return _take_turns(
        {
            "check of a key, one pepper": lambda _: keys.matches_digest(digest, text, old_ring),
            "check of a key under the older of two": lambda _: keys.matches_digest(digest, text, new_ring),
            "digests of a reference, one pepper": lambda _: digest_references([pepper.id], None, "u1", None),
            "digests of a reference, two peppers": lambda _: digest_references([pepper.id] * 2, None, "u1", None),
        },
        rounds,
    )


def _take_turns(variants: dict[str, Callable[[int], object]], rounds: int) -> dict[str, list[float]]:
    times_us: dict[str, list[float]] = {name: [] for name in variants}
    for number in range(rounds * CALLS):
        # Each is the first in turn, so that none always follows the same one.
        names = list(variants)[number % len(variants) :] + list(variants)[: number % len(variants)]
        for name in names:
            started_at = time.perf_counter()
            variants[name](number % CUSTOMERS)
            times_us[name].append((time.perf_counter() - started_at) * 1e6)
    return times_us


if __name__ == "__main__":
    main()
