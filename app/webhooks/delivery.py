"""Send the deliveries that are due: claimed and recorded in short transactions, sent outside of any."""

import time
import uuid
from collections import Counter
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait

from app.core.database import transaction
from app.core.single_run import SingleRun
from app.webhooks import log, service
from app.webhooks.due import DueDelivery, claim_due
from app.webhooks.results import record
from app.webhooks.sender import Attempt, send

MAX_IN_FLIGHT = 32
"""Deliveries that a worker process sends at the same time."""

MAX_FAILING_IN_FLIGHT = 16
"""Of these, to endpoints whose last attempt failed: those may wait for time-outs while the others go on."""

BUDGET_S = 30.0
"""A run claims nothing after it; the next one goes on."""

CLAIM_INTERVAL_S = 0.25
"""How often to look for what became due while something is being sent."""

InFlight = dict[Future[Attempt], DueDelivery]
"""What is being sent."""


def deliver_due(budget_s: float = BUDGET_S) -> int:
    """Make deliveries of waiting events, send what is due, and return the number of attempts."""
    deadline = time.monotonic() + budget_s
    with transaction():
        service.forget_old_secrets()
    log.fail_expired()
    in_flight: InFlight = {}
    total = 0
    with ThreadPoolExecutor(MAX_IN_FLIGHT, thread_name_prefix="webhook-sender") as pool:
        while True:
            claim_count = 0
            if time.monotonic() < deadline:
                log.queue_deliveries()
                claim_count = _start(pool, in_flight)
                total += claim_count
            if not in_flight and not claim_count:
                return total
            completed, _ = wait(in_flight, CLAIM_INTERVAL_S, FIRST_COMPLETED)
            record([(in_flight.pop(future), future.result()) for future in completed])


def _start(pool: ThreadPoolExecutor, in_flight: InFlight) -> int:
    """Claim what is due and begin to send it, the endpoints that answer first; returns how much was claimed."""
    claim_count = 0
    for is_failing in (False, True):
        load: Counter[uuid.UUID] = Counter(delivery.endpoint_id for delivery in in_flight.values())
        limit = MAX_IN_FLIGHT - len(in_flight)
        if is_failing:
            limit = min(limit, MAX_FAILING_IN_FLIGHT - sum(delivery.is_failing for delivery in in_flight.values()))
        deliveries = claim_due(limit, load, is_failing=is_failing)
        record([(delivery, Attempt(None, delivery.error, 0)) for delivery in deliveries if delivery.request is None])
        for delivery in deliveries:
            if delivery.request is not None:
                in_flight[pool.submit(send, delivery.request)] = delivery
        claim_count += len(deliveries)
    return claim_count


run = SingleRun(deliver_due)
"""Runs the job at most once in this process, so that slow receivers occupy one of its threads only."""
