"""The scope of a page: the environment and the days that it shows, which stay while a reader moves around."""

import uuid
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import Any

from flask import g, request, url_for

from app.accounts.sessions import Login, OwnWorkspace, list_own_workspaces
from app.core import clock
from app.core.errors import NotFound
from app.dashboard.queries import ProductWithEnvironments, list_products
from app.products.models import Environment, Product

DAY_CHOICES = (1, 7, 14, 30, 90, 180, 365)
"""Up to the longest retention."""
DEFAULT_DAYS = 7
"""So few that the period before is there as well after a fortnight."""

ENVIRONMENT, DAYS = "environment", "days"
"""The parameters of every address of the dashboard."""

_SCOPE = "agent_feedback.scope"
_WORKSPACES = "agent_feedback.workspaces"


class NoSuchScope(NotFound):
    """The address names an environment that there is not."""

    sentence = "There is no such environment in this workspace."


@dataclass(frozen=True, slots=True)
class Scope:
    """What a page shows: an environment of the workspace of a login, over whole UTC days that end today."""

    login: Login
    products: list[ProductWithEnvironments]
    """Everything that can be chosen instead."""
    product: Product
    environment: Environment
    days: int

    @property
    def since(self) -> datetime:
        """The first instant that is shown; nothing that is older than the retention is."""
        today = clock.now().replace(hour=0, minute=0, second=0, microsecond=0)
        return max(today - timedelta(days=self.days - 1), self.kept_since)

    @property
    def kept_since(self) -> datetime:
        """The instant before which the environment keeps nothing, whatever days are chosen."""
        return clock.now() - timedelta(days=self.environment.retention_days)

    @property
    def first_on(self) -> date:
        """The first day that is shown."""
        return clock.now().date() - timedelta(days=self.days - 1)

    @property
    def first_at(self) -> datetime:
        """The first instant of the shown days, for what is kept whatever the retention of the environment is."""
        return datetime.combine(self.first_on, time.min, UTC)

    @property
    def last_on(self) -> date:
        """The last day that is shown: today."""
        return clock.now().date()


def find_scope(login: Login, *, is_lenient: bool = False) -> Scope | None:
    """Return the scope that the address names, by default the oldest environment; None if the workspace has none.

    Days that cannot be chosen are the default ones. An environment that there is not is an error, unless `is_lenient`.
    """
    products = list_products(login.workspace_id)
    choices = {
        str(environment.id): (entry.product, environment) for entry in products for environment in entry.environments
    }
    if not choices:
        return None
    chosen = request.args.get(ENVIRONMENT) or next(iter(choices))
    if chosen not in choices:
        if not is_lenient:
            raise NoSuchScope
        chosen = next(iter(choices))
    product, environment = choices[chosen]
    days = next((days for days in DAY_CHOICES if str(days) == request.args.get(DAYS)), DEFAULT_DAYS)
    return Scope(login, products, product, environment, days)


def current_scope() -> Scope | None:
    """Return the scope of the current request, None without a login or without an environment."""
    if _SCOPE not in request.environ:
        request.environ[_SCOPE] = find_scope(g.login) if "login" in g else None
    scope: Scope | None = request.environ[_SCOPE]
    return scope


def current_workspaces() -> list[OwnWorkspace]:
    """Return the workspaces that the user of the current request can switch between."""
    if _WORKSPACES not in request.environ:
        request.environ[_WORKSPACES] = list_own_workspaces(g.login.user_id) if "login" in g else []
    workspaces: list[OwnWorkspace] = request.environ[_WORKSPACES]
    return workspaces


def renew_scope() -> None:
    """Read the scope anew for the page of an error, in a transaction that follows the one that has ended."""
    forget_scope()
    if "login" in g:
        request.environ[_SCOPE] = find_scope(g.login, is_lenient=True)
        del request.environ[_WORKSPACES]


def forget_scope() -> None:
    """Show no scope in the rest of the current request, whose transaction has ended."""
    request.environ[_SCOPE], request.environ[_WORKSPACES] = None, []


def scoped_url(endpoint: str, **values: Any) -> str:
    """Return the address of a page within the current scope."""
    scope = current_scope()
    if scope is None:
        return url_for(endpoint, **values)
    parameters: dict[str, Any] = {ENVIRONMENT: scope.environment.id}
    if scope.days != DEFAULT_DAYS:
        parameters[DAYS] = scope.days
    return url_for(endpoint, **{**parameters, **values})


def environment_url(endpoint: str, environment_id: uuid.UUID, **values: Any) -> str:
    """Return the address of a page for another environment."""
    return scoped_url(endpoint, **{ENVIRONMENT: environment_id, **values})
