"""The service itself, as the journeys of the repository start it, with an environment in each mode."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from app import create_app
from app.core.database import transaction
from app.products import service as products
from app.products.rules import KeyKind, Mode
from config.settings import Settings
from tests.factories import create_company
from tests.journeys.stack import Stack, running_stack


class Environment(NamedTuple):
    """One environment of the company, with its keys."""

    url: str
    environment_id: str
    api_key: str
    company_key: str

    @property
    def options(self) -> dict[str, Any]:
        """The options of a product in this environment; generous in time, since the machine may be busy."""
        return {
            "apiKey": self.api_key,
            "companyKey": self.company_key,
            "endpoint": self.url,
            "contextTimeout": 10_000,
            "flushInterval": 50,
        }


class RealService(NamedTuple):
    """The running service, and an environment in each mode."""

    stack: Stack
    environments: dict[str, Environment]

    def classification(self, environment: Environment, interaction_id: str) -> str | None:
        """Return how the service classifies an interaction, None if it does not know it."""
        rows = self.stack.query(
            "SELECT classification, operation FROM interactions WHERE environment_id = %s AND id = %s",
            environment.environment_id,
            interaction_id,
        )
        return f"{rows[0][0]} {rows[0][1]}" if rows else None


@contextmanager
def running_service(folder: Path) -> Iterator[RealService]:
    """Run the service while the block runs."""
    with running_stack(folder, sweep_interval_s=2) as stack:
        yield RealService(stack, _create_environments(stack))


def _create_environments(stack: Stack) -> dict[str, Environment]:
    app = create_app(Settings.from_env(stack.environ), serves_http=False)
    with app.app_context(), transaction():
        company = create_company()
        environments = {str(mode): _create_environment(stack.url, company.product_id, mode) for mode in Mode}
    app.extensions["database"].dispose()
    return environments


def _create_environment(url: str, product_id: Any, mode: Mode) -> Environment:
    environment = products.create_environment(product_id, str(mode))
    products.set_environment(environment.id, mode=mode)
    keys = [products.create_key(environment.id, kind).text for kind in (KeyKind.PRODUCT, KeyKind.COMPANY)]
    return Environment(url, str(environment.id), *keys)
