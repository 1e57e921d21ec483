"""Requests as agents and companies see them: the next action that is allowed now, and nothing else."""

import threading
import uuid
from dataclasses import dataclass
from datetime import datetime
from operator import attrgetter
from typing import Any

import orjson
from cachetools import LRUCache, cached

from app.catalog.entries import PRODUCT_VERSION, Catalog, Entry, hash_entries
from app.catalog.schemas import CatalogEntrySchema
from app.core import protocol
from app.core.pepper import current_pepper
from app.core.purposes import Purpose
from app.core.settings import current_settings
from app.core.wire.encoder import list_encoder
from app.customers.rules import CHOICES, Level
from app.enrichment.models import EnrichmentRequest
from app.enrichment.queries import StoredRequest
from app.enrichment.rules import MAX_ITEMS, PROVENANCES, STATUSES, State, is_usable
from app.enrichment.schemas import NewRequest
from app.products.key_cache import CallerEnvironment
from app.tokens import handle

_TEXTS = protocol.read("instructions.json")["context"]

ANSWERS = "/api/v2/enrichment/answers"
CHOICE = "/api/v2/enrichment/consent/decisions"

MAX_CACHED_CATALOGS = 256
"""Of a process; each is kept under the hash of its content, so it is never out of date."""

AnyRequest = EnrichmentRequest | StoredRequest

REQUIRED = ("key", "type", "value", "provenance")


@dataclass(frozen=True, slots=True)
class RequestView:
    """A request as its caller sees it."""

    request_id: uuid.UUID | None
    interaction_id: uuid.UUID
    state: State
    purpose: str
    surface: str
    identity_level: str
    stage_instruction: str
    answer_instruction: str | None
    expires_at: datetime | None
    constraints: dict[str, Any]
    consent: dict[str, Any] | None
    submit: dict[str, Any] | None
    question: str | None = None


@dataclass(frozen=True, slots=True)
class ChoiceView:
    """A request after a choice."""

    request_id: uuid.UUID
    state: State
    changed: bool
    stage_instruction: str
    answer_instruction: str | None
    submit: dict[str, Any] | None


def _texts(request: AnyRequest) -> dict[str, str]:
    """Return the instructions of a request's state; those of an open request name its purpose."""
    is_open = request.state == State.ANSWER_READY
    texts: dict[str, str] = _TEXTS[request.state][request.purpose] if is_open else _TEXTS[request.state]
    return texts


def show(request: StoredRequest, product_name: str) -> RequestView:
    """Show a request in its current state."""
    texts = _texts(request)
    return RequestView(
        request_id=request.id,
        interaction_id=request.interaction_id,
        state=State(request.state),
        purpose=request.purpose,
        surface=request.surface,
        identity_level=request.identity_level,
        stage_instruction=texts["stage"],
        answer_instruction=texts["answer"],
        expires_at=request.expires_at,
        constraints=_constraints(request, product_name),
        consent={**_action(CHOICE, request), "bodySchema": {"decision": list(CHOICES)}},
        submit=submit(request),
    )


def show_nothing(environment: CallerEnvironment, new_request: NewRequest, level: Level) -> RequestView:
    """Show that the operation has no field to ask for; nothing was stored."""
    texts = _TEXTS[State.NO_RELEVANT_CONTEXT]
    return RequestView(
        request_id=None,
        interaction_id=uuid.UUID(new_request.interaction_id),
        state=State.NO_RELEVANT_CONTEXT,
        purpose=new_request.purpose,
        surface=new_request.surface,
        identity_level=level,
        stage_instruction=texts["stage"],
        answer_instruction=texts["answer"],
        expires_at=None,
        constraints=_constraints_of_nothing(environment, new_request),
        consent=None,
        submit=None,
    )


def show_choice(request: EnrichmentRequest, *, changed: bool) -> ChoiceView:
    """Show a request after a choice."""
    texts = _texts(request)
    return ChoiceView(request.id, State(request.state), changed, texts["stage"], texts["answer"], submit(request))


def submit(request: AnyRequest) -> dict[str, Any] | None:
    """Return the action that answers a request, or None unless it is open."""
    if request.state != State.ANSWER_READY:
        return None
    catalog = _encode_catalog(request)
    types = sorted({entry["type"] for entry in request.catalog})
    return {**_action(ANSWERS, request), "bodySchema": _answer_body(catalog, types, request.catalog_version)}


def preview(catalog: Catalog, operation: str, purpose: str) -> dict[str, Any]:
    """Return what an agent is shown of a catalog when a request is open: its texts, and the body of its answer."""
    texts = _TEXTS[State.ANSWER_READY][purpose]
    entries = usable_entries(catalog, operation, purpose)
    if not entries:
        return {"stageInstruction": _TEXTS[State.NO_RELEVANT_CONTEXT]["stage"], "answerInstruction": None}
    types = sorted({entry.type for entry in entries})
    return {
        "stageInstruction": texts["stage"],
        "answerInstruction": texts["answer"],
        "catalog": {"version": catalog.version, "hash": hash_entries(entries)},
        "bodySchema": _answer_body([entry.as_wire() for entry in entries], types, catalog.version),
    }


def usable_entries(catalog: Catalog, operation: str, purpose: str) -> list[Entry]:
    """Return the fields of a catalog that may be asked for in an operation, for a purpose."""
    return [
        entry
        for entry in catalog.entries
        if entry.is_bound_to(operation) and is_usable(entry.targeted_advertising_safe, purpose)
    ]


def _answer_body(catalog: Any, types: list[str], catalog_version: str) -> dict[str, Any]:
    items = {
        "maximum": MAX_ITEMS,
        "required": list(REQUIRED),
        "type": types,
        "provenance": list(PROVENANCES),
        "catalogVersion": catalog_version,
        "catalog": catalog,
    }
    return {"status": list(STATUSES), "items": items, "catalog": catalog}


_encode_entries = list_encoder(CatalogEntrySchema())


@cached(LRUCache(MAX_CACHED_CATALOGS), key=attrgetter("catalog_hash"), lock=threading.Lock())
def _encode_catalog(request: AnyRequest) -> orjson.Fragment:
    """Return the catalog of a request as JSON; it is in a body twice, and the same in the requests of a product."""
    return _encode_entries(request.catalog)


def _action(path: str, request: AnyRequest) -> dict[str, Any]:
    settings = current_settings()
    token = handle.mint(request.id, current_pepper().derive(Purpose.REQUEST_HANDLE))
    return {
        "url": settings.app_url + path,
        "method": "POST",
        "authorization": f"Bearer {token}",
        "contentType": "application/json",
    }


def _constraints(request: StoredRequest, product_name: str) -> dict[str, Any]:
    return {
        "handlerOwner": product_name,
        "purpose": request.purpose,
        "catalog": {"version": request.catalog_version, "hash": request.catalog_hash},
        "allowedFields": [entry["key"] for entry in request.catalog],
        "retention": {
            "rememberAllowed": request.customer_id is not None,
            "rememberSelected": request.remember,
            "rememberedMaxDays": request.retention_days,
            "unrememberedExpiresAt": request.expires_at,
        },
    }


def _constraints_of_nothing(environment: CallerEnvironment, new_request: NewRequest) -> dict[str, Any]:
    return {
        "handlerOwner": environment.product_name,
        "purpose": new_request.purpose,
        "catalog": {"version": PRODUCT_VERSION, "hash": hash_entries([])},
        "allowedFields": [],
        "retention": {
            "rememberAllowed": False,
            "rememberSelected": False,
            "rememberedMaxDays": 0,
            "unrememberedExpiresAt": None,
        },
    }
