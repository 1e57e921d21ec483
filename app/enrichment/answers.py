"""Store the answer to a request: one for each request, with values of the request's catalog."""

import uuid
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from app.core import clock
from app.core.database import session
from app.core.errors import Conflict, Forbidden, Problem, Unprocessable
from app.core.pepper import pepper_ring
from app.core.purposes import Purpose
from app.core.wire.serialization import dumps, loads
from app.customers import locks
from app.customers import service as customers
from app.customers.locks import CustomerGone
from app.customers.rules import DECLINED
from app.enrichment import revocation
from app.enrichment.fingerprint import differing_positions, digest_members_under
from app.enrichment.guards import HandleExpired, OpenRequest
from app.enrichment.models import EnrichmentRequest, Signal
from app.enrichment.rules import INFERENCE, State, expiry, summarize
from app.enrichment.schemas import Answer, Item
from app.interactions.service import queue_promotion
from app.products.service import get_environment


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


def answer(open_request: OpenRequest, new_answer: Answer) -> AcceptedAnswer:
    """Store an answer and confirm its interaction; a retry of it gets the same receipt."""
    request = lock_request(open_request)
    digests = _digests(request, new_answer)
    if request.answered_as == request.state and request.answer_fingerprint in digests:
        return _accepted(request)
    _check(request, new_answer)
    if request.state == State.DECLINED:
        raise OptedOut
    if request.state != State.ANSWER_READY:
        raise AnswerChanged(problems=_differences(request.answer_fingerprint or b"", digests))
    signals = _store(request, new_answer.items)
    if new_answer.status == State.DECLINED:
        decline(request)
    request.state = request.answered_as = new_answer.status
    request.answer_fingerprint = digests[0]
    # As it is read back, so that the first answer and every later one are made of the same bytes.
    request.receipt = loads(dumps([_receipt(signal) for signal in signals]))
    queue_promotion(request.environment_id, request.interaction_id)
    session().flush()
    return _accepted(request)


def lock_request(open_request: OpenRequest) -> EnrichmentRequest:
    """Return a request, locked after its customer, or raise `HandleExpired` if it no longer exists."""
    identity = (open_request.environment_id, open_request.interaction_id)

    def find_customer_id() -> uuid.UUID | None:
        row = session().get(EnrichmentRequest, identity, populate_existing=True)
        return row.customer_id if row else None

    row = session().get(EnrichmentRequest, identity)
    if row is None:
        raise HandleExpired
    try:
        customer_id = locks.lock_current(row.product_id, find_customer_id)
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


def _digests(request: EnrichmentRequest, new_answer: Answer) -> list[bytes]:
    """Return the digests of an answer's members under each pepper, those of the newest first."""
    keys = pepper_ring().derive_all(Purpose.ENRICHMENT_ANSWER, request.id)
    return digest_members_under(keys, [new_answer.status, *new_answer.items])


def _differences(stored_digests: bytes, digests: list[bytes]) -> list[Problem]:
    """Return a problem for each member of an answer that differs from the stored one."""
    positions = differing_positions(stored_digests, digests)
    pointers = [f"/items/{position - 1}" if position else "/status" for position in positions]
    return [Problem(pointer, "changed", "This differs from the first answer.") for pointer in pointers]


def _check(request: EnrichmentRequest, new_answer: Answer) -> None:
    problems = list(_problems(request, new_answer))
    if problems:
        raise Unprocessable(code=problems[0].code, problems=problems)


def _problems(request: EnrichmentRequest, new_answer: Answer) -> Iterator[Problem]:
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


def _store(request: EnrichmentRequest, items: Iterable[Item]) -> list[Signal]:
    entries = {entry["key"]: entry for entry in request.catalog}
    now = clock.now()
    signals = [_signal(request, entries[item.key], item, now) for item in items]
    revocation.supersede(request, [signal.key for signal in signals if signal.remembered])
    session().add_all(signals)
    return signals


def _signal(request: EnrichmentRequest, entry: dict[str, Any], item: Item, now: datetime) -> Signal:
    days = get_environment(request.environment_id).retention_days if item.remember else None
    return Signal(
        product_id=request.product_id,
        id=uuid.uuid4(),
        environment_id=request.environment_id,
        interaction_id=request.interaction_id,
        customer_id=request.customer_id,
        identity_level=request.identity_level,
        purpose=request.purpose,
        key=item.key,
        type=entry.get("questionType", entry["type"]),
        value=item.value,
        summary=summarize(entry["label"], item.value),
        provenance=item.provenance,
        confidence=item.confidence,
        remembered=item.remember,
        created_at=now,
        expires_at=expiry(now, item.expires_at, request.expires_at, days),
    )


def _receipt(signal: Signal) -> dict[str, Any]:
    return {
        "signal_id": signal.id,
        "key": signal.key,
        "type": signal.type,
        "value": signal.value,
        "summary": signal.summary,
        "provenance": signal.provenance,
        "confidence": signal.confidence,
        # What an agent only inferred is no fact about anybody, so it may be used for nothing.
        "allowed_uses": [] if signal.provenance == INFERENCE else [signal.purpose],
        "remembered": signal.remembered,
        "expires_at": signal.expires_at,
    }


def _accepted(request: EnrichmentRequest) -> AcceptedAnswer:
    return AcceptedAnswer(request.id, request.interaction_id, request.state, request.receipt or [])
