"""Asking: one request for each interaction, with a copy of what it may ask."""

import hmac
import uuid
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import msgspec
import orjson
from sqlalchemy.dialects.postgresql import insert

from app.core import clock
from app.core.database import session
from app.core.errors import Conflict, Problem, Unprocessable
from app.core.pepper import current_pepper
from app.core.purposes import Purpose
from app.customers import service as customers
from app.customers.rules import DECLINED, ContextPurpose, References, digest_references
from app.customers.service import Identity
from app.enrichment import catalog, revocation, views
from app.enrichment.catalog import Catalog, Entry
from app.enrichment.definitions import effective_catalog
from app.enrichment.models import ClosedRequest, EnrichmentRequest
from app.enrichment.rules import HANDLE_LIFETIME_S, INTERACTION_SURFACES, State
from app.enrichment.schemas import NewRequest
from app.enrichment.views import RequestView
from app.interactions.rules import normalize_operation
from app.interactions.service import Opportunity, note_opportunity
from app.products.key_cache import CallerEnvironment
from app.products.service import get_environment
from app.screening.service import reject_secrets


class RequestChanged(Conflict):
    """An interaction asks once."""

    code = "request_changed"
    sentence = "This interaction has already asked, in another way; use a new interaction."


class RequestExpired(Conflict):
    """An interaction asks once, for two hours."""

    code = "request_expired"
    sentence = "This interaction has already asked, and its time is over; use a new interaction."


@dataclass(frozen=True, slots=True)
class _Call:
    """One call, with everything that is known before the database is asked."""

    environment: CallerEnvironment
    key_id: str
    asked: NewRequest
    references: References
    fingerprint: bytes

    @property
    def interaction_id(self) -> uuid.UUID:
        return uuid.UUID(self.asked.interaction_id)


def ask(environment: CallerEnvironment, key_id: str, asked: NewRequest) -> RequestView:
    """Make the request of an interaction, or return the one that it has made in its current state."""
    _check(asked)
    asked = msgspec.structs.replace(asked, operation=normalize_operation(asked.operation))
    if asked.runtime_hint is not None:
        reject_secrets([("/runtimeHint", asked.runtime_hint)])
    key = current_pepper().derive(Purpose.CUSTOMER_REFERENCES, environment.product_id)
    references = digest_references(key, asked.account_ref, asked.user_ref, asked.anonymous_ref)
    call = _Call(environment, key_id, asked, references, _fingerprint(environment, asked))
    if found := _find(call):
        return _again(call, found)
    in_force = effective_catalog(environment)
    offered = choose_entries(in_force, asked)
    if not offered:
        return views.show_nothing(environment, asked, references.level)
    made = _make(call, in_force, offered)
    if made is None:
        # Another call of the same interaction was first, and is committed by now.
        made = _find(call)
        assert made is not None
        return _again(call, made)
    return _show(environment, made)


def choose_entries(in_force: Catalog, asked: NewRequest) -> list[Entry]:
    """Return the questions that a request may ask, or raise if it names one that it may not."""
    if asked.field_keys is None:
        return [
            entry
            for entry in in_force.entries
            if entry.is_bound_to(asked.operation) and is_usable(entry, asked.purpose)
        ]
    known = {entry.key: entry for entry in in_force.entries}
    problems = []
    for index, key in enumerate(asked.field_keys):
        code = _objection(known.get(key), asked)
        if code:
            problems.append(Problem(f"/fieldKeys/{index}", code, _OBJECTIONS[code]))
    if problems:
        raise Unprocessable(code=problems[0].code, problems=problems)
    return [known[key] for key in sorted(asked.field_keys)]


def is_usable(entry: Entry, purpose: str) -> bool:
    """Tell whether a question may be used for a purpose."""
    return entry.targeted_advertising_safe or purpose != ContextPurpose.TARGETED_ADVERTISING


_OBJECTIONS = {
    "unknown_field_key": "There is no such question in the catalog in force.",
    "field_not_bound": "This question is not bound to this operation.",
    "not_advertising_safe": "This question may not be used for targeted advertising.",
}


def _objection(entry: Entry | None, asked: NewRequest) -> str | None:
    if entry is None:
        return "unknown_field_key"
    if not entry.is_bound_to(asked.operation):
        return "field_not_bound"
    return None if is_usable(entry, asked.purpose) else "not_advertising_safe"


