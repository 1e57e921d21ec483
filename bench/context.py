"""Measure what customer context costs, with a thousand signals and with a million: `python -m bench.context`."""

import argparse
import statistics
import tempfile
import uuid
from contextlib import closing
from pathlib import Path

import psycopg2
from agent_feedback.interaction_id import new_interaction_id

from app.core.purposes import Pepper, Purpose
from app.customers.rules import digest_references
from bench.load import request, send
from bench.measure import bare_flask
from tests.journeys.stack import Stack, running_stack

REQUESTS = 1_500
PROBED = 200
"""Customers that are asked for; each of theirs has five signals."""

SIGNALS_EACH = 5
FEW, MANY = 1_000, 1_000_000

PURPOSE = "product_personalization"

_CUSTOMERS = """
    WITH made AS (
        INSERT INTO customers (product_id, id, created_at, last_seen_at)
        SELECT %(product)s, gen_random_uuid(), now(), now() FROM generate_series(1, %(customers)s) RETURNING id
    ), named AS (
        INSERT INTO customer_references (product_id, kind, digest, scope, customer_id, created_at)
        SELECT %(product)s, 'user', decode(md5(id::text) || md5(reverse(id::text)), 'hex'), '', id, now() FROM made
    ), chosen AS (
        INSERT INTO customer_choices (product_id, customer_id, purpose, decision, decided_at)
        SELECT %(product)s, id, 'product_personalization', 'approved', now() FROM made
    )
    INSERT INTO signals (product_id, id, environment_id, interaction_id, customer_id, purpose, key, type, value,
                         summary, provenance, remembered, created_at, expires_at)
    SELECT %(product)s, gen_random_uuid(), %(environment)s, gen_random_uuid(), made.id, 'product_personalization',
           (ARRAY['content.format', 'interest.topic', 'travel.stay_style', 'shopping.priority', 'b2b.primary_goal'])[n],
           'preference', 'price', 'Something: price', 'agent_reports_user_statement', true, now(),
           now() + interval '90 days'
    FROM made, generate_series(1, %(each)s) n
"""


def main() -> None:
    """Measure retrieval and asking at both sizes in one run."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=3, help="the middle one of so many counts")
    rounds = parser.parse_args().rounds
    with tempfile.TemporaryDirectory() as folder, running_stack(Path(folder)) as stack, bare_flask(stack) as (bare, _):
        users = fill(stack, FEW, PROBED) * (REQUESTS // PROBED)
        few = _measure(stack, users, rounds)
        empty = [request(bare, "/", None, {})] * REQUESTS
        endpoint_ms = statistics.median(send(bare, empty, 1, 200).p50_ms for _ in range(rounds))
        fill(stack, MANY - FEW, 0)
        many = _measure(stack, users, rounds)
    print(f"\n{'':<50}{'1,000':>10}{'1,000,000':>12}{'ratio':>8}{'target':>8}")
    for name in few:
        print(f"{name:<50}{few[name]:>7.2f} ms{many[name]:>9.2f} ms{many[name] / few[name]:>8.2f}{'<=1.5':>8}")
    ratio = few["retrieve, p50, one client"] / endpoint_ms
    print(f"{'retrieve / Flask endpoint, p50':<50}{endpoint_ms:>7.2f} ms{'':>12}{ratio:>8.2f}{'<=2.6':>8}")


def _measure(stack: Stack, users: list[str], rounds: int) -> dict[str, float]:
    measured: dict[str, list[float]] = {}
    for _ in range(rounds):
        for name, path, bodies in (
            ("retrieve, p50, one client", "/api/v2/customer-context", [query_body(user) for user in users]),
            ("ask, p50, one client", "/api/v2/enrichment/requests", [ask_body(user) for user in users]),
        ):
            sent = [request(stack.url, path, stack.company.company_key, body) for body in bodies]
            measured.setdefault(name, []).append(send(stack.url, sent, 1, 200).p50_ms)
    return {name: statistics.median(values) for name, values in measured.items()}


def query_body(user: str) -> dict[str, object]:
    """Return the body of a retrieval."""
    return {"purpose": PURPOSE, "userRef": user}


def ask_body(user: str) -> dict[str, object]:
    """Return the body of a request for context."""
    return {
        **query_body(user),
        "interactionId": new_interaction_id(),
        "operation": "/search",
        "surface": "http_json",
        "remember": True,
    }


def fill(stack: Stack, signals: int, probed: int) -> list[str]:
    """Add signals; returns the references of the first `probed` of their customers."""
    product = uuid.UUID(str(stack.company.product_id))
    pepper = Pepper(stack.environ["AGENT_FEEDBACK_KEY_PEPPER"].encode())
    users = [f"user-{number}" for number in range(probed)]
    with closing(psycopg2.connect(stack.database_url)) as connection, connection.cursor() as cursor:
        values = {"product": str(product), "environment": str(stack.company.environment_id), "each": SIGNALS_EACH}
        cursor.execute(_CUSTOMERS, {**values, "customers": signals // SIGNALS_EACH})
        statement = "SELECT customer_id FROM customer_references WHERE product_id = %s LIMIT %s"
        cursor.execute(statement, (str(product), probed))
        for user, (customer_id,) in zip(users, cursor.fetchall(), strict=True):
            digest = digest_references([pepper.derive(Purpose.CUSTOMER_REFERENCES, product)], None, user, None).user[0]
            rename = "UPDATE customer_references SET digest = %s WHERE product_id = %s AND customer_id = %s"
            cursor.execute(rename, (digest, str(product), customer_id))
        connection.commit()
        connection.autocommit = True
        cursor.execute("VACUUM ANALYZE signals, customers, customer_references, customer_choices")
    return users


if __name__ == "__main__":
    main()
