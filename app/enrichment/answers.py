"""Answering: the catalog of the request is the only vocabulary, and one answer stays."""

import hmac
import uuid
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import msgspec

from app.core import clock
from app.core.database import session
from app.core.errors import Conflict, Forbidden, Problem, Unauthorized, Unprocessable
from app.core.pepper import current_pepper
from app.core.purposes import Purpose
from app.core.wire.serialization import dumps, loads
from app.customers import service as customers
from app.customers.rules import DECLINED
from app.enrichment import revocation
from app.enrichment.guards import OpenRequest
from app.enrichment.models import EnrichmentRequest, Signal
from app.enrichment.rules import INFERENCE, State, expiry, summarize
from app.enrichment.schemas import Answer, Item
from app.interactions.service import note_answer
from app.products.service import get_environment

MAX_TRIES = 5


class OptedOut(Forbidden):
    """The customer has said no."""

    code = "opted_out"
    sentence = "The user does not want this shared; please do not send it again."


class AnswerChanged(Conflict):
    """A request is answered once."""

    code = "answer_changed"
    sentence = "This request has already been answered in another way; the first answer stays."


@dataclass(frozen=True, slots=True)
class AcceptedAnswer:
    """What an agent is told of its answer."""

    request_id: uuid.UUID
    interaction_id: uuid.UUID
    state: str
    signals: list[dict[str, Any]]
    accepted: bool = True


def answer(opened: OpenRequest, given: Answer) -> AcceptedAnswer:
    """Store an answer and confirm its interaction; a retry of it gets the same again."""
    request = lock_request(opened)
    fingerprint = _fingerprint(request, given)
    if request.answered_as == request.state and _is_same(request.answer_fingerprint, fingerprint):
        return _accepted(request)
    _check(request, given)
    if request.state == State.DECLINED:
        raise OptedOut
    if request.state != State.ANSWER_READY:
        raise AnswerChanged
    signals = _keep(request, given.items)
    if given.status == State.DECLINED:
        decline(request)
    request.state = request.answered_as = given.status
    request.answer_fingerprint = fingerprint
    # As it is read back, so that the first answer and every later one are made of the same bytes.
    request.receipt = loads(dumps([_receipt(signal) for signal in signals]))
    note_answer(request.environment_id, request.interaction_id)
    session().flush()
    return _accepted(request)


def lock_request(opened: OpenRequest) -> EnrichmentRequest:
    """Return a request, locked after its customer, or raise if it is gone."""
    identity = (opened.environment_id, opened.interaction_id)
    for _ in range(MAX_TRIES):
        found = session().get(EnrichmentRequest, identity, populate_existing=True)
        if found is None:
            break
        customer_id = found.customer_id
        if customer_id is not None and not customers.lock(found.product_id, customer_id):
            # The customer has become part of another one; the request has moved with it.
            continue
        locked = session().get(EnrichmentRequest, identity, populate_existing=True, with_for_update=True)
        if locked is not None and locked.customer_id == customer_id:
            return locked
    raise Unauthorized


def decline(request: EnrichmentRequest) -> None:
    """Take away what a no takes away: all of the purpose for a known customer, else this use."""
    if request.customer_id is None:
        revocation.revoke_use(request)
    else:
        customers.choose(request.product_id, request.customer_id, request.purpose, DECLINED)
        revocation.revoke(request.product_id, request.customer_id, request.purpose)
    session().refresh(request)


def _fingerprint(request: EnrichmentRequest, given: Answer) -> bytes:
    key = current_pepper().derive(Purpose.ENRICHMENT_ANSWER, request.id)
    return hmac.digest(key, msgspec.json.encode(given), "sha256")


def _is_same(stored: bytes | None, fingerprint: bytes) -> bool:
    return stored is not None and hmac.compare_digest(stored, fingerprint)


def _check(request: EnrichmentRequest, given: Answer) -> None:
    problems = list(_objections(request, given))
    if problems:
        raise Unprocessable(code=problems[0].code, problems=problems)


def _objections(request: EnrichmentRequest, given: Answer) -> Iterator[Problem]:
    if (given.status == State.ANSWERED) != bool(given.items):
        sentence = "The status answered needs 1 to 8 items, and no other status takes any."
        yield Problem("/items", "items_and_status", sentence)
    entries = {entry["key"]: entry for entry in request.catalog}
    seen: set[str] = set()
    for index, item in enumerate(given.items):
        if item.key in request.withheld_keys:
            yield Problem(f"/items/{index}/key", "not_advertising_safe", "This may not be used for advertising.")
        else:
            yield from _foreign_to(entries, item, f"/items/{index}")
        if item.key in seen:
            yield Problem(f"/items/{index}/key", "distinct", "Each key may be answered once.")
        seen.add(item.key)
        if item.remember and (not request.remember or item.provenance == INFERENCE):
            sentence = "This request, or what an agent inferred, may not be remembered; leave remember out."
            yield Problem(f"/items/{index}/remember", "remember_not_allowed", sentence)
        if item.expires_at is not None and item.expires_at <= clock.now():
            yield Problem(f"/items/{index}/expiresAt", "in_the_past", "This must be in the future.")


def _foreign_to(entries: dict[str, dict[str, Any]], item: Item, place: str) -> Iterator[Problem]:
    """Say where an item leaves the catalog, and what would fit there."""
    code, sentence = "unknown_catalog_entry", "key, type and value must be those of one entry of bodySchema.catalog."
    entry = entries.get(item.key)
    if entry is None:
        yield Problem(f"{place}/key", code, sentence, {"allowed": list(entries)})
        return
    if item.type != entry["type"]:
        yield Problem(f"{place}/type", code, sentence, {"allowed": [entry["type"]]})
    if item.value not in entry["allowedValues"]:
        yield Problem(f"{place}/value", code, sentence, {"allowed": entry["allowedValues"]})


def _keep(request: EnrichmentRequest, items: Iterable[Item]) -> list[Signal]:
    entries = {entry["key"]: entry for entry in request.catalog}
    now = clock.now()
    kept = [_signal(request, entries[item.key], item, now) for item in items]
    revocation.supersede(request, [signal.key for signal in kept if signal.remembered])
    session().add_all(kept)
    return kept


def _signal(request: EnrichmentRequest, entry: dict[str, Any], item: Item, now: datetime) -> Signal:
    days = get_environment(request.environment_id).retention_days if item.remember else None
    return Signal(
        product_id=request.product_id,
        id=uuid.uuid4(),
        environment_id=request.environment_id,
        interaction_id=request.interaction_id,
        customer_id=request.customer_id,
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
        # What an agent only inferred is no fact about anybody, so it is good for nothing.
        "allowed_uses": [] if signal.provenance == INFERENCE else [signal.purpose],
        "remembered": signal.remembered,
        "expires_at": signal.expires_at,
    }


def _accepted(request: EnrichmentRequest) -> AcceptedAnswer:
    return AcceptedAnswer(request.id, request.interaction_id, request.state, request.receipt or [])
