"""What is measured: each operation returns the processor microseconds of one unit."""

import random
import time
import uuid
from collections.abc import Callable, Sequence
from unittest.mock import patch

from app.core.database import transaction
from app.interactions import service as interactions
from app.interactions.feed import Feed, FeedCriteria
from app.outcomes.queries import REVIEWS
from app.reports.queries import REPORTS
from app.retention import service as retention
from app.summaries import service as summaries
from app.telemetry import persistence
from bench.growth.site import Site
from bench.load import request
from tests.factories import NOTE, event

BATCH = 50
BATCHES = 100
REQUESTS = 300
JOB_RUNS = 10
MINUTES = 5
BATCHES_OF_A_MINUTE = 1_000_000 // (24 * 60) // BATCH
TELEMETRY = "/api/v2/telemetry/batches"
PURPOSE = "product_personalization"

Operation = Callable[[Site], float]


def new_id() -> str:
    """Return a version 4 UUID whose first 48 bits are the time, as the SDKs make them."""
    value = (time.time_ns() // 1_000_000 << 80) | random.getrandbits(80)
    return str(uuid.UUID(int=value & ~(0xF << 76) & ~(0x3 << 62) | 0x4 << 76 | 0x2 << 62))


def batch_request(site: Site, size: int = BATCH) -> bytes:
    """Return a batch of new interactions of twenty operations."""
    events = [
        event(
            new_id(),
            operation=f"/orders/:id/step-{n % 20}",
            statusCode=200,
            durationMs=12.5,
            customerRef=f"account_{visit % 500}",
            sessionRef=f"visit_{visit}",
            sessionSource="customer",
        )
        for n, visit in enumerate(random.choices(range(1000), k=size))
    ]
    return request(site.stack.url, TELEMETRY, site.stack.company.product_key, {"events": events})


def _measure(site: Site, run: Callable[[], object], units: int) -> float:
    """Return the processor microseconds of one of `units`, after a checkpoint."""
    site.checkpoint()
    before = site.cpu_s()
    run()
    return (site.cpu_s() - before) / units * 1e6


def accept_and_persist(site: Site) -> float:
    """Measure an event from its request to its row."""
    requests = [batch_request(site) for _ in range(BATCHES)]

    def run() -> None:
        site.send(requests, 202)
        site.run(persistence.persist_waiting_batches)

    return _measure(site, run, BATCH * BATCHES)


def roll_up(site: Site) -> float:
    """Measure a minute's roll-up at a million interactions a day, of batches that were persisted one by one."""
    site.run(summaries.roll_up_changes)
    requests = [batch_request(site) for _ in range(BATCHES_OF_A_MINUTE * MINUTES)]
    used_s = 0.0
    site.checkpoint()
    for start in range(0, len(requests), BATCHES_OF_A_MINUTE):
        site.send(requests[start : start + BATCHES_OF_A_MINUTE], 202)
        with patch.object(persistence, "BATCH_SIZE", 1):
            site.run(persistence.persist_waiting_batches)
        before = site.cpu_s()
        site.run(summaries.roll_up_changes)
        used_s += site.cpu_s() - before
    return used_s / MINUTES * 1e6


def record_review(site: Site) -> float:
    """Measure a review's request, of an interaction that telemetry has not named yet."""
    requests = _reviews(site, [new_id() for _ in range(REQUESTS)])
    try:
        return _measure(site, lambda: site.send(requests, 200), REQUESTS)
    finally:
        site.run(interactions.promote_queued_interactions)


def promote(site: Site) -> float:
    """Measure the promotion of an interaction that telemetry has stored."""
    ids = [new_id() for _ in range(REQUESTS)]
    for start in range(0, REQUESTS, 100):
        body = {"events": [event(id_) for id_ in ids[start : start + 100]]}
        site.send([request(site.stack.url, TELEMETRY, site.stack.company.product_key, body)], 202, clients=1)
    site.run(persistence.persist_waiting_batches)
    site.send(_reviews(site, ids), 200)
    return _measure(site, lambda: site.run(interactions.promote_queued_interactions), REQUESTS)


def _reviews(site: Site, ids: Sequence[str]) -> list[bytes]:
    body = {"outcome": "success", "note": NOTE}
    return [request(site.stack.url, "/api/v2/outcomes", site.stack.company.capability(id_), body) for id_ in ids]


def send_report(site: Site) -> float:
    """Measure a report's request."""
    body = {"summary": "It helped, with a little friction.", "impact": "helped"}
    return _measure_requests(site, "/api/v2/reports", body)


def introspect(site: Site) -> float:
    """Measure the introspection of a capability."""
    return _measure_requests(site, "/api/v2/capabilities/introspect", None)


def _measure_requests(site: Site, path: str, body: object) -> float:
    requests = [request(site.stack.url, path, site.stack.company.capability(new_id()), body) for _ in range(REQUESTS)]
    try:
        return _measure(site, lambda: site.send(requests, 200), REQUESTS)
    finally:
        site.run(interactions.promote_queued_interactions)


def retrieve(site: Site) -> float:
    """Measure a retrieval of customer context."""
    body = {"purpose": PURPOSE, "userRef": "user_1"}
    content = request(site.stack.url, "/api/v2/customer-context", site.stack.company.company_key, body)
    return _measure(site, lambda: site.send([content] * REQUESTS, 200), REQUESTS)


def ask(site: Site) -> float:
    """Measure a request for customer context."""
    body = {"purpose": PURPOSE, "userRef": "user_1", "operation": "/search", "surface": "http_json", "remember": True}
    requests = [
        request(
            site.stack.url,
            "/api/v2/enrichment/requests",
            site.stack.company.company_key,
            {**body, "interactionId": new_id()},
        )
        for _ in range(REQUESTS // 5)
    ]
    return _measure(site, lambda: site.send(requests, 200), len(requests))


def expire_nothing(site: Site) -> float:
    """Measure the retention jobs when nothing is due."""
    jobs = (
        retention.expire_feedback,
        retention.expire_enrichment,
        retention.expire_evidence,
        retention.expire_sign_ins,
    )
    return _measure(site, lambda: [site.run(job) for _ in range(JOB_RUNS) for job in jobs], JOB_RUNS)


def page(path: str) -> Operation:
    """Return the operation that measures a page of a signed-in user."""

    def run(site: Site) -> float:
        host = site.stack.url.partition("//")[2]
        content = f"GET {path} HTTP/1.1\r\nHost: {host}\r\nCookie: {site.cookie}\r\nAccept: text/html\r\n\r\n".encode()
        return _measure(site, lambda: site.send([content] * REQUESTS, 200), REQUESTS)

    return run


def list_feed(feed: Feed, **criteria: str) -> Operation:
    """Return the operation that measures what `flask review list` or `flask report list` reads."""

    def run(site: Site) -> float:
        feed_criteria = FeedCriteria([site.environment_id], **criteria)

        def read() -> None:
            for _ in range(JOB_RUNS):
                with transaction():
                    feed.list_newest(feed_criteria, 50)

        return _measure(site, lambda: site.run(read), JOB_RUNS)

    return run


OPERATIONS: dict[str, Operation] = {
    "telemetry, an event accepted and persisted in batches of 50": accept_and_persist,
    "review": record_review,
    "promotion of a review": promote,
    "report": send_report,
    "introspection": introspect,
    "retrieval": retrieve,
    "request for context": ask,
    "roll-up of a minute of a day of 1,000,000": roll_up,
    "retention jobs, nothing due": expire_nothing,
    "page /": page("/"),
    "page /account": page("/account"),
    "flask review list": list_feed(REVIEWS),
    "flask review list --outcome failure": list_feed(REVIEWS, outcome="failure"),
    "flask review list --operation": list_feed(REVIEWS, operation="/orders/:id/step-10"),
    "flask report list": list_feed(REPORTS),
}
