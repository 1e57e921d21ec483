"""Store the answer to a request: one for each request, with values of the request's catalog."""

import uuid
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from app.core import clock
from app.core.database import PreparedStatement, PreparedTransaction, session
from app.core.errors import Conflict, Forbidden, Problem, Unprocessable
from app.core.jobs import Job, notify
from app.core.pepper import pepper_ring
from app.core.purposes import Purpose
from app.core.wire.serialization import dumps, loads
from app.customers import locks
from app.customers import service as customers
from app.customers.locks import CustomerGone
from app.customers.rules import DECLINED
from app.enrichment import revocation
from app.enrichment.fingerprint import differing_positions, digest_members_under
from app.enrichment.guards import HandleExpired
from app.enrichment.models import EnrichmentRequest
from app.enrichment.queries import FIND_REQUEST, LOCK_CUSTOMER, StoredRequest
from app.enrichment.rules import INFERENCE, State, expiry, summarize
from app.enrichment.schemas import Answer, Item
from app.enrichment.views import AnyRequest
from app.interactions.service import queue_promotion
from app.interactions.sql import promotion_outbox


class OptedOut(Forbidden):
    """The customer has declined."""

    code = "opted_out"
    sentence = "The user does not want this shared; please do not send it again."


class AnswerChanged(Conflict):
    """The request has another answer already."""

    code = "answer_changed"
    sentence = "This request has already been answered in another way; the first answer stays."


@dataclass(frozen=True, slots=True)
class AcceptedAnswer:
    """The receipt of an answer."""

    request_id: uuid.UUID
    interaction_id: uuid.UUID
    state: str
    signals: list[dict[str, Any]]
    accepted: bool = True


# It stores nothing unless the request is still as it was when its answer was checked. What is told anew takes the place
# of what is remembered, so that at most one signal of a key is remembered; a replaced signal expires with its request.
_STORE_ANSWER = PreparedStatement(
    "store_answer",
    f"""
    WITH answered AS (
        UPDATE enrichment_requests SET state = :status, answered_as = :status, answer_fingerprint = :fingerprint,
            receipt = :receipt
        WHERE environment_id = :environment_id::uuid AND interaction_id = :interaction_id::uuid
          AND state = 'answer_ready' AND remember = :remember AND customer_id IS NOT DISTINCT FROM :customer_id::uuid
        RETURNING *
    ), superseded AS (
        UPDATE signals s SET remembered = false, expires_at = least(s.expires_at, coalesce((
            SELECT r.expires_at FROM enrichment_requests r
            WHERE r.environment_id = s.environment_id AND r.interaction_id = s.interaction_id), :now))
        FROM answered a
        WHERE s.product_id = a.product_id AND s.customer_id = a.customer_id AND s.purpose = a.purpose AND s.remembered
          AND s.key = ANY(:remembered_keys::text[])
    ), stored AS (
        INSERT INTO signals (product_id, environment_id, interaction_id, customer_id, identity_level, purpose,
            id, key, type, value, summary, provenance, confidence, remembered, created_at, expires_at)
        SELECT a.product_id, a.environment_id, a.interaction_id, a.customer_id, a.identity_level, a.purpose,
            n.signal_id, n.key, n.type, n.value, n.summary, n.provenance, n.confidence, n.remembered, :now, n.expires_at
        FROM answered a, jsonb_to_recordset(:receipt) AS n (signal_id uuid, key text, type text, value text,
            summary text, provenance text, confidence double precision, remembered boolean, expires_at timestamptz)
    ), outbox AS ({
        promotion_outbox(
            "(SELECT environment_id, interaction_id, :now::timestamptz AS created_at FROM answered) a", "answer"
        )
    })
    SELECT 1 FROM answered
    """,
)

STORE_ANSWER = PreparedTransaction("answer_request", LOCK_CUSTOMER, last=_STORE_ANSWER)


