"""Endpoints, and what happens to make webhooks of."""

from datetime import datetime
from typing import Any

from sqlalchemy import select

from app.core.database import Base, session, transaction
from app.events.rules import EventType
from app.interactions import service as interactions
from app.webhooks import service
from app.webhooks.models import WebhookDelivery, WebhookEndpoint
from tests.factories import Company

PUBLIC_URL = "https://93.184.215.14/hook"


def create_endpoint(company: Company, url: str = PUBLIC_URL, *types: EventType) -> service.NewSecret:
    """Create an endpoint for these types of events, or for all."""
    with transaction():
        return service.create_endpoint(company.environment_id, url, types or list(EventType))


def get_endpoint() -> WebhookEndpoint:
    with transaction():
        return session().scalars(select(WebhookEndpoint)).one()


def list_rows(table: type[Base], *columns: str) -> list[Any]:
    """Return the columns of every row, in order."""
    attributes = [getattr(table, column) for column in columns]
    with transaction():
        return sorted(map(tuple, session().execute(select(*attributes))), key=str)


def deliveries(*columns: str) -> list[Any]:
    return list_rows(WebhookDelivery, *columns)


def next_attempt_at() -> datetime:
    ((instant,),) = deliveries("next_attempt_at")
    return instant  # type: ignore[no-any-return]  # the column of the row


def promote() -> None:
    interactions.promote_queued_interactions()
