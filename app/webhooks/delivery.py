"""Send the deliveries that are due: claimed and recorded in short transactions, sent outside of any."""

import time
import uuid
from collections import Counter
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait

from app.core.database import transaction
from app.core.single_run import SingleRun
from app.webhooks import log, service
from app.webhooks.claims import Claim, claim_due
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

Sending = dict[Future[Attempt], Claim]
"""What is being sent."""


def deliver_due(budget_s: float = BUDGET_S) -> int:
    """Make deliveries of waiting events, send what is due, and return the number of attempts."""
    deadline = time.monotonic() + budget_s
    with transaction():
        service.forget_old_secrets()
    log.fail_expired()
    sending: Sending = {}
    total = 0
    with ThreadPoolExecutor(MAX_IN_FLIGHT, thread_name_prefix="webhook-sender") as pool:
        while True:
            claim_count = 0
            if time.monotonic() < deadline:
                log.queue_deliveries()
                claim_count = _start(pool, sending)
                total += claim_count
            if not sending and not claim_count:
                return total
            done, _ = wait(sending, CLAIM_INTERVAL_S, FIRST_COMPLETED)
            record([(sending.pop(future), future.result()) for future in done])


def _start(pool: ThreadPoolExecutor, sending: Sending) -> int:
    """Claim what is due and begin to send it, the endpoints that answer first; returns how much was claimed."""
    claim_count = 0
    for is_failing in (False, True):
        busy: Counter[uuid.UUID] = Counter(claim.endpoint_id for claim in sending.values())
        limit = MAX_IN_FLIGHT - len(sending)
        if is_failing:
            limit = min(limit, MAX_FAILING_IN_FLIGHT - sum(claim.is_failing for claim in sending.values()))
        claims = claim_due(limit, busy, is_failing=is_failing)
        record([(claim, Attempt(None, claim.error, 0)) for claim in claims if claim.request is None])
        for claim in claims:
            if claim.request is not None:
                sending[pool.submit(send, claim.request)] = claim
        claim_count += len(claims)
    return claim_count


run = SingleRun(deliver_due)
"""Runs the job at most once in this process, so that slow receivers occupy one of its threads only."""
