"""Create, list, change and remove endpoints of webhooks."""

import uuid
from collections.abc import Collection
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy import delete, func, select, text, update

from app.accounts.service import COMMAND_LINE_ACTOR, record_audit_entry
from app.core import clock
from app.core.database import session
from app.core.errors import Conflict, NotFound, Unprocessable
from app.core.settings import current_settings
from app.events import service as events
from app.events.rules import EventType
from app.products import service as products
from app.webhooks.addresses import AddressError, BadUrl, read_host, read_url, resolve
from app.webhooks.models import WebhookEndpoint
from app.webhooks.rules import MAX_ENDPOINTS, MAX_OVERLAP_HOURS, DisabledReason
from app.webhooks.signing import create_secret, secret_seal

MAX_LIST_LENGTH = 1_000

_LOCK = text("SELECT pg_advisory_xact_lock(hashtext('webhook endpoints'), hashtext(CAST(:environment_id AS text)))")


@dataclass(frozen=True, slots=True)
class NewSecret:
    """An endpoint with its new secret, which is returned here and never again."""

    endpoint: WebhookEndpoint
    secret: str


def create_endpoint(
    environment_id: uuid.UUID, url: str, event_types: Collection[EventType], actor: str = COMMAND_LINE_ACTOR
) -> NewSecret:
    """Add an endpoint to an environment."""
    products.get_environment(environment_id)
    _check_url(url)
    if not event_types:
        raise Unprocessable("An endpoint takes at least one type of event.")
    _lock(environment_id)
    endpoint_count = select(func.count()).where(WebhookEndpoint.environment_id == environment_id)
    if (session().scalar(endpoint_count) or 0) >= MAX_ENDPOINTS:
        raise Conflict(f"An environment has at most {MAX_ENDPOINTS} webhook endpoints; remove one first.")
    secret = create_secret()
    endpoint = WebhookEndpoint(
        environment_id=environment_id,
        id=uuid.uuid4(),
        url=url,
        event_types=sorted({str(event_type) for event_type in event_types}),
        sealed_secret=secret_seal().encrypt(secret.encode()),
        created_at=clock.now(),
        failure_count=0,
    )
    session().add(endpoint)
    _record(endpoint, actor, "webhook.created", events=endpoint.event_types)
    _subscribe(environment_id)
    return NewSecret(endpoint, secret)


def list_endpoints(environment_id: uuid.UUID | None = None) -> list[WebhookEndpoint]:
    """Return the endpoints of an environment, or of all, oldest first."""
    statement = select(WebhookEndpoint).order_by(WebhookEndpoint.created_at, WebhookEndpoint.id).limit(MAX_LIST_LENGTH)
    if environment_id is not None:
        statement = statement.where(WebhookEndpoint.environment_id == environment_id)
    return list(session().scalars(statement))


def get_endpoint(endpoint_id: uuid.UUID) -> WebhookEndpoint:
    """Return an endpoint."""
    endpoint = session().scalars(select(WebhookEndpoint).where(WebhookEndpoint.id == endpoint_id)).one_or_none()
    if endpoint is None:
        raise NotFound("There is no webhook endpoint with this id.")
    return endpoint


def check_endpoint(environment_id: uuid.UUID, endpoint_id: uuid.UUID) -> None:
    """Refuse an endpoint that the environment does not have."""
    if session().get(WebhookEndpoint, (environment_id, endpoint_id)) is None:
        raise NotFound("This environment has no webhook endpoint with this id.")


def rotate_secret(endpoint_id: uuid.UUID, overlap_hours: int, actor: str = COMMAND_LINE_ACTOR) -> NewSecret:
    """Give an endpoint a new secret; the old one signs as well until the overlap has passed.

    Two secrets sign at most, so until then another rotation is refused, except without an overlap: it ends all older
    secrets at once.
    """
    if not 0 <= overlap_hours <= MAX_OVERLAP_HOURS:
        raise Unprocessable(f"The overlap takes 0 to {MAX_OVERLAP_HOURS} hours.")
    endpoint, now = _get_locked(endpoint_id), clock.now()
    secret = create_secret()
    if overlap_hours:
        _check_overlap(endpoint, now)
        endpoint.sealed_old_secret = endpoint.sealed_secret
        endpoint.old_secret_expires_at = now + timedelta(hours=overlap_hours)
    else:
        endpoint.sealed_old_secret = endpoint.old_secret_expires_at = None
    endpoint.sealed_secret = secret_seal().encrypt(secret.encode())
    _record(endpoint, actor, "webhook.rotated", overlapHours=overlap_hours)
    session().flush()
    return NewSecret(endpoint, secret)