def answer(request: StoredRequest, new_answer: Answer) -> AcceptedAnswer:
    """Store an answer and confirm its interaction; a retry of it gets the same receipt."""
    digests = _digests(request, new_answer)
    if new_answer.status == State.DECLINED:
        return _decline(request, new_answer, digests)
    for _ in range(locks.MAX_TRIES):
        if _is_retry(request, new_answer, digests):
            return _accepted(request)
        receipt = dumps(_receipt(request, new_answer.items))
        if _store(request, new_answer, digests[0], receipt):
            notify(Job.PROMOTE_INTERACTIONS)
            # As it is read back, so that the first answer and every later one are made of the same bytes.
            return _accepted(request._replace(state=new_answer.status, receipt=loads(receipt)))
        # It was answered, declined, narrowed or linked to another customer meanwhile.
        changed_request = FIND_REQUEST.first(request_id=request.id)
        if changed_request is None:
            raise HandleExpired
        request = changed_request
    raise CustomerGone


def lock_request(stored_request: StoredRequest) -> EnrichmentRequest:
    """Return a request, locked after its customer, or raise `HandleExpired` if it no longer exists."""
    identity = (stored_request.environment_id, stored_request.interaction_id)

    def find_customer_id() -> uuid.UUID | None:
        row = session().get(EnrichmentRequest, identity, populate_existing=True)
        return row.customer_id if row else None

    try:
        customer_id = locks.lock_current(stored_request.product_id, find_customer_id)
    except CustomerGone:
        raise HandleExpired from None
    request = session().get(EnrichmentRequest, identity, populate_existing=True, with_for_update=True)
    if request is None or request.customer_id != customer_id:
        raise HandleExpired
    return request


def decline(request: EnrichmentRequest) -> None:
    """Apply a refusal: remove everything of the purpose for a known customer, else of this interaction."""
    if request.customer_id is None:
        revocation.revoke_use(request)
    else:
        customers.choose(request.product_id, request.customer_id, request.purpose, DECLINED)
        revocation.revoke(request.product_id, request.customer_id, request.purpose)
    session().refresh(request)


def _decline(stored_request: StoredRequest, new_answer: Answer, digests: list[bytes]) -> AcceptedAnswer:
    """Store the answer that is a refusal, and apply it."""
    request = lock_request(stored_request)
    if _is_retry(request, new_answer, digests):
        return _accepted(request)
    decline(request)
    request.state = request.answered_as = new_answer.status
    request.answer_fingerprint, request.receipt = digests[0], []
    queue_promotion(request.environment_id, request.interaction_id)
    session().flush()
    return _accepted(request)


def _digests(request: StoredRequest, new_answer: Answer) -> list[bytes]:
    """Return the digests of an answer's members under each pepper, those of the newest first."""
    keys = pepper_ring().derive_all(Purpose.ENRICHMENT_ANSWER, request.id)
    return digest_members_under(keys, [new_answer.status, *new_answer.items])


def _is_retry(request: AnyRequest, new_answer: Answer, digests: list[bytes]) -> bool:
    """Tell whether a request has this answer already, or raise unless it may be answered so."""
    fingerprint = bytes(request.answer_fingerprint or b"")
    if request.answered_as == request.state and fingerprint in digests:
        return True
    _check(request, new_answer)
    if request.state == State.DECLINED:
        raise OptedOut
    if request.state != State.ANSWER_READY:
        raise AnswerChanged(problems=_differences(fingerprint, digests))
    return False


def _differences(stored_digests: bytes, digests: list[bytes]) -> list[Problem]:
    """Return a problem for each member of an answer that differs from the stored one."""
    positions = differing_positions(stored_digests, digests)
    pointers = [f"/items/{position - 1}" if position else "/status" for position in positions]
    return [Problem(pointer, "changed", "This differs from the first answer.") for pointer in pointers]


