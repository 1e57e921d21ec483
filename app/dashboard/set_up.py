"""The set-up page: how a product is connected, and whether telemetry and reviews arrive."""

import uuid
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from flask import request

from app.core.settings import current_settings
from app.dashboard.delivery import delivery_variables
from app.dashboard.pages import Page, PageBlueprint
from app.dashboard.scope import Scope
from app.discovery import downloads
from app.interactions.queries import find_newest_telemetry_at
from app.outcomes.queries import find_newest_review_at
from app.products.queries import KeyItem, list_product_and_refused_keys
from app.products.rules import KeyKind, KeyState
from app.telemetry.queries import find_oldest_batch_at

FRAMEWORKS = {
    "flask": "Flask",
    "django": "Django",
    "fastapi": "FastAPI",
    "mcp": "MCP server",
    "express": "Express",
    "curl": "Other (curl)",
}
NODE_FRAMEWORKS = ("express",)
DEFAULT_FRAMEWORK = "flask"

MAX_KEYS = 20
"""So many of the newest product keys, and of the keys that were refused last, the check looks at."""

STOP_POLLING = 286
"""The status by which htmx asks no more."""

set_up = PageBlueprint("set_up", has_scope=True)


@dataclass(frozen=True, slots=True)
class Check:
    """What has arrived from the product of an environment so far."""

    keys: list[KeyItem]
    """The newest product keys, and the keys of any kind that were refused last."""
    telemetry_at: datetime | None
    waiting_since: datetime | None
    """Since when a batch waits for the job that stores its events."""
    review_at: datetime | None

    @property
    def usable_keys(self) -> list[KeyItem]:
        """The product keys that are accepted."""
        return [key for key in self._product_keys if key.state in (KeyState.ACTIVE, KeyState.EXPIRING)]

    @property
    def last_used_at(self) -> datetime | None:
        """When a product key was last accepted."""
        return max((key.last_used_at for key in self._product_keys if key.last_used_at), default=None)

    @property
    def refused_keys(self) -> list[KeyItem]:
        """Keys of any kind that were refused since they, or a product key, were last accepted."""
        return [key for key in self.keys if key.refused_at and not self._is_settled(key, key.refused_at)]

    @property
    def is_complete(self) -> bool:
        """Whether telemetry and a review have arrived."""
        return self.telemetry_at is not None and self.review_at is not None

    @property
    def _product_keys(self) -> list[KeyItem]:
        return [key for key in self.keys if key.kind == KeyKind.PRODUCT]

    def _is_settled(self, key: KeyItem, refused_at: datetime) -> bool:
        """Tell whether the key, or any product key, was accepted since."""
        return any(used_at >= refused_at for used_at in (self.last_used_at, key.last_used_at) if used_at)


@set_up.page("", "set_up/page.html")
def show_guide(scope: Scope) -> Page:
    """Show how the product is connected, for one framework."""
    name = request.args.get("framework", DEFAULT_FRAMEWORK)
    framework = name if name in FRAMEWORKS else DEFAULT_FRAMEWORK
    settings = current_settings()
    variables = {
        "frameworks": FRAMEWORKS,
        "framework": framework,
        "endpoint": settings.feedback_url,
        "install_command": _install_command(framework, settings.feedback_url),
        "mode": scope.environment.mode,
        "interaction_id": uuid.uuid4(),
    }
    return Page({**variables, **_check(scope.environment.id), **delivery_variables(scope)})


def _install_command(framework: str, endpoint: str) -> str:
    """Return the command that installs the SDK for a framework."""
    if framework in NODE_FRAMEWORKS:
        return f"npm install {endpoint}{downloads.paths()['node']}"
    return f"pip install {endpoint}{downloads.paths()['python']}"


@set_up.page("/check", "set_up/check.html")
def show_check(scope: Scope) -> Page:
    """Show the check alone, which htmx puts in the place of the old one until it is complete."""
    variables = _check(scope.environment.id)
    return Page(variables, STOP_POLLING if variables["check"].is_complete else 200)


def _check(environment_id: uuid.UUID) -> dict[str, Any]:
    check = Check(
        list_product_and_refused_keys(environment_id, MAX_KEYS),
        find_newest_telemetry_at(environment_id),
        find_oldest_batch_at(environment_id),
        find_newest_review_at(environment_id),
    )
    return {"check": check, "endpoint": current_settings().feedback_url}