def _check_overlap(endpoint: WebhookEndpoint, now: datetime) -> None:
    """Refuse an overlap while the one before it lasts: it was announced, and a receiver may rely on it."""
    ends_at = endpoint.old_secret_expires_at
    if ends_at is not None and ends_at > now:
        raise Conflict(
            "This endpoint's secret was rotated already, and the old one signs until "
            f"{ends_at.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}. Rotate again after that, or now with an overlap of "
            "0 hours, which ends all older secrets at once."
        )


def enable_endpoint(endpoint_id: uuid.UUID, actor: str = COMMAND_LINE_ACTOR) -> WebhookEndpoint:
    """Enable an endpoint that was disabled; what still waits for it is sent."""
    endpoint = _get_locked(endpoint_id)
    if endpoint.disabled_at is not None:
        endpoint.disabled_at = endpoint.disabled_reason = endpoint.failing_since = None
        endpoint.failure_count = 0
        _record(endpoint, actor, "webhook.enabled")
        _subscribe(endpoint.environment_id)
    return endpoint


def remove_endpoint(endpoint_id: uuid.UUID, actor: str = COMMAND_LINE_ACTOR) -> WebhookEndpoint:
    """Remove an endpoint with its secrets; what waits for it is not sent any more."""
    endpoint = _get_locked(endpoint_id)
    statement = delete(WebhookEndpoint).where(
        WebhookEndpoint.environment_id == endpoint.environment_id, WebhookEndpoint.id == endpoint_id
    )
    session().execute(statement, execution_options={"synchronize_session": False})
    _record(endpoint, actor, "webhook.removed")
    _subscribe(endpoint.environment_id)
    return endpoint


def disable_endpoint(environment_id: uuid.UUID, endpoint_id: uuid.UUID, reason: DisabledReason) -> bool:
    """Disable an endpoint, with a notice in the audit log; tells whether it was enabled."""
    _lock(environment_id)
    statement = (
        update(WebhookEndpoint)
        .where(
            WebhookEndpoint.environment_id == environment_id,
            WebhookEndpoint.id == endpoint_id,
            WebhookEndpoint.disabled_at.is_(None),
        )
        .values(disabled_at=clock.now(), disabled_reason=str(reason))
        .returning(WebhookEndpoint)
    )
    endpoint = session().scalars(statement).one_or_none()
    if endpoint is None:
        return False
    _record(endpoint, "delivery of webhooks", "webhook.disabled", reason=str(reason))
    _subscribe(environment_id)
    return True


def forget_old_secrets() -> None:
    """Remove the secrets whose overlap has passed."""
    statement = (
        update(WebhookEndpoint)
        .where(WebhookEndpoint.old_secret_expires_at <= clock.now())
        .values(sealed_old_secret=None, old_secret_expires_at=None)
    )
    session().execute(statement, execution_options={"synchronize_session": False})


def _check_url(url: str) -> None:
    """Refuse a URL that no webhook would be sent to; a host that cannot be resolved here and now is accepted."""
    allows_private = current_settings().webhooks_allow_private
    target = read_url(url, allows_private=allows_private)
    try:
        resolve(target, allows_private=allows_private)
    except AddressError as error:
        if str(error) == "address_refused":
            raise BadUrl("The host has an address that is not on the public internet.") from None


def _lock(environment_id: uuid.UUID) -> None:
    """Lock the endpoints of an environment against other changes: its subscriptions are made of all of them."""
    session().execute(_LOCK, {"environment_id": environment_id})


def _get_locked(endpoint_id: uuid.UUID) -> WebhookEndpoint:
    endpoint = get_endpoint(endpoint_id)
    _lock(endpoint.environment_id)
    session().refresh(endpoint, with_for_update=True)
    return endpoint


def _subscribe(environment_id: uuid.UUID) -> None:
    """Queue from now on what the enabled endpoints of an environment take."""
    session().flush()
    enabled_endpoints = select(WebhookEndpoint.event_types).where(
        WebhookEndpoint.environment_id == environment_id, WebhookEndpoint.disabled_at.is_(None)
    )
    types = {EventType(name) for names in session().scalars(enabled_endpoints) for name in names}
    events.subscribe(environment_id, types)


def _record(endpoint: WebhookEndpoint, actor: str, action: str, **details: Any) -> None:
    """Write an audit entry; of the URL it has only the host, since the rest may be a secret of the receiver."""
    product = products.get_product(products.get_environment(endpoint.environment_id).product_id)
    host = read_host(endpoint.url)
    record_audit_entry(
        product.workspace_id,
        actor,
        action,
        str(endpoint.id),
        environment=str(endpoint.environment_id),
        host=host,
        **details,
    )