def _check(asked: NewRequest) -> None:
    problems = []
    if asked.request_observation is not None and asked.surface == "mcp":
        problems.append(Problem("/requestObservation", "not_for_mcp", "An MCP call has no HTTP request to observe."))
    if asked.field_keys and len(set(asked.field_keys)) < len(asked.field_keys):
        problems.append(Problem("/fieldKeys", "distinct", "Each key may be there once."))
    if problems:
        raise Unprocessable(problems=problems)


def _fingerprint(environment: CallerEnvironment, asked: NewRequest) -> bytes:
    """Return a keyed digest of all that a retry must repeat; what was measured of the call may differ."""
    repeated = [
        asked.operation,
        asked.surface,
        asked.purpose,
        asked.remember,
        asked.account_ref,
        asked.user_ref,
        asked.anonymous_ref,
        asked.session_ref,
        None if asked.field_keys is None else sorted(asked.field_keys),
    ]
    key = current_pepper().derive(Purpose.ENRICHMENT_REQUEST, environment.id)
    return hmac.digest(key, orjson.dumps(repeated), "sha256")


def _find(call: _Call) -> EnrichmentRequest | None:
    identity = (call.environment.id, call.interaction_id)
    found = session().get(EnrichmentRequest, identity, populate_existing=True)
    if found is None and session().get(ClosedRequest, identity) is not None:
        raise RequestExpired
    return found


def _again(call: _Call, found: EnrichmentRequest) -> RequestView:
    if found.expires_at <= clock.now():
        raise RequestExpired
    if not hmac.compare_digest(found.fingerprint, call.fingerprint):
        raise RequestChanged
    return _show(call.environment, found)


def _show(environment: CallerEnvironment, request: EnrichmentRequest) -> RequestView:
    return views.show(request, environment.product_name, get_environment(environment.id).retention_days)


def _make(call: _Call, in_force: Catalog, offered: list[Entry]) -> EnrichmentRequest | None:
    """Store a request; None if its interaction has one meanwhile."""
    identity = customers.resolve(call.environment.product_id, call.references)
    if identity.has_been_linked:
        revocation.honor_choices(call.environment.product_id, identity)
    stored = insert(EnrichmentRequest).values(
        **_identity_values(call, identity),
        **_evidence_values(call.asked),
        key_id=call.key_id,
        fingerprint=call.fingerprint,
        catalog_version=in_force.version,
        catalog_hash=catalog.fingerprint(offered),
        catalog=[entry.as_wire() for entry in offered],
        withheld_keys=[entry.key for entry in in_force.entries if not is_usable(entry, call.asked.purpose)],
    )
    made = session().scalars(stored.on_conflict_do_nothing().returning(EnrichmentRequest)).one_or_none()
    if made is not None:
        note_opportunity(call.environment.id, _opportunity(call.asked))
    return made


def _identity_values(call: _Call, identity: Identity) -> dict[str, Any]:
    now, asked, product_id = clock.now(), call.asked, call.environment.product_id
    has_declined = (
        identity.customer_id is not None
        and customers.find_choice(product_id, identity.customer_id, asked.purpose) == DECLINED
    )
    return {
        "environment_id": call.environment.id,
        "interaction_id": call.interaction_id,
        "id": uuid.uuid4(),
        "product_id": product_id,
        "customer_id": identity.customer_id,
        "identity_level": identity.level,
        "operation": asked.operation,
        "surface": asked.surface,
        "purpose": asked.purpose,
        # Nobody can be remembered who is not known again.
        "remember": asked.remember and identity.customer_id is not None,
        "state": State.DECLINED if has_declined else State.ANSWER_READY,
        "created_at": now,
        "expires_at": now + timedelta(seconds=HANDLE_LIFETIME_S),
    }


def _evidence_values(asked: NewRequest) -> dict[str, Any]:
    observed = asked.request_observation
    return {
        "status_code": asked.status_code,
        "duration_ms": asked.duration_ms,
        "runtime_hint": asked.runtime_hint,
        "observation": None if observed is None else msgspec.to_builtins(observed),
    }


def _opportunity(asked: NewRequest) -> Opportunity:
    return Opportunity(
        interaction_id=uuid.UUID(asked.interaction_id),
        surface=INTERACTION_SURFACES[asked.surface],
        operation=asked.operation,
        status_code=asked.status_code,
        duration_ms=asked.duration_ms,
        runtime_hint=asked.runtime_hint,
    )
