"""Requests for context: one for each interaction, with its own copy of the fields that it may ask for."""

import uuid
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import msgspec
from sqlalchemy.dialects.postgresql import insert

from app.catalog.entries import Catalog, Entry, hash_entries
from app.catalog.service import effective_catalog
from app.core import clock
from app.core.clients import browser_family, network_of
from app.core.database import session
from app.core.errors import Conflict, Problem, Unprocessable
from app.core.limits.limiter import limiter
from app.core.pepper import pepper_ring
from app.core.purposes import Purpose
from app.core.wire.schemas import camel
from app.customers import service as customers
from app.customers.rules import DECLINED, ContextPurpose, References, digest_references
from app.customers.service import Identity
from app.enrichment import revocation, views
from app.enrichment.fingerprint import differing_positions, digest_members_under
from app.enrichment.models import ClosedRequest, EnrichmentRequest
from app.enrichment.rules import HANDLE_LIFETIME_S, INTERACTION_SURFACES, State
from app.enrichment.schemas import NewRequest, Observation
from app.enrichment.views import RequestView
from app.interactions.rules import normalize_operation
from app.interactions.service import NewInteraction, store_interaction
from app.products.key_cache import CallerEnvironment
from app.products.service import get_environment
from app.screening.service import reject_secrets
from config.limits import QuotaName


class RequestChanged(Conflict):
    """The interaction has another request already."""

    code = "request_changed"
    sentence = "This interaction has already asked, in another way; use a new interaction."


class RequestExpired(Conflict):
    """The interaction's request has expired; there is no second one."""

    code = "request_expired"
    sentence = "This interaction has already asked, and its time is over; use a new interaction."


@dataclass(frozen=True, slots=True)
class _RequestContext:
    """A call with everything that is derived from it before the database is read."""

    environment: CallerEnvironment
    key_id: str
    new_request: NewRequest
    references: References
    fingerprints: list[bytes]
    """Under each pepper, that of the newest first."""

    @property
    def interaction_id(self) -> uuid.UUID:
        return uuid.UUID(self.new_request.interaction_id)


def create(environment: CallerEnvironment, key_id: str, new_request: NewRequest) -> RequestView:
    """Create the request of an interaction, or return the one that it has in its current state."""
    _check(new_request)
    new_request = msgspec.structs.replace(new_request, operation=normalize_operation(new_request.operation))
    if new_request.runtime_hint is not None:
        reject_secrets([("/runtimeHint", new_request.runtime_hint)])
    keys = pepper_ring().derive_all(Purpose.CUSTOMER_REFERENCES, environment.product_id)
    references = digest_references(keys, new_request.account_ref, new_request.user_ref, new_request.anonymous_ref)
    call = _RequestContext(environment, key_id, new_request, references, _fingerprints(environment, new_request))
    if request := _find(call):
        return _answer_retry(call, request)
    effective = effective_catalog(environment)
    entries = choose_entries(effective, new_request)
    if not entries:
        return views.show_nothing(environment, new_request, references.level)
    with limiter().use_quota(QuotaName.QUESTIONS, environment.id):
        request = _store(call, effective, entries)
        if request is not None:
            return _show(environment, request)
    limiter().return_quota(QuotaName.QUESTIONS, environment.id)
    # Another call of the same interaction was first, and is committed by now.
    request = _find(call)
    assert request is not None
    return _answer_retry(call, request)


def choose_entries(effective: Catalog, new_request: NewRequest) -> list[Entry]:
    """Return the fields that a request may ask for, or raise if it names one that it may not."""
    usable_entries = {entry.key: entry for entry in effective.entries if _problem_code(entry, new_request) is None}
    if new_request.field_keys is None:
        return list(usable_entries.values())
    entries = {entry.key: entry for entry in effective.entries}
    problems = []
    for index, key in enumerate(new_request.field_keys):
        code = _problem_code(entries.get(key), new_request)
        if code:
            problems.append(Problem(f"/fieldKeys/{index}", code, _PROBLEMS[code], {"allowed": list(usable_entries)}))
    if problems:
        raise Unprocessable(code=problems[0].code, problems=problems)
    return [entries[key] for key in sorted(new_request.field_keys)]


def is_usable(entry: Entry, purpose: str) -> bool:
    """Tell whether a field may be used for a purpose."""
    return entry.targeted_advertising_safe or purpose != ContextPurpose.TARGETED_ADVERTISING


_PROBLEMS = {
    "unknown_field_key": "There is no such field in the effective catalog.",
    "field_not_bound": "This field is not bound to this operation.",
    "not_advertising_safe": "This field may not be used for targeted advertising.",
}


def _problem_code(entry: Entry | None, new_request: NewRequest) -> str | None:
    if entry is None:
        return "unknown_field_key"
    if not entry.is_bound_to(new_request.operation):
        return "field_not_bound"
    return None if is_usable(entry, new_request.purpose) else "not_advertising_safe"


def _check(new_request: NewRequest) -> None:
    problems = []
    if new_request.request_observation is not None and new_request.surface == "mcp":
        problems.append(Problem("/requestObservation", "not_for_mcp", "An MCP call has no HTTP request to observe."))
    if new_request.field_keys and len(set(new_request.field_keys)) < len(new_request.field_keys):
        problems.append(Problem("/fieldKeys", "distinct", "Each key may be there once."))
    if problems:
        raise Unprocessable(problems=problems)


