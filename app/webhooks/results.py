"""Record how attempts ended: deliveries that are over or tried again, and endpoints that fail."""

import logging
import random
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import text

from app.core import clock
from app.core.database import session, transaction
from app.webhooks import service
from app.webhooks.due import ROWS_REMOVED, DueDelivery
from app.webhooks.rules import GONE, DeliveryState, DisabledReason, disabled_reason, retry_delay
from app.webhooks.sender import Attempt

logger = logging.getLogger(__name__)

# A worker that was so slow that its lease has ended changes nothing any more.
_RECORD = text("""
    UPDATE webhook_deliveries
    SET state = :state, next_attempt_at = :next_attempt_at, status_code = :status_code, duration_ms = :duration_ms,
        error = :error
    WHERE environment_id = :environment_id AND id = :id AND state = 'sending' AND attempts = :attempts
""")

_RECORD_SUCCESS = text("""
    UPDATE webhook_endpoints SET failure_count = 0, failing_since = NULL
    WHERE environment_id = :environment_id AND id = :endpoint_id AND failure_count > 0
""")

_RECORD_FAILURE = text("""
    UPDATE webhook_endpoints SET failure_count = failure_count + 1, failing_since = coalesce(failing_since, :now)
    WHERE environment_id = :environment_id AND id = :endpoint_id
    RETURNING failure_count, failing_since
""")


def record(results: Sequence[tuple[DueDelivery, Attempt]]) -> None:
    """Record how attempts ended, and disable the endpoints for which that was one failure too many."""
    if not results:
        return
    now, reasons = clock.now(), {}
    with transaction():
        # In one order, so that two workers never wait for each other.
        for delivery, attempt in sorted(results, key=lambda result: (result[0].endpoint_id, result[0].id)):
            session().execute(_RECORD, _outcome(delivery, attempt, now))
            if reason := _record_of_endpoint(delivery, attempt, now):
                reasons[delivery.environment_id, delivery.endpoint_id] = reason
    for (environment_id, endpoint_id), reason in reasons.items():
        # Later, since changes of endpoints lock the environment first.
        with transaction():
            is_new = service.disable_endpoint(environment_id, endpoint_id, reason)
        if is_new:
            logger.warning(
                "a webhook endpoint was disabled",
                extra={"endpointId": str(endpoint_id), "environmentId": str(environment_id), "reason": str(reason)},
            )


def _outcome(delivery: DueDelivery, attempt: Attempt, now: datetime) -> dict[str, Any]:
    state, next_attempt_at = _next(delivery, attempt, now)
    return {
        "environment_id": delivery.environment_id,
        "id": delivery.id,
        "attempts": delivery.attempts,
        "state": str(state),
        "next_attempt_at": next_attempt_at,
        "status_code": attempt.status,
        "duration_ms": attempt.duration_ms,
        "error": attempt.error,
    }


def _next(delivery: DueDelivery, attempt: Attempt, now: datetime) -> tuple[DeliveryState, datetime | None]:
    if attempt.error is None:
        return DeliveryState.DELIVERED, None
    if attempt.error == ROWS_REMOVED:
        return DeliveryState.DROPPED, None
    delay = None if attempt.status == GONE else retry_delay(delivery.attempts, random.random())
    if delay is None or now + delay > delivery.expires_at:
        return DeliveryState.FAILED, None
    return DeliveryState.PENDING, now + delay


def _record_of_endpoint(delivery: DueDelivery, attempt: Attempt, now: datetime) -> DisabledReason | None:
    """Count a failure or a success of an endpoint; returns why it has to be disabled, or None."""
    keys = {"environment_id": delivery.environment_id, "endpoint_id": delivery.endpoint_id}
    if attempt.error == ROWS_REMOVED:
        return None
    if attempt.error is None:
        session().execute(_RECORD_SUCCESS, keys)
        return None
    endpoint = session().execute(_RECORD_FAILURE, {**keys, "now": now}).one_or_none()
    return disabled_reason(attempt.status, endpoint.failure_count, endpoint.failing_since, now) if endpoint else None