def _check(request: AnyRequest, new_answer: Answer) -> None:
    problems = list(_problems(request, new_answer))
    if problems:
        raise Unprocessable(code=problems[0].code, problems=problems)


def _problems(request: AnyRequest, new_answer: Answer) -> Iterator[Problem]:
    if (new_answer.status == State.ANSWERED) != bool(new_answer.items):
        sentence = "The status answered needs 1 to 8 items, and no other status takes any."
        yield Problem("/items", "items_and_status", sentence)
    entries = {entry["key"]: entry for entry in request.catalog}
    keys: set[str] = set()
    for index, item in enumerate(new_answer.items):
        if item.key in request.withheld_keys:
            yield Problem(f"/items/{index}/key", "not_advertising_safe", "This may not be used for advertising.")
        else:
            yield from _catalog_problems(entries, item, f"/items/{index}")
        if item.key in keys:
            yield Problem(f"/items/{index}/key", "distinct", "Each key may be answered once.")
        keys.add(item.key)
        if item.remember and (not request.remember or item.provenance == INFERENCE):
            sentence = "This request, or what an agent inferred, may not be remembered; leave remember out."
            yield Problem(f"/items/{index}/remember", "remember_not_allowed", sentence)
        if item.expires_at is not None and item.expires_at <= clock.now():
            yield Problem(f"/items/{index}/expiresAt", "in_the_past", "This must be in the future.")


def _catalog_problems(entries: dict[str, dict[str, Any]], item: Item, pointer: str) -> Iterator[Problem]:
    """Return a problem for each member of an item that the catalog does not allow."""
    code, sentence = "unknown_catalog_entry", "key, type and value must be those of one entry of bodySchema.catalog."
    entry = entries.get(item.key)
    if entry is None:
        yield Problem(f"{pointer}/key", code, sentence, {"allowed": list(entries)})
        return
    if item.type != entry["type"]:
        yield Problem(f"{pointer}/type", code, sentence, {"allowed": [entry["type"]]})
    if item.value not in entry["allowedValues"]:
        yield Problem(f"{pointer}/value", code, sentence, {"allowed": entry["allowedValues"]})


def _store(request: StoredRequest, new_answer: Answer, fingerprint: bytes, receipt: bytes) -> bool:
    """Store an answer that was checked against a request; return False if the request is not as it was any more."""
    stored = STORE_ANSWER.first(
        environment_id=request.environment_id,
        interaction_id=request.interaction_id,
        product_id=request.product_id,
        customer_id=request.customer_id,
        remember=request.remember,
        status=new_answer.status,
        fingerprint=fingerprint,
        receipt=receipt.decode(),
        remembered_keys=[item.key for item in new_answer.items if item.remember],
        now=clock.now(),
    )
    return stored is not None


def _receipt(request: StoredRequest, items: Iterable[Item]) -> list[dict[str, Any]]:
    """Return the signals of an answer, as its receipt lists them and as they are stored."""
    entries, now = {entry["key"]: entry for entry in request.catalog}, clock.now()
    return [_signal(request, entries[item.key], item, now) for item in items]


def _signal(request: StoredRequest, entry: dict[str, Any], item: Item, now: datetime) -> dict[str, Any]:
    days = request.retention_days if item.remember else None
    return {
        "signal_id": uuid.uuid4(),
        "key": item.key,
        "type": entry.get("questionType", entry["type"]),
        "value": item.value,
        "summary": summarize(entry["label"], item.value),
        "provenance": item.provenance,
        "confidence": item.confidence,
        # What an agent only inferred is no fact about anybody, so it may be used for nothing.
        "allowed_uses": [] if item.provenance == INFERENCE else [request.purpose],
        "remembered": item.remember,
        "expires_at": expiry(now, item.expires_at, request.expires_at, days),
    }


def _accepted(request: AnyRequest) -> AcceptedAnswer:
    return AcceptedAnswer(request.id, request.interaction_id, request.state, request.receipt or [])