REPEATED_MEMBERS = (
    "operation",
    "surface",
    "purpose",
    "remember",
    "account_ref",
    "user_ref",
    "anonymous_ref",
    "session_ref",
    "field_keys",
)
"""What a retry must repeat; what was measured of the call may differ. In the order of the stored digests: members keep
their place, and new ones go last."""


def _fingerprints(environment: CallerEnvironment, new_request: NewRequest) -> list[bytes]:
    """Return the keyed digests of `REPEATED_MEMBERS`; those of two interactions cannot be compared."""
    field_keys = None if new_request.field_keys is None else sorted(new_request.field_keys)
    members = [getattr(new_request, name) for name in REPEATED_MEMBERS[:-1]] + [field_keys]
    interaction = f"{environment.id}:{uuid.UUID(new_request.interaction_id)}"
    return digest_members_under(pepper_ring().derive_all(Purpose.ENRICHMENT_REQUEST, interaction), members)


def _find(call: _RequestContext) -> EnrichmentRequest | None:
    identity = (call.environment.id, call.interaction_id)
    request = session().get(EnrichmentRequest, identity, populate_existing=True)
    if request is None and session().get(ClosedRequest, identity) is not None:
        raise RequestExpired
    return request


def _answer_retry(call: _RequestContext, request: EnrichmentRequest) -> RequestView:
    """Return a stored request to a retry, or raise if it has expired or was another one."""
    if request.expires_at <= clock.now():
        raise RequestExpired
    names = [REPEATED_MEMBERS[position] for position in differing_positions(request.fingerprint, call.fingerprints)]
    if names:
        sentence = "This differs from the interaction's first request."
        raise RequestChanged(problems=[Problem(f"/{camel(name)}", "changed", sentence) for name in names])
    return _show(call.environment, request)


def _show(environment: CallerEnvironment, request: EnrichmentRequest) -> RequestView:
    return views.show(request, environment.product_name, get_environment(environment.id).retention_days)


def _store(call: _RequestContext, effective: Catalog, entries: list[Entry]) -> EnrichmentRequest | None:
    """Store a request; None if its interaction has one meanwhile."""
    identity = customers.resolve(call.environment.product_id, call.references)
    if identity.has_been_linked:
        revocation.honor_choices(call.environment.product_id, identity)
    statement = insert(EnrichmentRequest).values(
        **_identity_values(call, identity),
        **_measured_values(call.new_request),
        key_id=call.key_id,
        fingerprint=call.fingerprints[0],
        catalog_version=effective.version,
        catalog_hash=hash_entries(entries),
        catalog=[entry.as_wire() for entry in entries],
        withheld_keys=[entry.key for entry in effective.entries if not is_usable(entry, call.new_request.purpose)],
    )
    request = session().scalars(statement.on_conflict_do_nothing().returning(EnrichmentRequest)).one_or_none()
    if request is not None:
        store_interaction(call.environment.id, _new_interaction(call.new_request))
    return request


def _identity_values(call: _RequestContext, identity: Identity) -> dict[str, Any]:
    now, new_request, product_id = clock.now(), call.new_request, call.environment.product_id
    has_declined = (
        identity.customer_id is not None
        and customers.find_choice(product_id, identity.customer_id, new_request.purpose) == DECLINED
    )
    return {
        "environment_id": call.environment.id,
        "interaction_id": call.interaction_id,
        "id": uuid.uuid4(),
        "product_id": product_id,
        "customer_id": identity.customer_id,
        "identity_level": identity.level,
        "operation": new_request.operation,
        "surface": new_request.surface,
        "purpose": new_request.purpose,
        # Nobody can be remembered who is not known again.
        "remember": new_request.remember and identity.customer_id is not None,
        "state": State.DECLINED if has_declined else State.ANSWER_READY,
        "created_at": now,
        "expires_at": now + timedelta(seconds=HANDLE_LIFETIME_S),
    }


def _measured_values(new_request: NewRequest) -> dict[str, Any]:
    observation = new_request.request_observation
    return {
        "status_code": new_request.status_code,
        "duration_ms": new_request.duration_ms,
        "runtime_hint": new_request.runtime_hint,
        "observation": (_coarsen(observation) or None) if observation else None,
    }


def _coarsen(observation: Observation) -> dict[str, str]:
    """Return what is stored of an observation: the network of its address, and the family of its browser."""
    values = {}
    if observation.client_ip is not None:
        values["network"] = network_of(observation.client_ip)
    if observation.user_agent is not None:
        values["browser"] = browser_family(observation.user_agent)
    return values


def _new_interaction(new_request: NewRequest) -> NewInteraction:
    return NewInteraction(
        interaction_id=uuid.UUID(new_request.interaction_id),
        surface=INTERACTION_SURFACES[new_request.surface],
        operation=new_request.operation,
        status_code=new_request.status_code,
        duration_ms=new_request.duration_ms,
        runtime_hint=new_request.runtime_hint,
    )
