"""Requests for context: one for each interaction, with its own copy of the fields that it may ask for."""

import uuid
from typing import NamedTuple

import msgspec

from app.catalog.sql import enabled_fields
from app.core import clock
from app.core.database import PreparedStatement
from app.core.errors import Conflict, Problem, Unprocessable
from app.core.limits.limiter import limiter
from app.core.pepper import pepper_ring
from app.core.purposes import Purpose
from app.core.wire.schemas import camel
from app.customers.rules import digest_references
from app.customers.sql import RESOLVED_CUSTOMER, newest_digests
from app.enrichment import creation, views
from app.enrichment.creation import RequestContext
from app.enrichment.fingerprint import differing_positions, digest_members_under
from app.enrichment.queries import FIND_REQUEST_OF_INTERACTION
from app.enrichment.schemas import NewRequest
from app.enrichment.selection import select_fields
from app.enrichment.views import RequestView
from app.interactions.rules import normalize_operation
from app.products.key_cache import CallerEnvironment
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


class Preparation(NamedTuple):
    """What has to be known of an interaction and its product before a request is made."""

    is_stored: bool
    """Whether the interaction has a request."""
    is_closed: bool
    """Whether it had one that has expired or was removed."""
    enabled_fields: str | None
    customer_id: uuid.UUID | None
    """The customer that its references name, if they name one that is known already."""


PREPARE_REQUEST = PreparedStatement(
    "prepare_request",
    f"""
    WITH {RESOLVED_CUSTOMER}
    SELECT EXISTS (
        SELECT FROM enrichment_requests r
        WHERE r.environment_id = :environment_id::uuid AND r.interaction_id = :interaction_id::uuid
    ) AS is_stored, EXISTS (
        SELECT FROM closed_requests c WHERE c.environment_id = :environment_id AND c.interaction_id = :interaction_id
    ) AS is_closed, {enabled_fields(":product_id::uuid")} AS enabled_fields, (SELECT id FROM resolved) AS customer_id
    """,
    row=Preparation,
)


def create(environment: CallerEnvironment, key_id: str, new_request: NewRequest) -> RequestView:
    """Create the request of an interaction, or return the one that it has in its current state."""
    _check(new_request)
    new_request = msgspec.structs.replace(new_request, operation=normalize_operation(new_request.operation))
    if new_request.runtime_hint is not None:
        reject_secrets([("/runtimeHint", new_request.runtime_hint)])
    keys = pepper_ring().derive_all(Purpose.CUSTOMER_REFERENCES, environment.product_id)
    references = digest_references(keys, new_request.account_ref, new_request.user_ref, new_request.anonymous_ref)
    call = RequestContext(environment, key_id, new_request, references, _fingerprints(environment, new_request))
    preparation = PREPARE_REQUEST.first(
        environment_id=environment.id,
        interaction_id=call.interaction_id,
        product_id=environment.product_id,
        **newest_digests(references),
    )
    assert preparation is not None
    if preparation.is_stored or preparation.is_closed:
        return _answer_retry(call)
    selection = select_fields(preparation.enabled_fields, new_request)
    if selection is None:
        return views.show_nothing(environment, new_request, references.level)
    with limiter().use_quota(QuotaName.QUESTIONS, environment.id):
        request = creation.store(call, selection, preparation.customer_id)
    if request is not None:
        return views.show(request, environment.product_name)
    limiter().return_quota(QuotaName.QUESTIONS, environment.id)
    # Another call of the same interaction was first, and is committed by now.
    return _answer_retry(call)


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


def _answer_retry(call: RequestContext) -> RequestView:
    """Return the stored request to a retry, or raise if it has expired or was another one."""
    request = FIND_REQUEST_OF_INTERACTION.first(environment_id=call.environment.id, interaction_id=call.interaction_id)
    # What has expired leaves the table at some time, and its interaction is closed.
    if request is None or request.expires_at <= clock.now():
        raise RequestExpired
    fingerprint = bytes(request.fingerprint)
    names = [REPEATED_MEMBERS[position] for position in differing_positions(fingerprint, call.fingerprints)]
    if names:
        sentence = "This differs from the interaction's first request."
        raise RequestChanged(problems=[Problem(f"/{camel(name)}", "changed", sentence) for name in names])
    return views.show(request, call.environment.product_name)
