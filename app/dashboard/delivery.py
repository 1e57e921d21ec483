"""What arrives from a product and what is sent on, for the set-up page: the delivery ledger, and webhooks."""

from dataclasses import dataclass
from typing import Any

from app.dashboard.days import shown_days
from app.dashboard.figures import thousands
from app.dashboard.scope import Scope
from app.ledger.queries import sum_by_source
from app.webhooks.addresses import read_host
from app.webhooks.log import NewestDelivery, list_newest_deliveries
from app.webhooks.models import WebhookEndpoint
from app.webhooks.service import list_endpoints


@dataclass(frozen=True, slots=True)
class EndpointRow:
    """A webhook endpoint, and the newest delivery to it."""

    endpoint: WebhookEndpoint
    delivery: NewestDelivery | None

    @property
    def host(self) -> str:
        """The part of its URL that is no secret of the receiver."""
        return host_of(self.endpoint)


def host_of(endpoint: WebhookEndpoint) -> str:
    """Return the host of an endpoint's URL, whose rest may be a secret of the receiver."""
    return read_host(endpoint.url)


def counts_text(counts: dict[str, int]) -> str:
    """Return counts by name as a page shows them: `7 validation_failed, 2 not_found`."""
    return ", ".join(f"{thousands(count)} {name}" for name, count in counts.items())


def delivery_variables(scope: Scope) -> dict[str, Any]:
    """Return the variables of `set_up/delivery.html`."""
    deliveries = list_newest_deliveries(scope.environment.id)
    return {
        "ledger": sum_by_source(scope.environment.id, shown_days(scope).first_on),
        "endpoints": [
            EndpointRow(endpoint, deliveries.get(endpoint.id)) for endpoint in list_endpoints(scope.environment.id)
        ],
        "counts_text": counts_text,
    }
