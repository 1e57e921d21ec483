"""`flask webhook`: endpoints of webhooks, and the log of their deliveries."""

import uuid

import click

from app.cli.output import Row, command
from app.events.rules import EventType
from app.products.service import get_environment
from app.webhooks import log, service
from app.webhooks.models import WebhookDelivery, WebhookEndpoint
from app.webhooks.rules import DEFAULT_OVERLAP_HOURS, MAX_OVERLAP_HOURS, DeliveryState
from app.webhooks.service import NewSecret
from app.webhooks.signing import message_name

group = click.Group("webhook")


@command(group, "create")
@click.option("--environment", "environment_id", type=click.UUID, required=True)
@click.option("--url", required=True, help="Where webhooks are sent, by https.")
@click.option(
    "--event",
    "event_types",
    type=click.Choice([str(event_type) for event_type in EventType]),
    multiple=True,
    required=True,
    help="A type of event; repeat it for several.",
)
def create(environment_id: uuid.UUID, url: str, event_types: tuple[str, ...]) -> Row:
    """Create an endpoint. Its secret is printed once."""
    return _secret_row(service.create_endpoint(environment_id, url, [EventType(name) for name in event_types]))


@command(group, "list")
@click.option("--environment", "environment_id", type=click.UUID)
def list_endpoints(environment_id: uuid.UUID | None) -> list[Row]:
    """List endpoints, oldest first, and why one was disabled."""
    if environment_id:
        get_environment(environment_id)
    return [_endpoint_row(endpoint) for endpoint in service.list_endpoints(environment_id)]


@command(group, "rotate")
@click.argument("endpoint_id", type=click.UUID)
@click.option(
    "--overlap-hours",
    type=click.IntRange(0, MAX_OVERLAP_HOURS),
    default=DEFAULT_OVERLAP_HOURS,
    show_default=True,
    help="How many hours the old secret signs as well; 0 ends all older secrets at once.",
)
def rotate(endpoint_id: uuid.UUID, overlap_hours: int) -> Row:
    """Give an endpoint a new secret. It is printed once."""
    return _secret_row(service.rotate_secret(endpoint_id, overlap_hours))


@command(group, "enable")
@click.argument("endpoint_id", type=click.UUID)
def enable(endpoint_id: uuid.UUID) -> Row:
    """Enable an endpoint that was disabled after failures."""
    return _endpoint_row(service.enable_endpoint(endpoint_id))


@command(group, "remove")
@click.argument("endpoint_id", type=click.UUID)
def remove(endpoint_id: uuid.UUID) -> Row:
    """Remove an endpoint; what waits for it is not sent."""
    return _endpoint_row(service.remove_endpoint(endpoint_id))


@command(group, "deliveries")
@click.option("--environment", "environment_id", type=click.UUID, help="Of all endpoints of an environment.")
@click.option("--endpoint", "endpoint_id", type=click.UUID, help="Of one endpoint.")
@click.option("--state", type=click.Choice([str(state) for state in DeliveryState]))
@click.option("--limit", type=click.IntRange(1, log.MAX_LIMIT), default=log.DEFAULT_LIMIT, show_default=True)
def list_deliveries(
    environment_id: uuid.UUID | None, endpoint_id: uuid.UUID | None, state: str | None, limit: int
) -> list[Row]:
    """List deliveries of an environment or an endpoint, newest first."""
    if environment_id:
        get_environment(environment_id)
        if endpoint_id:
            service.check_endpoint(environment_id, endpoint_id)
    elif endpoint_id:
        environment_id = service.get_endpoint(endpoint_id).environment_id
    else:
        # The log of all environments has no index by time.
        raise click.UsageError("Name an environment by --environment, or an endpoint by --endpoint.")
    deliveries = log.list_deliveries(environment_id, endpoint_id, DeliveryState(state) if state else None, limit)
    enabled_ids = {endpoint.id for endpoint in service.list_endpoints(environment_id) if endpoint.disabled_at is None}
    return [_delivery_row(delivery, is_enabled=delivery.endpoint_id in enabled_ids) for delivery in deliveries]


@command(group, "replay")
@click.argument("delivery_id", type=click.UUID)
def replay(delivery_id: uuid.UUID) -> Row:
    """Send a delivery again at once, with the same webhook-id."""
    return _delivery_row(log.replay(delivery_id), is_enabled=True)


def _secret_row(new_secret: NewSecret) -> Row:
    return {**_endpoint_row(new_secret.endpoint), "secret": new_secret.secret}


def _endpoint_row(endpoint: WebhookEndpoint) -> Row:
    return {
        "endpointId": endpoint.id,
        "environmentId": endpoint.environment_id,
        "url": endpoint.url,
        "events": endpoint.event_types,
        "createdAt": endpoint.created_at,
        "oldSecretExpiresAt": endpoint.old_secret_expires_at,
        "failureCount": endpoint.failure_count,
        "failingSince": endpoint.failing_since,
        "disabledAt": endpoint.disabled_at,
        "disabledReason": endpoint.disabled_reason,
    }


def _delivery_row(delivery: WebhookDelivery, *, is_enabled: bool) -> Row:
    """Return a delivery; while its endpoint is disabled, or once it was removed, there is no next attempt."""
    return {
        "deliveryId": delivery.id,
        "environmentId": delivery.environment_id,
        "endpointId": delivery.endpoint_id,
        "webhookId": message_name(delivery.message_id),
        "type": delivery.type,
        "occurredAt": delivery.occurred_at,
        "createdAt": delivery.created_at,
        "state": delivery.state,
        "attempts": delivery.attempts,
        "attemptedAt": delivery.attempted_at,
        "nextAttemptAt": delivery.next_attempt_at if is_enabled else None,
        "statusCode": delivery.status_code,
        "durationMs": delivery.duration_ms,
        "error": delivery.error,
    }
